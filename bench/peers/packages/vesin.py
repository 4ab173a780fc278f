"""vesin: cells, in C++ with OpenMP. Indices of 64 bits."""

from importlib.metadata import version as version_of

import numpy as np
import vesin
from cases import Method

KIND = "searches"


def version():
    return "vesin " + version_of("vesin")


def methods(problem, ours):
    box = np.eye(3) * problem.period
    for output in ("half", "full"):
        def run(output=output):
            found = vesin.NeighborList(cutoff=problem.cutoff, full_list=output == "full", algorithm="cell_list",
                                       n_threads=ours.threads)
            # views of its own memory: the list must outlive them
            return found, found.compute(problem.x("f64"), box, bool(problem.period), "ij", copy=False)
        yield Method("cell_list, no copy", run, output, pairs=lambda found: found[1])
