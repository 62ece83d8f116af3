"""Random formulas: as Spot's randltl draws them, and exactly uniform ones."""
