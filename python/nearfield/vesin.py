"""Neighbour lists with the calls of vesin, on the CPU."""

from functools import lru_cache

import numpy as np

from . import _core
from ._pairs import CellList
from .ase import neighbor_list as ase_neighbor_list

__all__ = ["NeighborList", "ase_neighbor_list"]


@lru_cache(maxsize=64)
def _letters(quantities, is_full, needs_images):
    """What to ask the library for: each letter once, P without i and j, and what a half list is chosen by."""
    wanted = set(quantities)
    if not wanted <= set("ijPSdD"):
        raise ValueError(f"quantities are {quantities!r}; give letters of 'ijPSdD'")
    if not is_full:
        wanted |= set("ij")
        if needs_images:
            wanted.add("S")
    if "P" in wanted:
        wanted -= set("ij")
    return quantities if len(wanted) == len(quantities) and wanted == set(quantities) else "".join(wanted)


def _indices(found):
    return found["P"].T if "P" in found else (found["i"], found["j"])


def _half(found, is_sorted):
    """The half of pairs with i < j, or i = j and a positive sum of S, or that 0 and a positive last value.

    A sorted list comes with both of (i, j, S) and (j, i, -S), another with one.
    """
    i, j = _indices(found)
    is_other = i > j
    own = np.flatnonzero(i == j)
    if len(own) and "S" in found:
        x, y, z = found["S"][own].T
        total = x + y + z
        is_other[own] = (total < 0) | ((total == 0) & ((z < 0) | ((z == 0) & (y < 0))))
    if is_sorted:
        kept = np.flatnonzero(~is_other)
        return {letter: values.take(kept, axis=0) for letter, values in found.items()}
    for letter in "SD":
        if letter in found:
            np.negative(found[letter], out=found[letter], where=is_other[:, None])
    if "P" in found:
        found["P"].sort(axis=1)
    else:
        found["i"], found["j"] = np.minimum(i, j), np.maximum(i, j)
    return found


class NeighborList:
    """A neighbour list of points in a box.

    Parameters
    ----------
    cutoff : float
        R: pairs with d < R count.
    full_list : bool
        Each pair as (i, j, S) and (j, i, -S), or one of them: i < j, or i = j and a positive sum of S.
    sorted : bool
        Whether pairs are sorted by i.
    algorithm : {"auto", "brute_force", "cell_list"}
        Has no effect.
    skin : float
        Points stay in their cells until one moves by half of this. Pairs are always those within the cutoff.
    n_threads : int
        0: OMP_NUM_THREADS or all processors of this process.
    """

    def __init__(self, *, cutoff, full_list, sorted=False, algorithm="auto", skin=0.0, n_threads=0):
        if algorithm.lower() not in ("auto", "brute_force", "cell_list"):
            raise ValueError(f"algorithm is {algorithm!r}; give 'auto', 'brute_force' or 'cell_list'")
        if n_threads < 0:
            raise ValueError(f"n_threads is {n_threads}; give 0 or more")
        if not skin >= 0:
            raise ValueError(f"skin is {skin}; give 0 or more")
        self.cutoff = float(cutoff)
        self.full_list = bool(full_list)
        self.sorted = bool(sorted)
        self.algorithm = algorithm
        self.skin = float(skin)
        self.n_threads = int(n_threads)
        self._cells = self._made_for = None

    def compute(self, points, box, periodic, quantities="ij", copy=True):
        """Find the pairs.

        Parameters
        ----------
        points : (n, 3) array
            May lie anywhere.
        box : (3, 3) array
            Vectors, one a row. Those of open axes have no effect.
        periodic : bool or (3,) of bool
            Axes along which the box repeats.
        quantities : str
            Letters of what is wanted, in the order of the result: ``i`` and ``j``, indices, (m,) of uint64;
            ``P``, both as (m, 2); ``d``, the distance; ``D`` = x_j + S box - x_i, (m, 3); ``S``, the image of
            j, (m, 3) of int32.
        copy
            Has no effect: arrays are the caller's.

        Returns
        -------
        tuple of arrays
            One for each letter. Lengths are float64, or float32 if the points are.

        Raises
        ------
        ValueError
            For shapes that do not fit, a cutoff that is not positive, and letters that are none of these.
        """
        points, box = np.asarray(points), np.asarray(box)
        if points.ndim != 2 or points.shape[1] != 3:
            raise ValueError(f"points have shape {points.shape}; give (n, 3)")
        if box.shape != (3, 3):
            raise ValueError(f"box has shape {box.shape}; give (3, 3)")
        real = points.dtype
        if real != np.float64:
            points = points.astype(np.float64)
        if box.dtype != np.float64:
            box = box.astype(np.float64)
        if isinstance(periodic, np.bool_):
            periodic = bool(periodic)
        is_full, is_sorted = self.full_list, self.sorted
        needs_images = not is_full and (is_sorted or "D" in quantities) and np.any(periodic)
        letters = _letters(quantities, is_full, needs_images)
        half = not (is_full or is_sorted)
        if self.skin > 0:
            order = "rows" if is_sorted else "cells"
            found = self._cells_at(points, box, periodic).find(
                letters, half=half, order=order, index="uint64"
            )
        else:
            found = _core.pairs(
                letters,
                points,
                self.cutoff,
                box,
                periodic,
                half,
                1 if is_sorted else 0,
                "uint64",
                False,
                self.n_threads,
            )
        if len(letters) == 1:
            found = (found,)
        if is_full and letters is quantities and real == np.float64:
            return found
        found = dict(zip(letters, found))
        if not is_full:
            found = _half(found, is_sorted)
        if "P" in found:
            found["i"], found["j"] = (np.ascontiguousarray(of) for of in _indices(found))
        if real.kind == "f":
            for letter in found.keys() & {"d", "D"}:
                found[letter] = found[letter].astype(real, copy=False)
        return tuple(found[letter] for letter in quantities)

    def _cells_at(self, points, box, periodic):
        """Cells with these points; the last ones, if nothing else has changed."""
        flags = periodic if isinstance(periodic, bool) else tuple(periodic)
        made_for = (self.cutoff, self.skin, self.n_threads, len(points), box.tobytes(), flags)
        if made_for == self._made_for:
            self._cells.update(points)
        else:
            self._cells = CellList(
                points, self.cutoff, cell=box, pbc=periodic, skin=self.skin, n_threads=self.n_threads
            )
            self._made_for = made_for
        return self._cells
