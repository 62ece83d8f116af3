"""The command line: the commands of all layers under one name.

A command parses, calls one function and prints; it stands with the layer whose function it calls.
"""

import os
import shlex
import signal
import sys
from types import FrameType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import click


def program() -> "click.Group":
    """Return the whole program; importing this module alone costs next to nothing."""
    import click

    from symshift import __version__
    from symshift.data import commands as data
    from symshift.data import console
    from symshift.generators import commands as generators
    from symshift.metrics import commands as metrics
    from symshift.models import commands as models

    @click.group(cls=console.Group, context_settings=console.CONTEXT)
    @click.version_option(__version__, prog_name="symshift")
    def cli() -> None:
        """Does a model reason over symbols, or over the names it was trained on?

        Generates checked data, trains reference models, scores predictions, publishes leaderboards.

        Example: symshift run smoke runs/smoke
        """

    for command in (*generators.COMMANDS, *metrics.COMMANDS, *models.COMMANDS, *data.COMMANDS):
        cli.add_command(command)
    return cli


def __getattr__(name: str) -> Any:
    """Build the program when `cli` is first asked for."""
    if name == "cli":
        return program()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def main() -> None:
    """Run the command line and exit with the contract's codes: 0, 1, 2 or 130."""
    hears_ctrl_c = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if hears_ctrl_c:
        signal.signal(signal.SIGINT, _leave)
    cli = program()
    from symshift.data import console

    if hears_ctrl_c:
        signal.signal(signal.SIGINT, _interrupt)
    code = console.run(cli, sys.argv[1:])
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # too late: what was asked for is done
    sys.exit(code)


def _interrupt(number: int, frame: FrameType | None) -> None:
    """Raise KeyboardInterrupt; but an import may swallow that, and then ends at once."""
    at = frame
    while at is not None:
        if at.f_code.co_filename.startswith("<frozen importlib"):
            _leave(number, frame)
        at = at.f_back
    signal.default_int_handler(number, frame)


def _leave(number: int, frame: FrameType | None) -> None:
    """End at once on Ctrl-C, while nothing is under way that a run killed here would lose."""
    again = shlex.join(["symshift", *sys.argv[1:]])
    os.write(2, os.fsencode(f"interrupted; to go on where it stopped: {again}\n"))
    os._exit(128 + number)


if __name__ == "__main__":
    main()
