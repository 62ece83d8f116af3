"""Finding the Spot of this machine.

Two ways lead to it: the library file that the PyPI wheel `stormpy` carries (libspot.py, Linux), and
Spot's own Python module (spot_module.py, conda or a source build). Both give the same answers;
which words they give may differ, so a data set records the version and the source.

The PyPI package `spot` is an unrelated tool and is never taken for either.
"""

import functools
import os
import sys

from symshift.data.errors import MissingToolError
from symshift.solvers.spot import Spot
from symshift.solvers.spot_self_test import self_test

LIBRARY_VARIABLE = "SYMSHIFT_LIBSPOT"
"""The environment variable that names a libspot file to use in place of the one that is found."""
_CURES = {
    "linux": "pip install stormpy (it carries the library), or conda install -c conda-forge spot",
    "darwin": "conda install -c conda-forge spot",
}
_NO_CURE = "Spot has no build for this system; all but making LTL data works without it"


@functools.cache
def find_spot() -> Spot:
    """Return the Spot of this process, checked by 20 known answers before its first use.

    It is looked for in this order: the file that SYMSHIFT_LIBSPOT names, the library in the
    `stormpy` wheel, Spot's own Python module.

    Raises:
        MissingToolError: If there is none, or none of a version that was tested; the message says
            what was found and what to install.
    """
    # Here, since looking for libraries is costly to import, and most commands never ask Spot.
    from symshift.solvers import libspot, spot_module

    named = os.environ.get(LIBRARY_VARIABLE)
    if named:
        return _tested(libspot.load(named))
    reasons = []
    for find in (libspot.find, spot_module.find):
        try:
            return _tested(find())
        except MissingToolError as error:
            reasons.append(str(error))
    cure = _CURES.get(sys.platform, _NO_CURE)
    raise MissingToolError(f"no usable Spot ({'; '.join(reasons)}). {cure}")


def _tested(spot: Spot) -> Spot:
    wrong = self_test(spot)
    if wrong:
        raise MissingToolError(
            f"Spot {spot.version} ({spot.source}) fails the self-test: {wrong[0]}"
        )
    return spot
