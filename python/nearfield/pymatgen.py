"""Neighbours in crystals, with the calls and conventions of pymatgen.

Balls are closed, and wider by a tolerance: a point at the distance r + numerical_tol counts.
"""

import itertools

import numpy as np

from ._pairs import find_pairs


def _coords(of):
    return np.ascontiguousarray(of, np.float64).reshape(-1, 3)


def _box(lattice, pbc=None):
    """Vectors and flags of a Lattice, or of a matrix that repeats along all axes."""
    flags = getattr(lattice, "pbc", (True, True, True)) if pbc is None else np.broadcast_to(pbc, 3)
    matrix = np.asarray(getattr(lattice, "matrix", lattice), np.float64)
    return matrix, tuple(map(bool, flags))


def get_neighbor_list(structure, r, sites=None, numerical_tol=1e-8, exclude_self=True):
    """Find neighbours as `pymatgen.core.Structure.get_neighbor_list`.

    Parameters
    ----------
    structure : Structure, or a tuple (coords, lattice)
        Cartesian coordinates of shape (n, 3), and a Lattice or its vectors, one a row.
    r : float
        In the unit of the coordinates.
    sites : sequence of sites, or (m, 3) array of coordinates, optional
        Around what to search. Default: all sites.
    numerical_tol : float
    exclude_self : bool
        Leave out pairs of equal indices at a distance of at most numerical_tol.

    Returns
    -------
    center, point : (n_pairs,) arrays of int64
        By center.
    image : (n_pairs, 3) array of float64
        The point is at ``coords[point] + image @ lattice``.
    distance : (n_pairs,) array of float64
    """
    coords, lattice = (
        structure if isinstance(structure, tuple) else (structure.cart_coords, structure.lattice)
    )
    coords = _coords(coords)
    if sites is None:
        centers = coords
    elif isinstance(sites, np.ndarray):
        centers = _coords(sites)
    else:
        centers = _coords([site.coords for site in sites])
    cell, pbc = _box(lattice)
    center, point, image, distance = find_pairs(
        "ijSd", coords, r + numerical_tol, cell=cell, pbc=pbc, queries=centers, closed=True
    )
    found = center, point, image.astype(np.float64), distance
    if not exclude_self:
        return found
    kept = (center != point) | (distance > numerical_tol)
    return tuple(column[kept] for column in found)


def get_points_in_spheres(
    all_coords, center_coords, r, pbc=True, numerical_tol=1e-8, lattice=None, return_fcoords=False
):
    """Find points in spheres as `pymatgen.core.lattice.get_points_in_spheres`.

    Parameters
    ----------
    all_coords, center_coords : (n, 3), (m, 3) arrays
        Cartesian coordinates of points and of centres.
    r : float
    pbc : bool or (3,) of bool
    numerical_tol : float
    lattice : Lattice or (3, 3) array, optional
        Needed with pbc.
    return_fcoords : bool
        Fractional coordinates of points instead of Cartesian ones.

    Returns
    -------
    list of list of (coords, distance, index, image)
        A list for each centre; coords, of that image, and image are arrays of shape (3,).
    """
    if lattice is None and (return_fcoords or np.any(pbc)):
        raise ValueError("lattice is None; give one, or pbc=False and no return_fcoords")
    coords = _coords(all_coords)
    cell, pbc = (None, None) if lattice is None else _box(lattice, pbc)
    offsets, j, image, distance = find_pairs(
        "ojSd", coords, r + numerical_tol, cell=cell, pbc=pbc, queries=_coords(center_coords), closed=True
    )
    image = image.astype(np.float64)
    places = coords[j]
    if cell is not None:
        places += image @ cell
        if return_fcoords:
            places = np.linalg.solve(cell.T, places.T).T
    points = list(zip(places, distance.tolist(), j.tolist(), image, strict=True))
    return [points[first:last] for first, last in itertools.pairwise(offsets.tolist())]
