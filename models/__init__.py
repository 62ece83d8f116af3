"""Reference Transformers: the only layer that imports PyTorch."""
