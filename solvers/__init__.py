"""Ground truth: solvers, independent checkers, and the worker pool that survives them."""
