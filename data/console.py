"""How the command line behaves: nearest names, options from dataclasses, one-line errors.

What the commands do is in cli.py.
"""

import dataclasses
import json
import shlex
import sys
import traceback
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click
from click.core import ParameterSource

from symshift.data.errors import SymshiftError, UsageError, unknown_name
from symshift.data.options import Range
from symshift.data.terminal import printable, printable_json
from symshift.data.vocabulary import Window

F = TypeVar("F", bound=Callable[..., Any])

CONTEXT = {"help_option_names": ["-h", "--help"], "show_default": True, "max_content_width": 100}
INTERRUPTED = 130
_REPORTED = (
    SymshiftError,
    click.ClickException,
    OSError,
    ModuleNotFoundError,
    UnicodeEncodeError,
    UnicodeDecodeError,
)
_EXTRAS = {"ray": "ray", "safetensors": "train", "torch": "train", "transformers": "hub"}


class Parsed(click.ParamType[Any]):
    """A parameter written A-B, whose own type reads it and refuses a wrong one."""

    name = "A-B"

    def __init__(self, kind: type[Range] | type[Window]) -> None:
        self._kind = kind

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the value that a text states."""
        return value if isinstance(value, self._kind) else self._kind.parse(value)


class Group(click.Group):
    """A group that offers the nearest name for one that it does not know."""

    kind = "command"

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command of a name, or say which is nearest."""
        if args and args[0] not in (names := self.list_commands(ctx)):
            raise unknown_name(self.kind, args[0], names)
        return super().resolve_command(ctx, args)


def path_type() -> click.Path:
    """Return the type of a parameter that is a path."""
    return click.Path(path_type=Path)


def common(function: F) -> F:
    """Add the flags that every command has: --json and --debug."""
    as_json = click.option("--json", "as_json", is_flag=True, help="machine output on stdout")
    debug = click.option(
        "--debug", is_flag=True, expose_value=False, help="show the traceback of an error"
    )
    return debug(as_json(function))


def show(value: Any, as_json: bool, text: str) -> None:
    """Print a value as JSON, or its text to read; no line of either can steer a terminal."""
    if as_json:
        click.echo(printable_json(json.dumps(value, sort_keys=True, ensure_ascii=False)))
    else:
        click.echo("\n".join(map(printable, text.split("\n"))))


def typed() -> str:
    """Return the command line that was typed, to be stored with what it makes."""
    return shlex.join(["symshift", *sys.argv[1:]])


def typed_only(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of the current command that the user typed, without defaults."""
    source = click.get_current_context().get_parameter_source
    typed_sources = (ParameterSource.COMMANDLINE, ParameterSource.ENVIRONMENT)
    return {name: value for name, value in values.items() if source(name) in typed_sources}


def settings_of(pairs: Sequence[str]) -> dict[str, str]:
    """Return the mapping that texts `key=value` state.

    Raises:
        UsageError: If one has no `=`, or a key stands twice.
    """
    settings: dict[str, str] = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals:
            raise UsageError(f"--set {pair}: give key=value")
        if key in settings:
            raise UsageError(f"--set {key}: given twice")
        settings[key] = value
    return settings


def option_params(cls: type[Any]) -> list[click.Parameter]:
    """Return a click option for each field of an options dataclass."""
    hints = typing.get_type_hints(cls)
    return [_option_param(field, hints[field.name]) for field in dataclasses.fields(cls)]


def _option_param(field: "dataclasses.Field[Any]", hint: Any) -> click.Option:
    kind = hint.__args__[0] if isinstance(hint, types.UnionType) else hint
    flag, help = f"--{field.name.replace('_', '-')}", field.metadata["help"]
    if kind is bool:
        return click.Option([flag], is_flag=True, default=False, help=help)
    if choices := field.metadata["choices"]:
        help += f" ({', '.join(choices)})"
    value_type = Parsed(Range) if kind is Range else kind
    return click.Option([flag], type=value_type, default=field.default, help=help)


def run(command: click.Command, arguments: Sequence[str]) -> int:
    """Run a command line and return its exit code: 0, 1, 2 or 130 (contract, commands).

    Args:
        command: The whole program.
        arguments: What was typed behind its name.
    """
    return reported(
        lambda: command.main(args=list(arguments), prog_name="symshift", standalone_mode=False),
        arguments,
    )


def reported(function: Callable[[], Any], arguments: Sequence[str]) -> int:
    """Call a function, tell in one line what stopped it, and return the exit code.

    Args:
        function: What to call; an integer that it returns is the exit code.
        arguments: The command line that it belongs to, behind the program's name.
    """
    try:
        code = function()
        return code if isinstance(code, int) else 0
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except (KeyboardInterrupt, click.Abort) as stop:
        again = str(stop) or shlex.join(["symshift", *arguments])
        click.echo(f"interrupted; to go on where it stopped: {again}", err=True)
        return INTERRUPTED
    except _REPORTED as error:
        if isinstance(error, ModuleNotFoundError) and error.name not in _EXTRAS:
            raise
        if "--debug" in arguments:
            traceback.print_exc()
        message, code = _one_line(error)
        click.echo(f"Error: {message}", err=True)
        return code


def _one_line(error: Exception) -> tuple[str, int]:
    if isinstance(error, click.ClickException):
        text, code = error.format_message(), error.exit_code
        if isinstance(error, click.UsageError) and error.ctx:
            text += f" (see `{error.ctx.command_path} -h`)"
    elif isinstance(error, SymshiftError):
        text, code = str(error), error.exit_code
    elif isinstance(error, UnicodeEncodeError | UnicodeDecodeError):
        text, code = f"a text that is not UTF-8: {error.object!r:.60} ({error.reason})", 1
    elif isinstance(error, ModuleNotFoundError):
        extra = _EXTRAS[error.name or ""]
        text, code = f"this needs {error.name}: pip install 'symshift[{extra}]'", 1
    else:
        assert isinstance(error, OSError)
        text, code = f"{error.filename or 'writing'}: {error.strerror or error}", 1
    return printable(" ".join(text.split())), code
