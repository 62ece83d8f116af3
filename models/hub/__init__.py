"""Answers of Hugging Face's language models."""
