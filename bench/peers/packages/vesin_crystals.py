"""vesin with the images of periodic boxes, beside matscipy-neighbours. Indices of 64 bits."""

import numpy as np
import vesin
from cases import Method
from packages.vesin import version

KIND = "crystals"


def methods(problem, ours):
    box = np.eye(3) * problem.period
    for letters in ("ijS", "ijdDS"):
        def run(letters=letters):
            found = vesin.NeighborList(cutoff=problem.cutoff, full_list=True, algorithm="cell_list",
                                       n_threads=ours.threads)
            # views of its own memory: the list must outlive them
            return found, found.compute(problem.x("f64"), box, True, letters, copy=False)
        yield Method("cell_list, no copy", run, letters,
                     pairs=lambda found, letters=letters: dict(zip(letters, found[1])))
