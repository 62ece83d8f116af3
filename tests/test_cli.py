import json
import subprocess
import sys

import click
import pytest

from symshift.cli import cli
from symshift.data import console
from symshift.data.plugins import plugin_names


def run(capsys, *arguments):
    code = console.run(cli, [str(argument) for argument in arguments])
    printed = capsys.readouterr()
    return code, printed.out, printed.err


def errors(capsys, *arguments):
    code, out, err = run(capsys, *arguments)
    lines = [line for line in err.splitlines() if line.startswith("Error: ")]

    assert out == ""
    assert len(lines) == 1, err
    assert "Traceback" not in err
    return code, lines[0]


def commands(group, path=()):
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        yield (*path, name), command
        if isinstance(command, click.Group):
            yield from commands(command, (*path, name))


@pytest.mark.parametrize("path", [path for path, _ in commands(cli)], ids=" ".join)
def test_every_command_has_help_with_an_example(capsys, path):
    code, out, _ = run(capsys, *path, "-h")

    assert code == 0
    assert "Example: symshift " in out
    assert "\b" not in out


def test_the_programs_help_imports_neither_torch_nor_pyarrow():
    code = (
        "import sys; from symshift.cli import cli; from symshift.data import console\n"
        "console.run(cli, ['--help']); console.run(cli, ['generate', 'ltl', '-h'])\n"
        "heavy = {'torch', 'pyarrow', 'matplotlib', 'scipy', 'sympy'} & set(sys.modules)\n"
        "sys.exit(f'imported {heavy}' if heavy else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)

    assert done.returncode == 0, done.stderr
    assert "leaderboard" in done.stdout


def test_data_and_scores_need_no_torch(tmp_path):
    code = (
        "import sys\n"
        "class NoTorch:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name.split('.')[0] in ('torch', 'safetensors'):\n"
        "            raise ModuleNotFoundError(f'No module named {name!r}', name=name)\n"
        "sys.meta_path.insert(0, NoTorch())\n"
        "from symshift.cli import cli\n"
        "from symshift.data import console\n"
        "sys.exit(console.run(cli, sys.argv[1:]))\n"
    )

    def without_torch(*arguments):
        return subprocess.run(
            [sys.executable, "-c", code, *arguments], capture_output=True, text=True, cwd=tmp_path
        )

    made = without_torch("generate", "copy", "d", "--test", "20", "--workers", "1")
    assert made.returncode == 0, made.stderr
    assert without_torch("verify", "d").returncode == 0
    rows = subprocess.check_output(
        [
            sys.executable,
            "-c",
            "from symshift.data.dataset import open_dataset\n"
            "import json\n"
            "for row in open_dataset('d').rows('test'):\n"
            "    print(json.dumps({'id': row.id, 'prediction': row.target}))",
        ],
        cwd=tmp_path,
    )
    (tmp_path / "p.jsonl").write_bytes(rows)
    scored = without_torch("score", "d", "p.jsonl", "-o", "r.json")
    assert scored.returncode == 0, scored.stderr
    trained = without_torch("train", "d", "run", "--method", "learned")
    assert trained.returncode == 1
    assert trained.stderr.strip().count("\n") == 0
    assert "symshift[train]" in trained.stderr
    assert without_torch("list", "methods").returncode == 0
    assert without_torch("doctor").returncode == 0


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["generat"], 2, "'generate'"),
        (["generate", "lt", "x"], 2, "'ltl'"),
        (["generate", "copy", "x", "--siz", "3"], 2, "--size"),
        (["generate", "copy", "x", "--size", "9-3", "--test", "1"], 2, "9-3"),
        (["generate", "copy", "x", "--perturb", "skwe", "--test", "1"], 2, "'skew'"),
        (["generate", "copy", "x"], 2, "--train"),
        (["generate", "copy", "x", "--test", "-4"], 2, "-4"),
        (["generate", "copy", "x", "--test", "1", "--names", "x"], 2, "names 'x'"),
        (["verify", "nothing-here"], 1, "manifest.json"),
        (["rename", "nothing-here", "y"], 1, "manifest.json"),
        (["score", "nothing-here", "p.jsonl"], 1, "manifest.json"),
        (["predict", "nothing-here", "d", "p"], 1, "manifest.json"),
        (["train", "nothing-here", "r", "--method", "lerned"], 2, "'learned'"),
        (["train", "nothing-here", "r", "--method", "learned", "--set", "stps=3"], 2, "'steps'"),
        (["train", "nothing-here", "r", "--method", "learned", "--set", "steps"], 2, "key=value"),
        (["train", "nothing-here", "r"], 2, "--method"),
        (["leaderboard", "nothing.json", "-o", "s"], 1, "nothing.json"),
        (["compare", "a.json", "b.json"], 1, "a.json"),
        (["run", "smok", "out"], 2, "'smoke'"),
        (["run", "nothing.toml", "out"], 2, "nothing.toml"),
        (["list", "task"], 2, "'tasks'"),
    ],
)
def test_wrong_usage_is_one_line_with_what_helps(
    capsys, tmp_path, monkeypatch, arguments, code, message
):
    monkeypatch.chdir(tmp_path)
    found, line = errors(capsys, *arguments)

    assert found == code
    assert message in line
    assert list(tmp_path.rglob("*.parquet")) == []


def test_debug_shows_the_traceback(capsys, tmp_path):
    code, _, err = run(capsys, "verify", tmp_path, "--debug")

    assert code == 1
    assert "Traceback" in err


def test_json_goes_to_stdout_and_everything_else_to_stderr(capsys, tmp_path):
    code, out, _ = run(capsys, "generate", "copy", tmp_path / "d", "--test", "5", "--json")

    assert code == 0
    assert json.loads(out)["rows"] == {"test": 5}
    assert json.loads(run(capsys, "verify", tmp_path / "d", "--json")[1]) == {"problems": []}
    assert set(json.loads(run(capsys, "list", "tasks", "--json")[1])) == set(plugin_names("tasks"))


def test_missing_rows_end_with_1_and_a_truncated_shard_too(capsys, tmp_path):
    wishes = ["--test", "1000", "--symbols", "2", "--size", "1-3"]
    code, out, _ = run(capsys, "generate", "copy", tmp_path / "d", *wishes)
    assert code == 1
    assert "there are only 14 problems" in out

    shard = next((tmp_path / "d" / "data").glob("test-*"))
    shard.write_bytes(shard.read_bytes()[:-20])
    code, out, _ = run(capsys, "verify", tmp_path / "d")
    assert code == 1
    assert shard.name in out
    code, line = errors(capsys, "rename", tmp_path / "d", tmp_path / "r")
    assert code == 1
    assert shard.name in line


def test_a_wrong_label_is_found(capsys, tmp_path):
    import pyarrow.parquet as pq

    from symshift.data.files import read_json, sha256_of, write_json

    run(capsys, "generate", "copy", tmp_path / "d", "--test", "9")
    shard = next((tmp_path / "d" / "data").glob("test-*"))
    table = pq.read_table(shard)
    targets = table["target"].to_pylist()
    targets[3] = "a a a a a a a a"
    at = table.schema.get_field_index("target")
    pq.write_table(table.set_column(at, table.schema.field(at), [targets]), shard)
    manifest = read_json(tmp_path / "d" / "manifest.json")
    manifest["files"][0] |= {"sha256": sha256_of(shard), "bytes": shard.stat().st_size}
    write_json(tmp_path / "d" / "manifest.json", manifest)
    code, out, _ = run(capsys, "verify", tmp_path / "d")

    assert code == 1
    assert "test row 3" in out
    assert "fingerprint" in out


def test_a_progress_bar_leaves_no_trace_in_a_log(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "symshift.cli", "generate", "copy", "d", "--test", "5"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )

    assert done.returncode == 0
    assert "\r" not in done.stderr


@pytest.fixture
def answered(capsys, tmp_path):
    """A data set with its gold answers beside it."""
    from symshift.data.dataset import open_dataset

    run(capsys, "generate", "copy", tmp_path / "d", "--test", "20", "--workers", "1")
    lines = [
        json.dumps({"id": row.id, "prediction": row.target})
        for row in open_dataset(tmp_path / "d").rows("test")
    ]
    (tmp_path / "gold.jsonl").write_text("\n".join(lines))
    return tmp_path


def test_nothing_is_written_over_a_data_set_or_an_input(capsys, answered):
    data, gold = answered / "d", answered / "gold.jsonl"
    before = {path: path.read_bytes() for path in answered.rglob("*") if path.is_file()}
    for arguments in (
        ["score", data, gold, "-o", data / "manifest.json"],
        ["score", data, gold, "-o", data / "new.json"],
        ["score", data, gold, "-o", gold],
        ["audit", data, "-o", data / "manifest.json"],
    ):
        code, line = errors(capsys, *arguments)

        assert code == 2, line
    assert {path: path.read_bytes() for path in answered.rglob("*") if path.is_file()} == before


def test_a_swapped_shard_is_never_scored(capsys, answered):
    run(capsys, "generate", "copy", answered / "e", "--test", "20", "--seed", "1")
    mine, other = (next((answered / name / "data").iterdir()) for name in "de")
    mine.write_bytes(other.read_bytes())
    for command in (
        ["score", answered / "d", answered / "gold.jsonl"],
        ["rename", answered / "d", answered / "r"],
    ):
        code, line = errors(capsys, *command)

        assert code == 1
        assert "SHA-256" in line
    code, line = errors(capsys, "generate", "copy", answered / "d", "--test", "20")
    assert code == 1


@pytest.mark.parametrize(
    ("key", "value"),
    [
        *(
            (key, None)
            for key in ("files", "fingerprint", "task", "vocabulary", "columns", "options")
        ),
        *((key, 7) for key in ("files", "task", "message", "missing", "options")),
        ("vocabulary", {"window": [0, 1.5]}),
        ("vocabulary", {"window": [False, True]}),
        ("columns", ["id"]),
        ("path", "../../outside.parquet"),
        ("path", "/etc/passwd"),
        ("path", 7),
        ("rows", -1),
        ("sha256", "x"),
        ("split", "training"),
        ("twice", None),
    ],
)
def test_a_manifest_that_says_what_cannot_be_is_refused(capsys, answered, key, value):
    place = answered / "d" / "manifest.json"
    manifest = json.loads(place.read_text())
    if key in manifest:
        manifest[key] = value
    elif key == "twice":
        manifest["files"] *= 2
    else:
        manifest["files"][0][key] = value
    place.write_text(json.dumps(manifest))
    for command in (["verify"], ["score", answered / "gold.jsonl"], ["rename", answered / "r"]):
        code, line = errors(capsys, command[0], answered / "d", *command[1:])

        assert code == 1
        assert "manifest.json" in line


def test_a_text_that_is_not_utf8_is_told_in_one_line(capsys, tmp_path):
    (tmp_path / "x.toml").write_bytes(b"summary = '\xff'")

    assert errors(capsys, "run", tmp_path / "x.toml", tmp_path / "out")[0] == 2
    assert errors(capsys, "generate", "copy", f"{tmp_path}/\udcff", "--test", "3")[0] == 1


def test_sizes_beyond_any_use_are_refused_at_once(capsys, tmp_path):
    for task in ("ltl", "prop", "copy"):
        code, line = errors(
            capsys, "generate", task, tmp_path / "x", "--test", "1", "--size", "1-1000000"
        )
        assert code == 2
        assert "1-1000000" in line
