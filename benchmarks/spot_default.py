"""What everybody asks Spot, as its Python module asks it: the other side of the comparisons.

`formula.translate()` there is `spot::translator`, one for each formula, over one dictionary that
lives as long as the process. The questions run in a process of their own, in which each may take a
stated number of seconds of CPU time: one that takes more is lost, and known to take at least that.
"""

import ctypes
import multiprocessing
import os
import resource
import time
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NamedTuple

from symshift.solvers import libspot
from symshift.solvers.cxx import STRING, Address, Shared, StandardLibrary, function, text_of
from symshift.solvers.libspot_peer import Peer

_DICTIONARY_BYTES = 4096  # sizeof(spot::bdd_dict) is under 300
_TRANSLATOR_BYTES = 4096  # sizeof(spot::translator) is under 300
_SIMPLIFIER = 136  # in a spot::translator of Spot 2.16: the tl_simplifier that it owns
_MEMORY_BYTES = 8 << 30
_POLL_S = 0.05


class Answer(NamedTuple):
    """What Spot said, and how long it took."""

    value: bool | None
    """The answer; None if it is lost."""
    cpu_s: float
    """Seconds of process CPU time; of a lost answer, the limit."""


class DefaultSpot:
    """Spot as its Python module uses it. For one thread, and for nothing else in the process."""

    def __init__(self) -> None:
        spot = libspot.find()
        self._peer = Peer(spot)
        self._standard = StandardLibrary(spot.library)

        def bind(symbol: str, result: Any, *arguments: Any) -> Any:
            return function(spot.library, symbol, result, *arguments)

        flag = ctypes.c_bool
        dictionary = "RKSt10shared_ptrINS_8bdd_dictEE"
        options = "PKNS_10option_mapE"
        twa, graph = "St10shared_ptrIKNS_3twaEE", "St10shared_ptrIKNS_9twa_graphEE"
        self._new_base = bind(f"_ZN4spot13postprocessorC2E{options}", None, Address, Address)
        self._set_options = bind(f"_ZN4spot10translator9setup_optE{options}", None, *[Address] * 2)
        simplifier = f"_ZN4spot10translator16build_simplifierE{dictionary}"
        self._new_simplifier = bind(simplifier, None, Address, Address)
        self._end_simplifier = bind("_ZN4spot13tl_simplifierD1Ev", None, Address)
        self._run = bind("_ZN4spot10translator3runENS_7formulaE", Shared, Address, Address)
        self._word = bind("_ZNK4spot3twa14accepting_wordEv", Shared, Address)
        parse_word = f"_ZN4spot10parse_wordERK{STRING}{dictionary}"
        self._parse_word = bind(parse_word, Shared, Address, Address)
        self._as_automaton = bind("_ZNK4spot8twa_word12as_automatonEv", Shared, Address)
        contains = "_ZN4spot8containsE"
        two = [Address] * 2
        self._contains = bind(f"{contains}{graph}S0_IKNS_3twaEE", flag, *two)
        self._contains_formula = bind(f"{contains}NS_7formulaE{twa}", flag, *two)
        self._memory = ctypes.create_string_buffer(_DICTIONARY_BYTES)
        bind("_ZN4spot8bdd_dictC1Ev", None, Address)(ctypes.addressof(self._memory))
        self._dictionary = Shared(ctypes.addressof(self._memory), None)
        self._dictionary_at = ctypes.addressof(self._dictionary)

    def has_word(self, formula: str) -> Answer:
        """Translate a formula, and find an accepting word; reading and printing are not timed."""
        parsed = self._peer.parse(formula)
        start = time.process_time()
        automaton = self._translate(ctypes.addressof(parsed))
        word = self._word(automaton.object)
        found = bool(word.object)
        word.release()
        automaton.release()
        cpu_s = time.process_time() - start
        self._peer.forget(parsed)
        return Answer(found, cpu_s)

    def contains_translated(self, pair: tuple[str, str]) -> Answer:
        """Ask `contains(translate(formula), word)`, from two texts."""

        def ask(formula_at: int, word_at: int) -> bool:
            automaton = self._translate(formula_at)
            answer = bool(self._contains(ctypes.addressof(automaton), word_at))
            automaton.release()
            return answer

        return self._about(pair, ask)

    def contains(self, pair: tuple[str, str]) -> Answer:
        """Ask `contains(formula, word)`, from two texts."""

        def ask(formula_at: int, word_at: int) -> bool:
            return bool(self._contains_formula(formula_at, word_at))

        return self._about(pair, ask)

    def _about(self, pair: tuple[str, str], ask: Callable[[int, int], bool]) -> Answer:
        start = time.process_time()
        parsed = self._peer.parse(pair[0])
        text, _memory = text_of(pair[1])
        word = self._parse_word(ctypes.addressof(text), self._dictionary_at)
        words = self._as_automaton(word.object)
        answer = ask(ctypes.addressof(parsed), ctypes.addressof(words))
        words.release()
        word.release()
        self._peer.forget(parsed)
        return Answer(answer, time.process_time() - start)

    def _translate(self, formula_at: int) -> Shared:
        """Translate the formula that lies at an address; Spot leaves a simpler one there."""
        memory = ctypes.create_string_buffer(_TRANSLATOR_BYTES)
        translator = ctypes.addressof(memory)
        self._new_base(translator, None)
        self._set_options(translator, None)
        self._new_simplifier(translator, self._dictionary_at)
        automaton: Shared = self._run(translator, formula_at)
        simplifier = Address.from_address(translator + _SIMPLIFIER).value
        self._end_simplifier(simplifier)
        self._standard.delete(simplifier)
        return automaton


class PatientPeer:
    """DefaultSpot in another process, with a limit for each question. A context manager."""

    def __init__(self, limit_s: float) -> None:
        """Start it.

        Args:
            limit_s: Seconds of process CPU time for one question.
        """
        self._limit_s = limit_s
        self._start()

    def __enter__(self) -> "PatientPeer":
        return self

    def __exit__(self, *_: object) -> None:
        self._stop()

    def ask(self, question: str, items: Sequence[Any]) -> list[Answer]:
        """Ask a method of DefaultSpot about each item.

        Raises:
            RuntimeError: If the process ended, other than by the limit.
        """
        return [self._ask_one(question, item) for item in items]

    def _ask_one(self, question: str, item: Any) -> Answer:
        begun_s = self._cpu_s()
        self._pipe.send((question, item))
        while not self._pipe.poll(_POLL_S):
            if self._cpu_s() - begun_s > self._limit_s:
                break
        else:
            try:
                return Answer(*self._pipe.recv())
            except EOFError:
                raise RuntimeError(f"Spot ended at {question} of {item!r}") from None
        self._stop()
        self._start()
        return Answer(None, self._limit_s)

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipe, other = context.Pipe()
        self._process = context.Process(target=_answer, args=(other,), daemon=True)
        self._process.start()
        other.close()
        if self._pipe.recv() != "ready":
            raise RuntimeError("Spot did not start")

    def _cpu_s(self) -> float:
        """Return the CPU time of the process so far; a timer in it would make its clock coarse."""
        fields = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def _stop(self) -> None:
        self._process.kill()
        self._process.join()
        self._pipe.close()


def _answer(pipe: Connection) -> None:
    """Answer questions for ever."""
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY_BYTES, _MEMORY_BYTES))
    spot = DefaultSpot()
    pipe.send("ready")
    while True:
        question, item = pipe.recv()
        pipe.send(tuple(getattr(spot, question)(item)))
