"""One file a task: its generator, solver, vocabulary and notation."""
