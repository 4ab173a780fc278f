"""pytreegrav's direct sum: a loop that numba compiles for this machine, with fast mathematics."""

from importlib.metadata import version as version_of

import numpy as np
import pytreegrav
from cases import Method

KIND = "sums"


def version():
    return f"pytreegrav {version_of('pytreegrav')} (numba {version_of('numba')})"


def methods(problem, ours):
    x, q, softening = problem.x("f64"), problem.q("f64"), np.zeros(problem.n)

    def run():
        return -pytreegrav.Potential(x, q, softening=softening, method="bruteforce", parallel=ours.threads > 1)
    yield Method("bruteforce", run, "sums", tolerance=1e-12)
