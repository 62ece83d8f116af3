"""The bodies of the reference models, and what they are built of."""
