"""The command that says what there is."""

import click

from symshift.data.catalogue import catalogue
from symshift.data.console import CONTEXT, common, show


@click.command(name="list", context_settings=CONTEXT)
@click.argument("what", metavar="tasks|methods|presets|experiments")
@common
def list_command(what: str, as_json: bool) -> None:
    """List what there is, a line each.

    Example: symshift list methods
    """
    entries = catalogue(what)
    width = max(map(len, entries), default=0)
    lines = (f"{name:{width}}  {summary}" for name, summary in entries.items())
    show(entries, as_json, "\n".join(lines))


COMMANDS = (list_command,)
