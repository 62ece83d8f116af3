"""One file an embedding method; the file's name is the method's name."""
