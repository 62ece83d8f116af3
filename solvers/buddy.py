"""BuDDy, the table of BDD nodes under Spot, brought to the same state before every question.

Spot orders some choices by the numbers of BDD nodes and variables. So that no answer depends on
what was asked before, each question finds a table of the same size with the same free nodes. A
garbage collection does that, until a question has made the table larger: it cannot shrink, and a
later question would then meet its garbage collections at other moments. So the table is made anew.

A table that is made anew has variables that no question uses. They shift the numbers of all other
nodes alike, which does no harm: numbers are only compared.
"""

import ctypes

from symshift.solvers.cxx import Address, function

NUM_NODES = 4_000
"""Nodes of a fresh table: few, since each collection sweeps over all of them."""
NUM_VARIABLES = 256
"""Variables of a fresh table."""
CACHE_SIZE = 256
"""Entries of each cache of a fresh table; in one that grew, as many as nodes."""
MIN_FREE_PERCENT = 50
"""A table grows when a collection leaves fewer nodes free; else it would collect all the time."""

_HOOK = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_int)


class _Statistics(ctypes.Structure):
    """The struct bddStat."""

    _fields_ = (
        ("produced", ctypes.c_long),
        ("num_nodes", ctypes.c_int),
        ("max_nodes", ctypes.c_int),
        ("num_free", ctypes.c_int),
        ("min_free_percent", ctypes.c_int),
        ("num_variables", ctypes.c_int),
        ("cache_size", ctypes.c_int),
        ("hash_size", ctypes.c_int),
        ("num_collections", ctypes.c_int),
    )


class NodeTable:
    """The one table of BDD nodes of this process."""

    def __init__(self, library: ctypes.CDLL) -> None:
        number = ctypes.c_int
        self._init = function(library, "bdd_init", number, number, number)
        self._done = function(library, "bdd_done", None)
        self._set_num_variables = function(library, "bdd_setvarnum", number, number)
        self._set_max_increase = function(library, "bdd_setmaxincrease", number, number)
        self._set_cache_ratio = function(library, "bdd_setcacheratio", number, number)
        self._set_min_free = function(library, "bdd_setminfreenodes", number, number)
        self._on_collection = function(library, "bdd_gbc_hook", Address, Address)
        self._on_resize = function(library, "bdd_resize_hook", Address, _HOOK)
        self._collect = function(library, "bdd_gbc", None)
        self._read = function(library, "bdd_stats", None, Address)
        self.is_running = function(library, "bdd_isrunning", number)
        self._hook = _HOOK(self._resized)
        self._now = _Statistics()
        self._now_at = ctypes.addressof(self._now)
        self._num_extra = 0  # variables beyond NUM_VARIABLES

    def refresh(self) -> None:
        """Bring the table to its initial state; no BDD may be in use."""
        if not self.is_running():
            self._open()
        elif self.has_more_variables() or self._now.num_nodes != NUM_NODES + 2 * self._num_extra:
            # BuDDy's bdd_support keeps the size of a buffer that bdd_done has freed, and
            # allocates it anew only for more variables than ever before: hence the extra ones.
            self._num_extra = self._now.num_variables + 1 - NUM_VARIABLES
            self._done()
            self._open()
        else:
            self._collect()

    def has_more_variables(self) -> bool:
        """Tell whether variables were added since `refresh`.

        Their nodes then lie between others, where an earlier addition would not have put them:
        whoever needs a pure answer has to ask again, after the next `refresh`.
        """
        self._read(self._now_at)
        return bool(self._now.num_variables != NUM_VARIABLES + self._num_extra)

    def _open(self) -> None:
        # Each variable takes two nodes for good: with as many more, the free ones stay equal.
        self._init(NUM_NODES + 2 * self._num_extra, CACHE_SIZE)
        self._on_collection(None)
        self._on_resize(self._hook)
        self._set_max_increase(NUM_NODES)
        self._set_cache_ratio(1)
        self._set_min_free(MIN_FREE_PERCENT)
        self._set_num_variables(NUM_VARIABLES + self._num_extra)

    def _resized(self, old: int, new: int) -> None:
        # The table grows by this much next: it doubles, the extra nodes set apart.
        self._set_max_increase(new - 2 * self._num_extra)
