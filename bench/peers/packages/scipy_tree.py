"""The k-d tree of SciPy, built and no more. Ours beside it is an octree with the lists of who meets whom."""

import scipy
from cases import Method
from scipy.spatial import cKDTree

KIND = "trees"
ONE_THREAD = "it is built on one thread"
LEAF = 64


def version():
    return "scipy " + scipy.__version__


def leaves(node):
    """(number of leaves, points of the largest)"""
    if node.split_dim == -1:
        return 1, node.children
    a, b = leaves(node.lesser), leaves(node.greater)
    return a[0] + b[0], max(a[1], b[1])


def order_and_leaves(tree):
    return (tree.indices, *leaves(tree.tree), LEAF)


def methods(problem, ours):
    for balanced, compact in ((True, True), (False, True), (False, False)):
        def run(balanced=balanced, compact=compact):
            return cKDTree(problem.x("f64"), leafsize=LEAF, balanced_tree=balanced, compact_nodes=compact)
        names = [name for name, on in (("balanced", balanced), ("compact", compact)) if on]
        yield Method(f"leafsize {LEAF}, " + (" and ".join(names) or "neither balanced nor compact"), run, "tree",
                     pairs=order_and_leaves)
