"""Formats of predictions: `metrics/readers/NAME.py` reads the format NAME."""
