"""The lowest layer: the records that flow through symshift, and the files that ship with it."""
