"""Schemes of positions, one file each: the file's name is the scheme's name."""
