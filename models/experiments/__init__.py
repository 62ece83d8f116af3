"""Experiments: data, training, answers, scores and page in one go."""
