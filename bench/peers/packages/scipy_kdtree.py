"""SciPy's cKDTree. query_pairs runs on one thread; query_ball_point, which has threads, makes lists of Python."""

import scipy
from cases import Method
from scipy.spatial import cKDTree

KIND = "searches"
ONE_THREAD = "query_pairs has one thread"


def version():
    return "scipy " + scipy.__version__


def methods(problem, ours):
    for leaf in (8, 16):
        for balanced, compact in ((True, True), (False, False)):
            def run(leaf=leaf, balanced=balanced, compact=compact):
                tree = cKDTree(problem.x("f64"), leafsize=leaf, balanced_tree=balanced, compact_nodes=compact,
                               boxsize=problem.period or None)
                return tree.query_pairs(problem.cutoff, output_type="ndarray")
            settings = f"leafsize {leaf}" + ("" if balanced else ", neither balanced nor compact")
            yield Method(settings, run, "half", pairs=lambda found: (found[:, 0], found[:, 1]))
