import itertools

import pytest
from grammars import passes

from symshift.data import assignment as assignments
from symshift.data import theory as theories
from symshift.data import trace as traces
from symshift.data.assignment import AssignmentError
from symshift.data.grammar import SYMBOL, Grammar, Move, State
from symshift.data.plugins import load_task, plugin_names
from symshift.data.text import is_name
from symshift.data.theory import Rule, TheoryError
from symshift.data.trace import TraceError

SHORT = {
    "copy": ("a b", 5),
    "horn": ("a b & -> ; true", 7),
    "ltl": ("a ! & U ; { }", 6),
    "prop": ("a b 0 1 &", 6),
}
"""Some tokens of each task, and how long the answers are that are all looked at."""


def is_well_formed(name: str, tokens: tuple[str, ...]) -> bool:
    """Tell by the task's own reader."""
    task = load_task(name)
    text = task.decode(tokens)
    try:
        if name == "ltl":
            traces.parse(text)
        elif name == "prop":
            literals = assignments.literals(text)
            if len(dict(literals)) < len(literals):
                return False
        elif name == "horn":
            if not all(isinstance(step, Rule) for step in theories.parse_answer(text).steps):
                return False
        elif not tokens or not all(map(is_name, tokens)):
            return False
    except (AssignmentError, TheoryError, TraceError):
        return False
    return tuple(task.encode_target(text)) == tokens


@pytest.mark.parametrize("name", plugin_names("tasks"))
def test_grammar_passes_just_what_the_tasks_reader_takes(name):
    grammar = load_task(name).grammar
    alphabet, longest = SHORT[name]
    well_formed = 0
    for length in range(longest + 1):
        for tokens in itertools.product(alphabet.split(), repeat=length):
            expected = is_well_formed(name, tokens)
            well_formed += expected

            assert passes(grammar, tokens) is expected, tokens
    assert well_formed > 8


@pytest.mark.parametrize("name", plugin_names("tasks"))
def test_closing_is_the_shortest_way_to_an_end(name):
    grammar = load_task(name).grammar
    alphabet, longest = SHORT[name]
    answers = [
        tokens
        for length in range(longest + 1)
        for tokens in itertools.product(alphabet.split(), repeat=length)
        if passes(grammar, tokens)
    ]
    shortest: dict[State, int] = {}
    for tokens in answers:
        state = State(grammar.start)
        for left in range(len(tokens), -1, -1):
            shortest[state] = min(shortest.get(state, left), left)
            if left:
                token = tokens[len(tokens) - left]
                state = grammar.behind(state)[SYMBOL if is_name(token) else token].state

    assert {state: grammar.closing(state) for state in shortest} == shortest


@pytest.mark.parametrize(
    ("moves", "message"),
    [
        ((Move("start", "a", "lost"),), "no answer ends behind it"),
        ((Move("start", "a", "end"), Move("start", "a", "end")), "two moves for a"),
        ((Move("start", "a", "end", fresh=True),), "only a symbol is fresh"),
        (
            (Move("start", SYMBOL, "two", fresh=True), Move("two", SYMBOL, "end", fresh=True)),
            "no other must follow",
        ),
    ],
)
def test_grammar_that_could_get_stuck_is_refused(moves, message):
    with pytest.raises(ValueError, match=message):
        Grammar(start="start", final=("end",), moves=moves)
