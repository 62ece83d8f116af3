import itertools
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from symshift.data.text import rename_text
from symshift.data.verdict import Verdict
from symshift.metrics.alpha_covariance import AlphaCovariance, undo
from symshift.metrics.intervals import holm, mcnemar, wilson

ROOT = Path(__file__).parents[1]
README, DOCS = ROOT / "README.md", ROOT / "docs"
SCORING, NUMBERS, AUDITING = DOCS / "scoring.md", DOCS / "numbers.md", DOCS / "auditing.md"
BLOCK = re.compile(r"^```(sh|python|text)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FILE_NAME = re.compile(r"# (\w+\.py)\n")
LINK = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")


def run(kind, code, folder):
    """Run a block as a reader would, with this environment's programs."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    command = ["sh", "-ec", code] if kind == "sh" else [sys.executable, "-c", code]
    done = subprocess.run(
        command, cwd=folder, env={**os.environ, "PATH": path}, capture_output=True, text=True
    )

    assert done.returncode == 0, f"{code}\n{done.stderr}"
    return done.stdout


def follow(page, folder):
    """Run a page's blocks; return what each printed, and what the page shows."""
    printed, shown = [], []
    for kind, text in BLOCK.findall(page.read_text()):
        if kind == "text":
            shown[-1] = text
        elif kind == "python" and (name := FILE_NAME.match(text)):
            (folder / name[1]).write_text(text)
        else:
            printed.append(run(kind, text, folder))
            shown.append("")
    return printed, shown


@pytest.fixture(scope="module")
def guide(tmp_path_factory):
    """Run the five-minute guide; what each block printed, what the page shows, and the folder."""
    folder = tmp_path_factory.mktemp("guide")
    return *follow(SCORING, folder), folder


needs_guide = pytest.mark.skipif(shutil.which("sh") is None, reason="it is for a Unix shell")


@pytest.mark.spot
@needs_guide
def test_the_five_minute_guide_runs_as_it_stands_and_prints_what_it_shows(guide):
    printed, shown, _ = guide

    assert len(shown) > 5
    assert "\n".join(printed) == "\n".join(shown)


@pytest.mark.spot
@needs_guide
def test_the_guide_to_auditing_runs_as_it_stands_and_prints_what_it_shows(tmp_path):
    printed, shown = follow(AUDITING, tmp_path)

    assert len(shown) > 5
    assert "\n".join(printed) == "\n".join(shown)


@pytest.mark.spot
@needs_guide
def test_every_figure_of_the_guide_is_explained(guide):
    *_, folder = guide
    results = [json.loads(path.read_text()) for path in sorted(folder.glob("results/*.json"))]
    figures = {name for result in results for name in result["estimates"]}
    text = NUMBERS.read_text()

    assert "alpha_covariance" in figures
    assert {name for name in figures if f"`{name}`" not in text} == set()


def worked_example():
    """Return the renamings of `a U b`, with problem, answer and the answer undone."""
    line = re.compile(r"^\| (\w) \| (\w) \| `(.*)` \| `(.*)` \| `(.*)` \|$", re.MULTILINE)
    return [({"a": a, "b": b}, *rest) for a, b, *rest in line.findall(NUMBERS.read_text())]


def test_the_worked_example_of_alpha_covariance_comes_out_as_stated():
    found, example = AlphaCovariance(), worked_example()
    for renaming, problem, answer, undone in example:
        pairs = [{"name": name, "renamed": to} for name, to in renaming.items()]
        row = {"id": problem, "base_id": "a U b", "renaming": pairs, "num_symbols": 2}
        found.add(row, answer, Verdict.CORRECT)

        assert problem == rename_text("a U b", renaming)
        assert "".join(undo(answer, {to: name for name, to in renaming.items()})) == undone

    assert [tuple(r.values()) for r, *_ in example] == list(itertools.permutations("abc", 2))
    assert f"it is 1 - 2/5 = {found.summary().overall.value}." in NUMBERS.read_text()


def test_the_examples_of_tests_and_intervals_come_out_as_stated():
    text = " ".join(NUMBERS.read_text().split())
    adjusted = ", ".join(f"{p:.2f}" for p in holm([0.01, 0.02, 0.04]))

    assert f"0 of 200 rows gives 0 to {wilson(0, 200).high:.4f}" in text
    assert f"43 that only A solves and 25 that only B solves, p = {mcnemar(43, 25):.4f}" in text
    assert f"0.01, 0.02, 0.04 become {adjusted}." in text


@pytest.mark.parametrize("page", [README, *sorted(DOCS.glob("*.md"))], ids=lambda path: path.name)
def test_links_between_pages_lead_somewhere(page):
    links = LINK.findall(page.read_text())

    assert [link for link in links if not (page.parent / link).exists()] == []


def test_the_readme_lists_every_guide():
    linked = set(LINK.findall(README.read_text()))

    assert {f"docs/{path.name}" for path in DOCS.glob("*.md")} <= linked


def test_the_experiment_of_the_guide_can_be_run(tmp_path):
    from symshift.models.experiments.experiment import load_experiment

    [text] = re.findall(r"```toml\n(.*?)```", (DOCS / "experiments.md").read_text(), re.DOTALL)
    path = tmp_path / "guide.toml"
    path.write_text(text)
    assert load_experiment(str(path)).train["copying"].systems.keys() == {
        "interchangeable",
        "learned, frozen",
    }
