"""`scipy.spatial.cKDTree` and the radius searches of scikit-learn, in 2 and 3 dimensions.

Balls are closed: a point at the distance r counts. Results are exact: `eps` is unused, and `p` must be 2.
There is no tree: each call sorts the points into cells of the size of r, in linear time. So ask for many
points in one call, not for one point in each of many.
"""

import functools
import itertools
import math
import operator

import numpy as np

from ._pairs import CellList

# The square of a shorter length is no normal number.
_SHORTEST = 1.5e-154
_MATRIX_SIZE = 1 << 20
_PAIRS_AT_ONCE = 1 << 22


def _points(of, name, dim=None):
    of = np.ascontiguousarray(of, np.float64)
    if of.ndim < 1 or of.shape[-1] not in ((2, 3) if dim is None else (dim,)):
        raise ValueError(f"{name} has shape {of.shape}; give {dim or '2 or 3'} values a point")
    return of


def _euclidean(p):
    if p != 2:
        raise ValueError(f"p is {p}; only p = 2, the Euclidean distance, is there")


def _threads(workers):
    return 0 if workers == -1 else workers


def _slices(of, offsets):
    ends = offsets.tolist()
    return [of[first:last] for first, last in itertools.pairwise(ends)]


def _objects(items):
    return np.fromiter(items, object, len(items))


class KDTree:
    """Points to search around, as `scipy.spatial.cKDTree`.

    Parameters
    ----------
    data : (n, 2) or (n, 3) array
        Taken as float64.
    boxsize : float or (dim,) array, optional
        Periods; 0 for an axis without. A pair of points counts once, at the distance of its nearest images.
    leafsize, compact_nodes, balanced_tree
        Unused.
    copy_data : bool
        Whether to copy `data` even if it is contiguous.
    n_threads : int
        For calls that have no `workers`. 0: OMP_NUM_THREADS or all processors of this process.

    Raises
    ------
    ValueError
        Here for shapes that do not fit; in each call for negative radii, p other than 2, and points that are
        not finite.
    """

    def __init__(
        self,
        data,
        leafsize=16,
        compact_nodes=True,
        copy_data=False,
        balanced_tree=True,
        boxsize=None,
        *,
        n_threads=0,
    ):
        data = _points(data, "data")
        if data.ndim != 2:
            raise ValueError(f"data has shape {data.shape}; give (n, 2) or (n, 3)")
        self.data = data.copy() if copy_data else data
        self.n, self.m = data.shape
        self.leafsize = leafsize
        self.boxsize = self._pbc = self._cell = None
        if boxsize is not None:
            self.boxsize = np.broadcast_to(np.asarray(boxsize, np.float64), self.m).copy()
            if not (self.boxsize >= 0).all():
                raise ValueError(f"boxsize is {boxsize}; give periods, and 0 for axes without")
            self._pbc = self.boxsize > 0
            self._cell = np.where(self._pbc, self.boxsize, 1)
        self._n_threads = n_threads

    @functools.cached_property
    def mins(self):
        return self.data.min(axis=0, initial=math.inf)

    @functools.cached_property
    def maxes(self):
        return self.data.max(axis=0, initial=-math.inf)

    def _box_with(self, other):
        return KDTree(other.data, boxsize=self.boxsize, n_threads=self._n_threads)

    def _farthest(self, queries):
        """No point is farther from a query."""
        if self.n + len(queries) == 0:
            return _SHORTEST
        extents = np.maximum(self.maxes, queries.max(axis=0, initial=-math.inf))
        extents -= np.minimum(self.mins, queries.min(axis=0, initial=math.inf))
        if not np.isfinite(extents).all():
            raise ValueError("points are not all finite")
        if self.boxsize is not None:
            extents = np.where(self._pbc, self.boxsize / 2, extents)
        return max(math.sqrt(extents @ extents) * (1 + 1e-9), _SHORTEST)

    def _reach(self, r, queries):
        """A cutoff that finds what r finds, and is neither 0 nor infinite, nor longer than a box needs."""
        if not r >= 0:
            raise ValueError(f"r is {r}; give a length of 0 or more")
        if self.boxsize is None and _SHORTEST < r < 1e150:
            return float(r)
        return max(min(float(r), self._farthest(queries)), _SHORTEST)

    def _cells(self, queries, reach, n_threads):
        return CellList(
            self.data,
            reach,
            queries=queries,
            cell=self._cell,
            pbc=self._pbc,
            closed=True,
            n_threads=n_threads,
        )

    def _has_images(self, reach):
        """Whether a search may find several images of a pair."""
        return self.boxsize is not None and 2 * reach >= self.boxsize[self._pbc].min(initial=math.inf)

    def _find(self, cells, letters, reach, n_rows, order="sorted"):
        """Columns of pairs, of which each counts once."""
        if not self._has_images(reach):
            return cells.find(letters, order=order)
        i, j, d = cells.find("ijd")
        by_distance = np.lexsort((d, j, i))
        i, j, d = i[by_distance], j[by_distance], d[by_distance]
        nearest = np.ones(len(i), bool)
        nearest[1:] = (i[1:] != i[:-1]) | (j[1:] != j[:-1])
        columns = {"i": i[nearest], "j": j[nearest], "d": d[nearest]}
        columns["o"] = np.searchsorted(columns["i"], np.arange(n_rows + 1))
        return columns[letters] if len(letters) == 1 else tuple(columns[letter] for letter in letters)

    def _counts(self, cells, reach, n_rows):
        if not self._has_images(reach):
            return cells.counts().astype(np.intp)
        return np.diff(self._find(cells, "o", reach, n_rows))

    def query_pairs(self, r, p=2.0, eps=0, output_type="set"):
        """Find pairs i < j of points at a distance of at most r.

        Parameters
        ----------
        r : float
        output_type : {"set", "ndarray"}

        Returns
        -------
        set of tuple, or (n_pairs, 2) array of int64
        """
        _euclidean(p)
        if output_type not in ("set", "ndarray"):
            raise ValueError(f"output_type is {output_type!r}; give 'set' or 'ndarray'")
        reach = self._reach(r, self.data[:0])
        cells = self._cells(None, reach, self._n_threads)
        if self._has_images(reach):
            i, j = self._find(cells, "ij", reach, self.n)
            i, j = i[i < j], j[i < j]
        else:
            i, j = cells.find("ij", half=True, order="cells")
        if output_type == "set":
            return set(zip(np.minimum(i, j).tolist(), np.maximum(i, j).tolist(), strict=True))
        pairs = np.empty((len(i), 2), np.intp)
        np.minimum(i, j, out=pairs[:, 0])
        np.maximum(i, j, out=pairs[:, 1])
        return pairs

    def query_ball_point(self, x, r, p=2.0, eps=0, workers=1, return_sorted=None, return_length=False):
        """Find the points at a distance of at most r from x.

        Parameters
        ----------
        x : (..., dim) array
        r : float or array that fits x.shape[:-1]
        workers : int
            Threads; -1: OMP_NUM_THREADS or all processors of this process.
        return_sorted : bool, optional
            Whether to sort each list. Default: if there are several.
        return_length : bool
            The numbers of points instead of lists.

        Returns
        -------
        list of int, or (...) array of lists, or int or (...) array of int64
        """
        _euclidean(p)
        x = _points(x, "x", self.m)
        shape = x.shape[:-1]
        queries = x.reshape(-1, self.m)
        radii = np.broadcast_to(np.asarray(r, np.float64), shape).ravel() if np.ndim(r) else None
        if radii is None:
            reach = self._reach(r, queries)
        elif len(radii):
            self._reach(radii.min(), queries)
            reach = self._reach(radii.max(), queries)
        else:
            reach = _SHORTEST
        cells = self._cells(queries, reach, _threads(workers))
        if radii is not None and len(radii) and self.n:
            radii = np.clip(radii, _SHORTEST, reach)
            cells.filter(radii=np.zeros(self.n), query_radii=radii, by="own")
        if return_length:
            return self._counts(cells, reach, len(queries)).reshape(shape)[()]
        is_sorted = bool(shape) if return_sorted is None else return_sorted
        offsets, j = self._find(cells, "oj", reach, len(queries), "sorted" if is_sorted else "rows")
        lists = _slices(j.tolist(), offsets)
        return _objects(lists).reshape(shape) if shape else lists[0]

    def query_ball_tree(self, other, r, p=2.0, eps=0):
        """Find, for each point of this tree, those of another at a distance of at most r.

        Returns
        -------
        list of list of int
        """
        _euclidean(p)
        return list(self._box_with(other).query_ball_point(self.data, r, workers=self._n_threads or -1))

    def count_neighbors(self, other, r, p=2.0, weights=None, cumulative=True):
        """Count the pairs (i of this tree, j of another) at a distance of at most r.

        Parameters
        ----------
        other : KDTree
            May be this tree; then (i, i) counts.
        r : float or (k,) array
        cumulative : bool
            False: pairs at a distance above r[k - 1] and of at most r[k]; r must ascend.

        Returns
        -------
        int, or (k,) array of int64
        """
        _euclidean(p)
        if weights is not None:
            raise ValueError("weights are not there; sum over the pairs of sparse_distance_matrix()")
        radii = np.asarray(r, np.float64)
        if radii.ndim == 0:
            return self._count(other, r)
        if not cumulative and (radii[1:] < radii[:-1]).any():
            raise ValueError("r does not ascend, which cumulative=False needs; pass numpy.sort(r)")
        points = self._box_with(other)
        points._reach(radii.min(initial=0), self.data)
        reach = points._reach(radii.max(initial=0), self.data)
        by_length = np.argsort(radii)
        counts = np.zeros(len(radii) + 1, np.intp)
        n_slices = self._count(other, reach) // _PAIRS_AT_ONCE + 1
        for first in range(n_slices):
            queries = self.data[first::n_slices]
            cells = points._cells(queries, reach, self._n_threads)
            d = points._find(cells, "d", reach, len(queries), "cells")
            counts += np.bincount(np.searchsorted(radii[by_length], d), minlength=len(counts))
        if not cumulative:
            return counts[:-1]
        totals = np.empty(len(radii), np.intp)
        totals[by_length] = np.cumsum(counts[:-1])
        return totals

    def _count(self, other, r):
        points = self._box_with(other)
        reach = points._reach(r, self.data)
        cells = points._cells(self.data, reach, self._n_threads)
        return len(points._find(cells, "d", reach, self.n)) if points._has_images(reach) else cells.count()

    def sparse_distance_matrix(self, other, max_distance, p=2.0, output_type="dok_matrix"):
        """Distances of pairs (i of this tree, j of another) of at most max_distance.

        Parameters
        ----------
        output_type : {"dok_matrix", "coo_matrix", "dict", "ndarray"}

        Returns
        -------
        scipy.sparse.dok_matrix or coo_matrix of shape (self.n, other.n), dict {(i, j): d}, or array with
        fields i, j and v
        """
        _euclidean(p)
        if output_type not in ("dok_matrix", "coo_matrix", "dict", "ndarray"):
            raise ValueError(
                f"output_type is {output_type!r}; give 'dok_matrix', 'coo_matrix', 'dict' or 'ndarray'"
            )
        points = self._box_with(other)
        reach = points._reach(max_distance, self.data)
        cells = points._cells(self.data, reach, self._n_threads)
        i, j, d = points._find(cells, "ijd", reach, self.n, "rows")
        if output_type == "dict":
            return dict(zip(zip(i.tolist(), j.tolist(), strict=True), d.tolist(), strict=True))
        if output_type == "ndarray":
            entries = np.empty(len(d), [("i", np.intp), ("j", np.intp), ("v", np.float64)])
            entries["i"], entries["j"], entries["v"] = i, j, d
            return entries
        import scipy.sparse

        matrix = scipy.sparse.coo_matrix((d, (i, j)), shape=(self.n, other.n))
        return matrix if output_type == "coo_matrix" else matrix.todok()

    def query(self, x, k=1, eps=0, p=2.0, distance_upper_bound=math.inf, workers=1):
        """Find the k nearest points; of points at the same distance, those of lower index.

        Parameters
        ----------
        x : (..., dim) array
        k : int or list of int
            How many; or which, where 1 is the nearest.
        distance_upper_bound : float
            Only points at a distance below it.
        workers : int
            See `query_ball_point`.

        Returns
        -------
        d : float or array of shape (...) for k = 1, otherwise (..., k)
            Distances, ascending; infinite where there are no more points.
        i : the same of int64
            Indices; n where there are no more points.
        """
        _euclidean(p)
        x = _points(x, "x", self.m)
        wanted = np.arange(1, operator.index(k) + 1) if np.ndim(k) == 0 else np.asarray(k, np.intp)
        if wanted.size == 0 or wanted.min() < 1:
            raise ValueError(f"k is {k}; give 1 or more")
        if not distance_upper_bound >= 0:
            raise ValueError(f"distance_upper_bound is {distance_upper_bound}; give a length of 0 or more")
        queries = x.reshape(-1, self.m)
        most = int(wanted.max())
        distances = np.full((len(queries), most), math.inf)
        indices = np.full((len(queries), most), self.n, np.intp)
        if self.n and len(queries):
            self._nearest(queries, float(distance_upper_bound), _threads(workers), distances, indices)
        distances, indices = distances[:, wanted - 1], indices[:, wanted - 1]
        shape = x.shape[:-1] if np.ndim(k) == 0 and k == 1 else (*x.shape[:-1], len(wanted))
        return distances.reshape(shape)[()], indices.reshape(shape)[()]

    def _nearest(self, queries, bound, n_threads, distances, indices):
        """Searches with a radius that grows until each query has enough points."""
        most = distances.shape[1]
        enough = min(most, self.n)
        farthest = self._farthest(queries)
        end = self._reach(min(bound, farthest), queries)
        reach = self._first_reach(enough, end, farthest, queries, n_threads)
        todo = np.arange(len(queries))
        growth = 1.3
        while len(todo):
            cells = self._cells(queries[todo], reach, n_threads)
            counts = self._counts(cells, reach, len(todo))
            is_done = (counts >= enough) | (reach >= end)
            done, counts, todo = todo[is_done], counts[is_done], todo[~is_done]
            by_count = np.argsort(counts)
            done, counts = done[by_count], counts[by_count]
            while len(done):  # as many rows as fit into a matrix of bounded size
                sizes = np.arange(1, len(done) + 1) * counts
                n_rows = max(np.searchsorted(sizes, _MATRIX_SIZE, "right"), 1)
                rows, done, counts = done[:n_rows], done[n_rows:], counts[n_rows:]
                self._nearest_of(queries[rows], reach, bound, n_threads, distances, indices, rows)
            reach = min(growth * reach, end)
            growth *= 1.15

    def _first_reach(self, enough, end, farthest, queries, n_threads):
        """A radius with which many queries have enough points, and few have many more."""
        if self.n <= 64:
            return end
        width = farthest if self.boxsize is None else 2 * farthest
        reach = max(min(0.42 * width * (enough / self.n) ** (1 / self.m), end), _SHORTEST)
        sample = np.ascontiguousarray(queries[:: len(queries) // 64 + 1])
        most = 3 * enough * len(sample)
        for _ in range(40):
            n_pairs = self._cells(sample, reach, n_threads).count()
            if n_pairs <= most:
                break
            # where density does not change, this is enough at once
            reach = max(reach * min((most / n_pairs) ** (1 / self.m), 1 / 1.5), _SHORTEST)
        return reach

    def _nearest_of(self, queries, reach, bound, n_threads, distances, indices, rows):
        """Writes the rows of queries that have all their points within reach."""
        cells = self._cells(queries, reach, n_threads)
        offsets, j, d = self._find(cells, "ojd", reach, len(queries))
        counts = np.diff(offsets.view(np.int64))
        is_filled = np.arange(counts.max()) < counts[:, None]
        matrix_d = np.full(is_filled.shape, math.inf)
        matrix_d[is_filled] = np.where(d < bound, d, math.inf)
        matrix_j = np.full(is_filled.shape, self.n, np.intp)
        matrix_j[is_filled] = np.where(d < bound, j, self.n)
        nearest = np.argsort(matrix_d, axis=1, kind="stable")[:, : distances.shape[1]]
        n_found = nearest.shape[1]
        distances[rows, :n_found] = np.take_along_axis(matrix_d, nearest, axis=1)
        indices[rows, :n_found] = np.take_along_axis(matrix_j, nearest, axis=1)


cKDTree = KDTree


def radius_neighbors(X, radius, Y=None, return_distance=True, sort_results=False, *, n_threads=0):
    """Find the points of X at a distance of at most radius: the method of scikit-learn after ``fit(X)``.

    Parameters
    ----------
    X : (n, 2) or (n, 3) array
    Y : (m, dim) array, optional
        Around what to search. Default: around each point of X, which is then no neighbour of its own.
    sort_results : bool
        By distance.
    n_threads : int
        0: OMP_NUM_THREADS or all processors of this process.

    Returns
    -------
    distances : (m,) array of arrays of float64
        Only with `return_distance`.
    indices : (m,) array of arrays of int64
    """
    offsets, j, d = _rows_of(X, radius, Y, n_threads)
    if sort_results:
        by_distance = np.lexsort((d, np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))))
        j, d = j[by_distance], d[by_distance]
    indices = _objects(_slices(j, offsets))
    return (_objects(_slices(d, offsets)), indices) if return_distance else indices


def radius_neighbors_graph(X, radius, mode="connectivity", include_self=False, *, n_threads=0):
    """The graph of points at a distance of at most radius: `sklearn.neighbors.radius_neighbors_graph`.

    Parameters
    ----------
    X : (n, 2) or (n, 3) array
    mode : {"connectivity", "distance"}
        What the matrix holds: 1, or distances.
    include_self : bool
        Whether each point is its own neighbour.

    Returns
    -------
    scipy.sparse.csr_matrix of shape (n, n)
    """
    import scipy.sparse

    if mode not in ("connectivity", "distance"):
        raise ValueError(f"mode is {mode!r}; give 'connectivity' or 'distance'")
    offsets, j, d = _rows_of(X, radius, X if include_self else None, n_threads)
    values = d if mode == "distance" else np.ones(len(j))
    return scipy.sparse.csr_matrix((values, j, offsets), shape=(len(offsets) - 1,) * 2)


def _rows_of(points, radius, queries, n_threads):
    tree = KDTree(points)
    queries = None if queries is None else _points(queries, "Y", tree.m)
    reach = tree._reach(radius, tree.data if queries is None else queries)
    offsets, j, d = tree._cells(queries, reach, n_threads).find("ojd", order="sorted")
    return offsets.view(np.int64), j, d
