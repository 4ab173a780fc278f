"""Neighbour lists with the calls of ase.neighborlist, and `install()` to have ASE use them."""

import sys
from contextlib import ExitStack

import numpy as np

from . import _core
from ._pairs import CellList

_LETTERS = frozenset("ijdDS")
_NO_POINTS = np.zeros((0, 3))


def _atomic_number(element):
    if not isinstance(element, str):
        return element
    from ase.data import atomic_numbers

    try:
        return atomic_numbers[element]
    except KeyError:
        raise ValueError(f"cutoff has the element {element!r}; give symbols or atomic numbers") from None


def _cutoff_and_filter(cutoff, numbers):
    """The largest cutoff, and the arguments of CellList.filter that make others smaller, if any."""
    if isinstance(cutoff, dict):
        if numbers is None:
            return max(cutoff.values()), None
        elements = np.flatnonzero(np.bincount(numbers))
        type_of = {element: k for k, element in enumerate(elements.tolist())}
        matrix = np.zeros((len(elements), len(elements)))
        for pair, length in cutoff.items():
            a, b = (type_of.get(_atomic_number(element)) for element in pair)
            if a is not None and b is not None:
                matrix[a, b] = matrix[b, a] = length
        return matrix.max(), {"types": np.searchsorted(elements, numbers), "type_cutoffs": matrix}
    cutoff = np.asarray(cutoff, np.float64)
    if cutoff.ndim == 0:
        return float(cutoff), None
    if cutoff.ndim == 2:
        return cutoff.max(), {"types": numbers, "type_cutoffs": cutoff}
    return 2 * cutoff.max(), {"radii": cutoff}


def _find(quantities, positions, cutoff, cell, pbc, numbers, self_interaction=False):
    """Pairs in rows of i. cutoff: one, {(element, element): cutoff}, a matrix of them by number, or radii."""
    if not _LETTERS.issuperset(quantities):
        raise ValueError(f"quantities are {quantities!r}; give letters of 'ijdDS'")
    positions = np.asarray(positions, np.float64)
    filters = None
    if not len(positions):
        positions = _NO_POINTS
        cutoff = 0.0
    elif not isinstance(cutoff, float):
        cutoff, filters = _cutoff_and_filter(cutoff, numbers)
    if cutoff == 0:
        positions, cutoff, cell, pbc, filters = _NO_POINTS, 1.0, None, None, None
    queries = positions if self_interaction else None  # two sets, whose pairs (i, i) count
    if filters is None:
        found = _core.pairs(quantities, positions, cutoff, cell, pbc, False, 1, "int64", False, 0, queries)
    else:
        cells = CellList(positions, cutoff, queries=queries, cell=cell, pbc=pbc)
        if self_interaction:
            filters |= {"query_" + name: filters[name] for name in ("types", "radii") if name in filters}
        cells.filter(**filters)
        found = cells.find(quantities)
    if "S" not in quantities:
        return found
    if len(quantities) == 1:
        return found.astype(np.int64)
    k = quantities.index("S")
    return (*found[:k], found[k].astype(np.int64), *found[k + 1 :])


def neighbor_list(quantities, a, cutoff, self_interaction=False, max_nbins=1e6):
    """Find the pairs of atoms within a cutoff; ase.neighborlist.neighbor_list.

    Parameters
    ----------
    quantities : str
        Letters of what is wanted, in the order of the result: ``i`` and ``j``, indices, (m,) of int64; ``d``,
        the distance, (m,) of float64; ``D`` = x_j + S cell - x_i, (m, 3) of float64; ``S``, the image of j,
        (m, 3) of int64.
    a : ase.Atoms
    cutoff : float, dict or (n,) array
        R: pairs with d < R count. ``{(element, element): R}``, by symbols or atomic numbers: no others. An
        array: radii r, and R is r_i + r_j.
    self_interaction : bool
        Whether an atom is its own neighbour. Its images are in any case.
    max_nbins
        Has no effect.

    Returns
    -------
    array or tuple of arrays
        One for each letter; pairs as (i, j, S) and (j, i, -S), by i.

    Raises
    ------
    ValueError
        For a cutoff that is negative or not finite, letters that are none of these, and unknown elements.
    """
    cell = a.cell.array
    if not all(map(any, cell.tolist())):
        cell = a.cell.complete().array
    return _find(quantities, a.positions, cutoff, cell, a.pbc, a.numbers, self_interaction)


def primitive_neighbor_list(
    quantities,
    pbc,
    cell,
    positions,
    cutoff,
    numbers=None,
    self_interaction=False,
    use_scaled_positions=False,
    max_nbins=1e6,
):
    """Find the pairs of points within a cutoff; ase.neighborlist.primitive_neighbor_list.

    Parameters
    ----------
    pbc : bool or (3,) of bool
        Axes along which the cell repeats.
    cell : (3, 3) array
        Vectors of the cell, one a row. Open axes may have zeros.
    positions : (n, 3) array
        May lie anywhere. With `use_scaled_positions` in units of the vectors of the cell.
    numbers : (n,) array of int, optional
        Atomic numbers, for a dict as the cutoff. Without them its largest value counts for all.
    quantities, cutoff, self_interaction, max_nbins
        See `neighbor_list`, also for what is returned and raised.
    """
    cell = np.asarray(cell, np.float64)
    if use_scaled_positions and len(positions):
        positions = positions @ cell
    return _find(quantities, positions, cutoff, cell, pbc, numbers, self_interaction)


def _build(self, pbc, cell, coordinates):
    """In the place of ase.neighborlist.PrimitiveNeighborList.build, which loops over atoms and images."""
    n = len(coordinates)
    if len(self.cutoffs) != n:
        raise ValueError(f"cutoffs has {len(self.cutoffs)} values; give {n}")
    self.pbc, self.cell, self.coordinates = np.array(pbc), np.array(cell), np.array(coordinates)
    i, j, S = primitive_neighbor_list(
        "ijS",
        pbc,
        cell,
        self.coordinates,
        self.cutoffs,
        self_interaction=self.self_interaction,
        use_scaled_positions=self.use_scaled_positions,
    )
    if self.sorted:
        kept = np.lexsort((*S.T[::-1], j, i))
        i, j, S = i[kept], j[kept], S[kept]
    if not self.bothways:
        m = 2 * np.abs(S).max(initial=0) + 1
        kept = np.flatnonzero((i < j) | ((i == j) & (S @ [m * m, m, 1] >= 0)))
        i, j, S = i[kept], j[kept], S[kept]
    ends = np.searchsorted(i, np.arange(1, n))
    self.neighbors, self.displacements = (np.split(of, ends) if n else [] for of in (j, S))
    self.nupdates += 1


_replaced = {}


def _swap(functions):
    """Puts others in the place of functions, in ASE's modules that are imported."""
    owners = [module for name, module in sys.modules.items() if name.partition(".")[0] == "ase"]
    for owner in (*owners, sys.modules["ase.neighborlist"].PrimitiveNeighborList):
        for name, value in list(vars(owner).items()):
            for old, new in functions:
                if value is old:
                    setattr(owner, name, new)


def install():
    """Have ASE use nearfield: its neighbour lists are these from now on, in all of its modules.

    Returns
    -------
    contextlib.ExitStack
        Calls `uninstall()` at the end of a with block, unless nearfield was in use before.

    Examples
    --------
    >>> with nearfield.ase.install():
    ...     energy = atoms.get_potential_energy()
    """
    import ase.neighborlist as theirs

    stack = ExitStack()
    if not _replaced:
        _replaced.update(
            {
                neighbor_list: theirs.neighbor_list,
                primitive_neighbor_list: theirs.primitive_neighbor_list,
                _build: theirs.PrimitiveNeighborList.build,
            }
        )
        _swap([(old, new) for new, old in _replaced.items()])
        stack.callback(uninstall)
    return stack


def uninstall():
    """Undo `install()`."""
    if _replaced:
        _swap(list(_replaced.items()))
        _replaced.clear()
