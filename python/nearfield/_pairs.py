"""Pairs of points within a cutoff."""

import numpy as np

from . import _core
from ._arrays import like, read

_ORDERS = {"cells": 0, "rows": 1, "sorted": 2}
_NO_LIMIT = 2**64 - 1


def _order(name):
    try:
        return _ORDERS[name]
    except (KeyError, TypeError):
        raise ValueError(f"order is {name!r}; give 'cells', 'rows' or 'sorted'") from None


def _systems(batch, n, name, is_indexed):
    """Offsets of the systems of a batch, and the order of its points where systems are mixed.

    A batch is the system of each point, or offsets in a tuple of one: ``(ptr,)``. is_indexed: cutoffs or cells have an
    entry for each system.
    """
    if isinstance(batch, tuple):
        offsets = _integers(batch[0] if len(batch) == 1 else None, name)
        if offsets is None or len(offsets) < 2:
            raise ValueError(f"{name} is a tuple of {len(batch)}; give one array of offsets, from 0 to {n}")
        return offsets, None
    batch = np.asarray(read(batch))
    if batch.shape != (n,) or not (np.issubdtype(batch.dtype, np.integer) or n == 0):
        raise ValueError(f"{name} is {batch.dtype} of shape {batch.shape}; give integers of shape ({n},)")
    if n and (batch.min() < 0 or batch.max() >= 2**32):
        raise ValueError(f"{name} has the systems {batch.min()} to {batch.max()}; give 0 to 4294967295")
    if n and batch.max() > 2 * n + 1000:
        if is_indexed:
            raise ValueError(
                f"{name} has the system {batch.max()}, and there are {n} points; number them from 0"
            )
        batch = np.unique(batch, return_inverse=True)[1]
    counts = np.bincount(batch.astype(np.int64))
    offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    if (batch[1:] < batch[:-1]).any():
        return offsets, np.argsort(batch, kind="stable").astype(np.int64)
    return offsets, None


def _with_systems(offsets, n):
    """Offsets of n systems or more: those behind have no points."""
    return np.append(offsets, np.full(max(n + 1 - len(offsets), 0), offsets[-1]))


def _integers(of, name):
    """A column of int64, or None."""
    if of is None:
        return None
    of = np.asarray(read(of))
    if of.size and not np.issubdtype(of.dtype, np.integer):
        raise TypeError(f"{name} are {of.dtype}; give integers")
    return np.ascontiguousarray(of, np.int64).ravel()


def _lengths(of, name):
    """A column of float64, or None."""
    if of is None:
        return None
    of = np.ascontiguousarray(read(of), np.float64)
    if of.ndim != 1:
        raise ValueError(f"{name} have shape {of.shape}; give one length a point")
    return of


class CellList:
    """Points sorted into cells, for any number of searches.

    Parameters
    ----------
    positions : (n, 2) or (n, 3) array of float32 or float64
        May lie anywhere, also outside the box. Read without a copy; any positive stride.
    cutoff : float
        R, in the unit of the positions. With a batch also (n_systems,).
    queries : (m, dim) array, optional
        Targets i of a search of two sets; `positions` are then the sources j.
    cell : (dim, dim) or (dim,) array, optional
        Vectors of the box, one a row, of either handedness, or lengths. With a batch also (n_systems, dim, dim).
    pbc : bool or (dim,) of bool, optional
        Axes along which the box repeats. Default: all, if there is a cell.
    origin : (dim,) array, optional
        A corner of the box.
    batch : (n,) array of int, or a tuple of one array of offsets, optional
        The system of each point, in any order. Points of different systems are no pair.
    query_batch
        The same of the queries.
    closed : bool
        Whether a pair at the distance of the cutoff counts (r <= R instead of r < R).
    skin : float
        Points stay in their cells until one has moved by half of this; with ``skin_is_each``, by all of it.
    n_threads : int
        0: OMP_NUM_THREADS or all processors of this process.

    Raises
    ------
    ValueError
        For shapes that do not fit, positions or cells that are not finite, and cutoffs that are not positive.
    TypeError
        For arrays of other types.
    """

    def __init__(
        self,
        positions,
        cutoff,
        *,
        queries=None,
        cell=None,
        pbc=None,
        origin=None,
        batch=None,
        query_batch=None,
        closed=False,
        skin=0.0,
        skin_is_each=False,
        n_threads=0,
    ):
        offsets = order = query_offsets = query_order = None
        if batch is None and query_batch is not None:
            raise ValueError("query_batch needs batch, the systems of the positions")
        if batch is not None:
            is_scalar = np.ndim(cutoff) == 0
            cutoff = float(cutoff) if is_scalar else np.ascontiguousarray(read(cutoff), np.float64)
            n_systems = max(
                0 if is_scalar else len(cutoff), len(cell) if cell is not None and np.ndim(cell) == 3 else 0
            )
            offsets, order = _systems(batch, len(positions), "batch", n_systems > 0 or queries is not None)
            if queries is not None:
                if query_batch is None:
                    raise ValueError("a batch of two sets needs query_batch")
                query_offsets, query_order = _systems(query_batch, len(queries), "query_batch", True)
                n_systems = max(n_systems, len(query_offsets) - 1, len(offsets) - 1)
                query_offsets = _with_systems(query_offsets, n_systems)
            offsets = _with_systems(offsets, n_systems)
            if pbc is not None and np.ndim(pbc) == 2:
                pbc = np.ascontiguousarray(pbc, bool)
        if cell is not None:
            cell = np.ascontiguousarray(read(cell), np.float64)
        if origin is not None:
            origin = np.ascontiguousarray(origin, np.float64)
        self._caller = None if type(positions) is np.ndarray else positions
        self._cutoff = cutoff
        self._has_filter = False
        self._cells = _core.Cells(
            read(positions),
            cutoff,
            read(queries),
            cell,
            pbc,
            origin,
            closed,
            skin,
            skin_is_each,
            offsets,
            order,
            query_offsets,
            query_order,
            n_threads,
        )

    def rebuild(self, positions, queries=None):
        """Take other points, or the same ones after they moved; cutoff, box and filter stay."""
        self._cells.rebuild(read(positions), read(queries))

    def update(self, positions, queries=None):
        """Take points that have moved, into the same cells unless the skin no longer covers their moves.

        Moves in the arrays of the constructor are not seen. If the box changes, make a new list.

        Returns
        -------
        bool
            Whether points were sorted again.
        """
        return self._cells.update(read(positions), read(queries))

    def filter(
        self,
        *,
        types=None,
        query_types=None,
        type_cutoffs=None,
        radii=None,
        query_radii=None,
        by="sum",
        excluded=None,
        rows=None,
    ):
        """Leave out pairs of searches from now on, instead of those of the last filter; without arguments, none.

        Parameters
        ----------
        types : (n,) array of int, type_cutoffs : (n_types, n_types) array
            A cutoff for each pair of types, 0 for never.
        radii : (n,) array
            Lengths of points. `by`: the cutoff is their "sum", the "larger", or that of the "own" row i.
        query_types, query_radii
            The same of the queries.
        excluded : (m, 2) array of int, or (offsets, points)
            Pairs (i, j) that never count, such as bonds; one direction is enough. Or as the rows of a sparse matrix,
            ``(matrix.indptr, matrix.indices)``.
        rows : array of int, or (n,) of bool
            The points whose pairs are wanted.
        """
        ways = {"sum": 0, "larger": 1, "own": 2}
        if by not in ways:
            raise ValueError(f"by is {by!r}; give 'sum', 'larger' or 'own'")
        if rows is not None and np.asarray(rows).dtype == bool:
            if np.shape(rows) != (self._cells.n_targets,):
                raise ValueError(f"rows are flags of shape {np.shape(rows)}; give ({self._cells.n_targets},)")
            rows = np.flatnonzero(rows)
        offsets, points = self._rows_of(excluded)
        self._cells.filter(
            _integers(types, "types"),
            _integers(query_types, "query_types"),
            None if type_cutoffs is None else np.ascontiguousarray(read(type_cutoffs), np.float64).ravel(),
            _lengths(radii, "radii"),
            _lengths(query_radii, "query_radii"),
            ways[by],
            offsets,
            points,
            _integers(rows, "rows"),
        )
        self._has_filter = any(of is not None for of in (types, radii, excluded, rows))

    def _rows_of(self, excluded):
        """Offsets and points of pairs, or of what has these."""
        if excluded is None:
            return None, None
        if isinstance(excluded, tuple):
            if len(excluded) != 2 or excluded[0] is None or excluded[1] is None or not len(excluded[0]):
                raise ValueError(
                    f"excluded has {len(excluded)} arrays; give (offsets, points), or pairs (m, 2)"
                )
            return tuple(_integers(of, "excluded") for of in excluded)
        pairs = np.asarray(read(excluded))
        if pairs.ndim != 2 or pairs.shape[1] != 2:
            raise ValueError(f"excluded has shape {pairs.shape}; give pairs (m, 2), or (offsets, points)")
        n = self._cells.n_targets
        i, j = _integers(pairs[:, 0], "excluded"), _integers(pairs[:, 1], "excluded")
        if len(i) and not 0 <= i.min() <= i.max() < n:
            raise ValueError(f"excluded has the points {i.min()} to {i.max()}; give 0 to {n - 1}")
        offsets = np.zeros(n + 1, np.int64)
        np.cumsum(np.bincount(i, minlength=n), out=offsets[1:])
        return offsets, np.ascontiguousarray(j[np.argsort(i, kind="stable")])

    def count(self, *, half=False):
        """The number of pairs."""
        return self._cells.count(half)

    def counts(self, *, half=False):
        """The number of pairs of each target: (n,) array of uint32."""
        return self._to_caller(self._cells.counts(half))

    def histogram(self, r_max, n_bins, *, half=False):
        """The number of pairs by distance: bin b has r in [b, b + 1) r_max / n_bins; (n_bins,) array of int64.

        r_max is at most the cutoff.
        """
        if r_max > np.min(self._cutoff):
            raise ValueError(f"r_max is {r_max}; give at most {np.min(self._cutoff)}, the cutoff of the list")
        return self._to_caller(self._cells.histogram(r_max, n_bins, half))

    def find(self, quantities="ij", *, half=False, order="rows", index="int64", max_bytes=None):
        """Find pairs; see `find_pairs`."""
        limit = _NO_LIMIT if max_bytes is None else max_bytes
        return self._to_caller(self._cells.find(quantities, half, _order(order), index, limit))

    def _to_caller(self, result):
        return result if self._caller is None else like(self._caller, result)


def find_pairs(
    quantities,
    positions,
    cutoff,
    *,
    cell=None,
    pbc=None,
    origin=None,
    queries=None,
    batch=None,
    query_batch=None,
    half=False,
    order="rows",
    index="int64",
    closed=False,
    n_threads=0,
    max_bytes=None,
):
    """Find all pairs (i, j, S) with |x_j + S cell - x_i| < cutoff.

    Parameters
    ----------
    quantities : str
        Letters of what is wanted, in the order of the result: ``i`` and ``j``, indices of targets and sources; ``P``, both
        as (m, 2); ``d``, the distance; ``D`` = x_j + S cell - x_i, (m, dim); ``S``, the image of j, (m, dim) of int32;
        ``o``, offsets of the rows of i, (n + 1,) of uint64.
    positions, cutoff, cell, pbc, origin, queries, batch, query_batch, closed, n_threads
        See `CellList`.
    half : bool
        One of (i, j, S) and (j, i, -S) instead of both.
    order : {"rows", "cells", "sorted"}
        By i, by cell (the fastest), or by i and j.
    index : {"int64", "int32", "uint64", "uint32"}
        The type of indices.
    max_bytes : int, optional
        A larger result raises MemoryError before it is made. Default: half of the free memory.

    Returns
    -------
    array or tuple of arrays
        One for each letter. Lengths have the type of the positions.

    Examples
    --------
    >>> nearfield.find_pairs("ijd", np.array([[0.0, 0, 0], [0, 0, 1], [0, 0, 3]]), 1.5)
    (array([0, 1]), array([1, 0]), array([1., 1.]))
    """
    if batch is not None or query_batch is not None:
        cells = CellList(
            positions,
            cutoff,
            cell=cell,
            pbc=pbc,
            origin=origin,
            queries=queries,
            batch=batch,
            query_batch=query_batch,
            closed=closed,
            n_threads=n_threads,
        )
        return cells.find(quantities, half=half, order=order, index=index, max_bytes=max_bytes)
    if cell is not None and type(cell) is not np.ndarray:
        cell = np.asarray(read(cell), np.float64)
    if origin is not None:
        origin = np.ascontiguousarray(origin, np.float64)
    is_numpy = type(positions) is np.ndarray
    found = _core.pairs(
        quantities,
        positions if is_numpy else read(positions),
        cutoff,
        cell,
        pbc,
        half,
        _order(order),
        index,
        closed,
        n_threads,
        read(queries),
        origin,
        _NO_LIMIT if max_bytes is None else max_bytes,
    )
    return found if is_numpy else like(positions, found)


def count_pairs(positions, cutoff, *, half=False, **options):
    """The number of pairs that `find_pairs` finds; options as `CellList`."""
    return CellList(positions, cutoff, **options).count(half=half)
