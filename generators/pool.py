from symshift.solvers.pool import *  # noqa
