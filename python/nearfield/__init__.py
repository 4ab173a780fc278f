"""Neighbour lists and direct sums of near points, on every core.

    >>> import numpy as np, nearfield
    >>> x = np.random.default_rng(1).random((1000, 3))
    >>> i, j, S = nearfield.find_pairs("ijS", x, 0.1, cell=np.eye(3))
    >>> phi = nearfield.p2p("one_over_r", x, np.ones(1000))

Functions of other packages, with their conventions, are in modules of their own: `nearfield.ase`, `nearfield.vesin`,
`nearfield.matscipy`, `nearfield.graphs` (PyTorch Geometric), `nearfield.kdtree` (SciPy) and others; docs/python.md has a
table.
"""

import importlib

from ._core import instruction_set
from ._core import version as _version
from ._pairs import CellList, count_pairs, find_pairs
from ._sums import Interaction, Tree, build_tree, kernels, near_field, near_field_step, p2p
from .ase import neighbor_list, primitive_neighbor_list

__version__ = _version()

_MODULES = frozenset({"ase", "freud", "graphs", "jax", "kdtree", "matscipy", "pymatgen", "rdf", "vesin"})


def __getattr__(name):
    if name in _MODULES:
        return importlib.import_module(f"nearfield.{name}")
    raise AttributeError(f"module 'nearfield' has no attribute {name!r}")


__all__ = [
    "CellList",
    "Interaction",
    "Tree",
    "build_tree",
    "count_pairs",
    "find_pairs",
    "instruction_set",
    "kernels",
    "near_field",
    "near_field_step",
    "neighbor_list",
    "p2p",
    "primitive_neighbor_list",
]
