"""matscipy-neighbours: sorted cells, in C++ with OpenMP where OMP_NUM_THREADS says so."""

from importlib.metadata import version as version_of

import matscipy_neighbours as package
import numpy as np
from cases import Method

KIND = "searches"


def version():
    return "matscipy-neighbours " + version_of("matscipy-neighbours")


def methods(problem, ours):
    cell = np.eye(3) * (problem.period or 1.0)

    def run():
        return package.neighbour_list("ij", positions=problem.x("f64"), cell=cell, pbc=bool(problem.period),
                                      cutoff=problem.cutoff)
    yield Method("ij", run, "full")
