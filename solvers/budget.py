"""Work that is counted, not timed: the same limit on every machine."""


class BudgetExceeded(Exception):  # noqa: N818 - it is an outcome, not an error
    """A decision would need more work than its budget allows."""


class Budget:
    """A number of steps that a decision may take.

    Args:
        max_steps: The number, inclusive.
    """

    __slots__ = ("_left", "_max_steps")

    def __init__(self, max_steps: int) -> None:
        self._max_steps = self._left = max_steps

    def spend(self, num_steps: int = 1) -> None:
        """Take steps.

        Raises:
            BudgetExceeded: If fewer were left.
        """
        self._left -= num_steps
        if self._left < 0:
            raise BudgetExceeded(f"more than {self._max_steps} steps")
