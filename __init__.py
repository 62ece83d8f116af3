"""symshift: does a model reason over symbols, or over the names it was trained on?"""

__version__ = "0.1.0"
