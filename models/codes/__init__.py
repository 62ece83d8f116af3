"""Codes that tables are made of: fixed, drawn or put together."""
