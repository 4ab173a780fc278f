"""pytreegrav's octree, compiled by numba: a leaf holds one point, and there are no moments."""

from importlib.metadata import version as version_of

import numpy as np
import pytreegrav
from cases import Method

KIND = "trees"
ONE_THREAD = "it is built on one thread"


def version():
    return f"pytreegrav {version_of('pytreegrav')} (numba {version_of('numba')})"


def order_and_leaves(tree, x):
    """The order of its points is found by their coordinates."""
    kept = tree.Coordinates[:tree.NumParticles]
    ours, theirs = np.lexsort(x.T), np.lexsort(kept.T)
    order = np.zeros(len(x), np.int64)
    if len(kept) == len(x) and np.array_equal(x[ours], kept[theirs]):
        order[theirs] = ours
    return order, tree.NumParticles, 1, 1


def methods(problem, ours):
    for radix in (True, False):
        def run(radix=radix):
            return pytreegrav.ConstructTree(problem.x("f64"), np.ones(problem.n), np.zeros(problem.n),
                                            compute_moments=False, radix=radix)
        yield Method("radix sort" if radix else "insertion", run, "tree",
                     pairs=lambda tree: order_and_leaves(tree, problem.x("f64")))
