"""Training a reference model, and what is left on disk."""
