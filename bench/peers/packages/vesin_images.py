"""vesin with the images of periodic boxes, beside matscipy-neighbours. Indices of 64 bits."""

import itertools

import numpy as np
import vesin
from cases import Method
from packages.vesin import version

KIND = "images"


def methods(problem, ours):
    box = np.eye(3) * problem.period
    for letters, by_i in itertools.product(problem.letters, (False, True)):
        def run(letters=letters, by_i=by_i):
            found = vesin.NeighborList(cutoff=problem.cutoff, full_list=True, sorted=by_i, algorithm="cell_list",
                                       n_threads=ours.threads)
            # views of its own memory: the list must outlive them
            return found, found.compute(problem.x("f64"), box, True, letters, copy=False)
        yield Method("cell_list, no copy", run, letters,
                     pairs=lambda found, letters=letters: dict(zip(letters, found[1])), by_i=by_i)
