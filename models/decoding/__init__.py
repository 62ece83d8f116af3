"""Writing answers token by token, within a grammar where one is asked for."""
