"""Neighbour queries with the calls and conventions of freud.

Distances are those of nearest images, in float32, in boxes whose centre is the origin.
"""

import numpy as np

from ._pairs import find_pairs

_LENGTHS = ("Lx", "Ly", "Lz", "xy", "xz", "yz")
_ARGUMENTS = {"mode", "r_max", "r_min", "exclude_ii"}


def _box(of):
    """Vectors, one a row, and flags of a box of freud, a dict, or (Lx, Ly[, Lz[, xy, xz, yz]])."""
    periodic = True
    if hasattr(of, "Lx"):
        lengths = [getattr(of, name) for name in _LENGTHS]
        periodic = of.periodic
    elif isinstance(of, dict):
        lengths = [of.get(name, 0) for name in _LENGTHS]
    elif np.shape(of) in ((2,), (3,), (6,)):
        lengths = [*of, 0, 0, 0, 0][:6]
    else:
        raise ValueError(f"box is {of!r}; give (Lx, Ly, Lz, xy, xz, yz), or an object or dict with these")
    x, y, z, xy, xz, yz = map(float, lengths)
    dim = 3 if z else 2
    cell = np.array([[x, 0, 0], [xy * y, y, 0], [xz * z, yz * z, z]])[:dim, :dim]
    return cell, np.array(np.broadcast_to(periodic, 3)[:dim], bool)


def _positions(of):
    of = np.atleast_2d(np.ascontiguousarray(of, np.float32))
    if of.ndim != 2 or of.shape[1] != 3:
        raise ValueError(f"points have shape {of.shape}; give (n, 3)")
    return of


class NeighborList:
    """Bonds between query points and points.

    Attributes
    ----------
    query_point_indices, point_indices : (n_bonds,) arrays of uint32
        By the first, then by the second or by distance.
    distances, weights : (n_bonds,) arrays of float32
    vectors : (n_bonds, 3) array of float32
        The point, in its nearest image, minus the query point.
    num_query_points, num_points : int
    """

    def __init__(self, num_query_points, num_points, query_point_indices, point_indices, distances, vectors):
        self.num_query_points, self.num_points = num_query_points, num_points
        self.query_point_indices, self.point_indices = query_point_indices, point_indices
        self.distances, self.vectors = distances, vectors
        self.weights = np.ones(len(distances), np.float32)

    @property
    def neighbor_counts(self):
        """The number of bonds of each query point: (num_query_points,) array of uint32."""
        return np.bincount(self.query_point_indices, minlength=self.num_query_points).astype(np.uint32)

    @property
    def segments(self):
        """The first bond of each query point, or 0 if it has none: (num_query_points,) array of uint32."""
        counts = self.neighbor_counts
        return np.where(counts > 0, np.cumsum(counts, dtype=np.uint32) - counts, np.uint32(0))

    def __len__(self):
        return len(self.distances)

    def __getitem__(self, key):
        return np.stack((self.query_point_indices, self.point_indices), axis=1)[key]

    def _take(self, which):
        for name in ("query_point_indices", "point_indices", "distances", "vectors", "weights"):
            setattr(self, name, getattr(self, name)[which])
        return self

    def filter(self, filt):
        """Keep the bonds where filt, an (n_bonds,) array of bool, is true. Returns this list."""
        return self._take(np.asarray(filt, bool))

    def filter_r(self, r_max, r_min=0):
        """Keep the bonds with r_min <= distance < r_max. Returns this list."""
        return self._take((self.distances >= r_min) & (self.distances < r_max))


class NeighborQueryResult:
    """What a query finds; iterate over (query point, point, distance), or call toNeighborList()."""

    def __init__(self, query, points, r_max, r_min, exclude_ii):
        self._query, self._points = query, points
        self._r_max, self._r_min, self._exclude_ii = r_max, r_min, exclude_ii

    def toNeighborList(self, sort_by_distance=False):
        """Make a NeighborList, by query point and then by point, or by distance."""
        query = self._query
        dim = len(query._cell)
        i, j, d, to_j = find_pairs(
            "ijdD",
            query.points[:, :dim],
            self._r_max,
            cell=query._cell,
            pbc=query._pbc,
            queries=self._points[:, :dim],
            order="sorted",
            index="uint32",
        )
        vectors = to_j if dim == 3 else np.pad(to_j, ((0, 0), (0, 1)))
        bonds = NeighborList(len(self._points), len(query.points), i, j, d, vectors)
        if self._exclude_ii:
            bonds.filter(i != j)
        if self._r_min > 0:
            bonds.filter_r(np.inf, self._r_min)
        if sort_by_distance:
            bonds._take(np.lexsort((bonds.distances, bonds.query_point_indices)))
        return bonds

    def __iter__(self):
        bonds = self.toNeighborList()
        yield from zip(
            bonds.query_point_indices.tolist(),
            bonds.point_indices.tolist(),
            bonds.distances.tolist(),
            strict=True,
        )


class NeighborQuery:
    """Points in a box, to search around: `freud.locality.AABBQuery`.

    Parameters
    ----------
    box : freud.box.Box, dict, or sequence (Lx, Ly[, Lz[, xy, xz, yz]])
        Without Lz it has two dimensions, and z does not count.
    points : (n, 3) array
        Taken as float32.
    """

    def __init__(self, box, points):
        self.box, self.points = box, _positions(points)
        self._cell, self._pbc = _box(box)
        heights = 1 / np.linalg.norm(np.linalg.inv(self._cell), axis=0)
        self._farthest = heights[self._pbc].min(initial=np.inf) / 2

    def query(self, query_points, query_args):
        """Ask for the points near each of query_points.

        Parameters
        ----------
        query_points : (m, 3) array
        query_args : dict
            r_max, and any of mode="ball", r_min=0 and exclude_ii=False: whether to leave out bonds of equal
            indices. Bonds have r_min <= distance < r_max.

        Returns
        -------
        NeighborQueryResult

        Raises
        ------
        ValueError
            For other arguments, and if r_max is longer than half the box is high, along an axis that repeats.
        """
        if query_args.keys() - _ARGUMENTS or query_args.get("mode", "ball") != "ball":
            raise ValueError(f"query_args are {query_args}; give mode='ball', r_max, r_min or exclude_ii")
        r_max = query_args.get("r_max")
        if r_max is None:
            raise ValueError("query_args have no r_max; give a length")
        if r_max > self._farthest:
            raise ValueError(f"r_max is {r_max}; give at most half the height of the box, {self._farthest}")
        return NeighborQueryResult(
            self,
            _positions(query_points),
            float(r_max),
            query_args.get("r_min") or 0,
            query_args.get("exclude_ii"),
        )


AABBQuery = NeighborQuery


class LinkCell(NeighborQuery):
    """The same as AABBQuery; `cell_width` is unused."""

    def __init__(self, box, points, cell_width=0):
        super().__init__(box, points)
