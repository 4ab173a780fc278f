"""matscipy-neighbours with the images of periodic boxes, as ASE's neighbor_list gives them, in the order of i: the calls
of its own benchmarks, for fcc nickel. Indices and S of 64 bits; nearfield's have 32."""

import matscipy_neighbours as package
import numpy as np
from cases import Method
from packages.matscipy_neighbours import version

KIND = "images"


def methods(problem, ours):
    cell = np.eye(3) * problem.period
    for letters in problem.letters:
        def run(letters=letters):
            return package.neighbour_list(letters, positions=problem.x("f64"), cell=cell, pbc=True,
                                          cutoff=problem.cutoff)
        yield Method(letters, run, letters, pairs=lambda found, letters=letters: dict(zip(letters, found)), by_i=True)
