"""Neighbour lists with the calls of matscipy.neighbours and matscipy_neighbours, on the CPU."""

import numpy as np

from .ase import _find


def _system(atoms, cutoff, positions, cell, pbc, numbers, cell_origin):
    """Arguments of _find after the quantities."""
    if cutoff is None:
        raise ValueError("cutoff is None; give a length, a dict, radii, or a matrix by number")
    if atoms is not None:
        if any(of is not None for of in (positions, cell, pbc, numbers, cell_origin)):
            raise ValueError("atoms: give these, or positions, cell, pbc, numbers and cell_origin")
        return atoms.positions, cutoff, atoms.cell.array, atoms.pbc, atoms.numbers
    if positions is None:
        raise ValueError("positions is None; give atoms or positions")
    if pbc is None:
        pbc = False
    elif cell is None and np.any(pbc):
        raise ValueError(f"pbc is {pbc}, and cell is None; give the vectors of the cell")
    if cell is not None:
        cell = np.asarray(cell, np.float64)
    if numbers is None and not isinstance(cutoff, float):
        numbers = np.ones(len(positions), np.int64)
    return positions, cutoff, cell, pbc, numbers


def neighbour_list(
    quantities,
    atoms=None,
    cutoff=None,
    positions=None,
    cell=None,
    pbc=None,
    numbers=None,
    cell_origin=None,
):
    """Find the pairs of atoms within a cutoff.

    Parameters
    ----------
    quantities : str
        Letters of what is wanted, in the order of the result: ``i`` and ``j``, indices, (m,) of int64; ``d``,
        the distance, (m,) of float64; ``D`` = x_j + S cell - x_i, (m, 3) of float64; ``S``, the image of j,
        (m, 3) of int64.
    atoms : ase.Atoms, optional
        Or what follows `cutoff`.
    cutoff : float, dict, (n,) or (k, k) array
        R: pairs with d < R count. ``{(element, element): R}``, by symbols or atomic numbers: no others. An
        array of one axis: radii r, and R is r_i + r_j. Of two: R by the numbers of both.
    positions : (n, 3) array
        May lie anywhere.
    cell : (3, 3) array, optional
        Vectors of the cell, one a row. Open axes may have zeros.
    pbc : bool or (3,) of bool, optional
        Axes along which the cell repeats. Default: none.
    numbers : (n,) array of int, optional
        Atomic numbers. Default: ones.
    cell_origin
        Has no effect: no pair depends on it.

    Returns
    -------
    array or tuple of arrays
        One for each letter; pairs as (i, j, S) and (j, i, -S), by i.

    Raises
    ------
    ValueError
        For a cutoff that is negative or not finite, letters that are none of these, unknown elements, and a
        periodic axis without a vector.
    """
    return _find(quantities, *_system(atoms, cutoff, positions, cell, pbc, numbers, cell_origin))


def coordination(
    atoms=None, cutoff=None, *, positions=None, cell=None, pbc=None, numbers=None, cell_origin=None
):
    """The number of neighbours of each atom: (n,) array of int64. Parameters: `neighbour_list`."""
    system = _system(atoms, cutoff, positions, cell, pbc, numbers, cell_origin)
    return np.bincount(_find("i", *system), minlength=len(system[0]))


def neighbour_matrix(
    atoms=None,
    cutoff=None,
    max_neighbours=None,
    *,
    positions=None,
    cell=None,
    pbc=None,
    numbers=None,
    cell_origin=None,
):
    """Find the neighbours of each atom, as rows of one length. Parameters: `neighbour_list`.

    Returns
    -------
    j : (n, max_neighbours) array of int64
    D : (n, max_neighbours, 3) array of float64
    count : (n,) array of int64
        Row i has count[i] neighbours, and zeros behind them.

    Raises
    ------
    ValueError
        If an atom has more neighbours than `max_neighbours`.
    """
    system = _system(atoms, cutoff, positions, cell, pbc, numbers, cell_origin)
    if max_neighbours is None:
        raise ValueError("max_neighbours is None; give the length of rows")
    i, j, D = _find("ijD", *system)
    n = len(system[0])
    count = np.bincount(i, minlength=n)
    if count.max(initial=0) > max_neighbours:
        raise ValueError(
            f"max_neighbours is {max_neighbours}, and atom {count.argmax()} has {count.max()} neighbours; "
            f"give at least {count.max()}"
        )
    rows = np.arange(max_neighbours) < count[:, None]
    all_j, all_D = np.zeros(rows.shape, np.int64), np.zeros((*rows.shape, 3))
    all_j[rows], all_D[rows] = j, D
    return all_j, all_D, count


def first_neighbours(n, i):
    """Where the neighbours of each of n atoms begin in a list by i: (n + 1,) array of int64."""
    return np.searchsorted(i, np.arange(n + 1))


def triplet_list(first_neighbours, abs_dr_p=None, cutoff=None):
    """Find the pairs of pairs that have the first atom in common.

    Parameters
    ----------
    first_neighbours : (n + 1,) array of int
        Where the pairs of each atom begin.
    abs_dr_p : (m,) array, cutoff : float, optional
        Distances of pairs: those below the cutoff count.

    Returns
    -------
    ij, ik : (k,) arrays of int64
        Numbers of two different pairs, in both orders.
    """
    if (abs_dr_p is None) != (cutoff is None):
        raise ValueError("abs_dr_p and cutoff: give both or none")
    first = np.asarray(first_neighbours, np.int64)
    pairs = np.arange(first[-1])
    if cutoff is not None:
        pairs = np.flatnonzero(np.asarray(abs_dr_p) < cutoff)
        first = np.searchsorted(pairs, first)
    count = np.diff(first)
    per_pair = np.repeat(count, count)  # triplets of each pair, and itself
    ij = np.repeat(np.arange(len(pairs)), per_pair)
    start = np.repeat(first[:-1], count) - (np.cumsum(per_pair) - per_pair)
    ik = np.arange(len(ij)) + np.repeat(start, per_pair)
    others = ij != ik
    return pairs[ij[others]], pairs[ik[others]]


def _reduced(vectors):
    """Vectors of the same lattice that no others make shorter, and the steps to all points around one."""
    vectors = vectors.copy()
    n = len(vectors)
    steps = np.indices((3,) * n).reshape(n, -1).T - 1
    is_done = False
    while not is_done:
        is_done = True
        for k in range(n):
            others = np.delete(vectors, k, axis=0)
            nearest = vectors[k] - np.rint(vectors[k] @ np.linalg.pinv(others)) @ others
            candidates = nearest + np.delete(steps[steps[:, k] == 0], k, axis=1) @ others
            squares = np.einsum("ij,ij->i", candidates, candidates)
            if squares.min() < (1 - 1e-12) * (vectors[k] @ vectors[k]):
                vectors[k] = candidates[squares.argmin()]
                is_done = False
    return vectors, steps


def mic(dr, cell, pbc=None):
    """The shortest of the vectors that differ by vectors of a periodic cell.

    Parameters
    ----------
    dr : (n, 3) array
    cell : (3, 3) array
        Vectors of the cell, one a row.
    pbc : bool or (3,) of bool, optional
        Axes along which the cell repeats. Default: all.

    Returns
    -------
    (n, 3) array of float64
    """
    dr = np.array(dr, np.float64)
    vectors = np.asarray(cell, np.float64)[np.broadcast_to(True if pbc is None else np.asarray(pbc, bool), 3)]
    if not len(vectors):
        return dr
    vectors, steps = _reduced(vectors)
    dr -= np.rint(dr @ np.linalg.pinv(vectors)) @ vectors
    best, shortest = dr.copy(), np.einsum("ij,ij->i", dr, dr)
    for shift in steps @ vectors:
        moved = dr + shift
        squares = np.einsum("ij,ij->i", moved, moved)
        nearer = squares < shortest
        best[nearer], shortest[nearer] = moved[nearer], squares[nearer]
    return best
