"""Other people's data: audited, imported and exported."""
