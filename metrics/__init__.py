"""From verdicts to estimates with intervals, and the pages that show them."""
