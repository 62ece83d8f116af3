"""The command line: the commands of all layers under one name.

A command parses, calls one function and prints; it stands with the layer whose function it calls.
"""

import sys

import click

from symshift import __version__
from symshift.data import commands as data
from symshift.data import console
from symshift.data.console import CONTEXT
from symshift.generators import commands as generators
from symshift.metrics import commands as metrics
from symshift.models import commands as models


@click.group(cls=console.Group, context_settings=CONTEXT)
@click.version_option(__version__, prog_name="symshift")
def cli() -> None:
    """Does a model reason over symbols, or over the names it was trained on?

    Generates checked data, trains reference models, scores predictions, publishes leaderboards.

    Example: symshift run smoke runs/smoke
    """


for _command in (*generators.COMMANDS, *metrics.COMMANDS, *models.COMMANDS, *data.COMMANDS):
    cli.add_command(_command)


def main() -> None:
    """Run the command line and exit with the contract's codes: 0, 1, 2 or 130."""
    sys.exit(console.run(cli, sys.argv[1:]))


if __name__ == "__main__":
    main()
