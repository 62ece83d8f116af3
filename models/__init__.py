"""Reference Transformers: the only layer that imports PyTorch.

`symshift.models.training.train` and `symshift.models.prediction.predict` are the ways in.
"""
