"""An experiment of a few seconds, with two systems."""

TINY = """
summary = "a tiny one"

[data.train]
task = "copy"
train = 60
validation = 10
symbols = 3
size = "2-5"

[data.test]
task = "copy"
test = 12
symbols = 3
size = "2-5"
regime = "seen"
title = "Trained names"

[data.other]
rename = "test"
into = "3-5"
title = "Other names"

[train.copying]
data = "train"
tests = ["test", "other"]
table_seeds = [0, 1]
set = { steps = 4, batch_size = 8, width = 16, num_heads = 2, ff_width = 16 }
systems = { learned = { vocabulary = 6 }, interchangeable = { symbol_dim = 8 } }
"""

TINY_SYSTEMS = ("learned", "interchangeable")
