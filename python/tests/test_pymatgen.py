import itertools

import numpy as np
import pytest

from nearfield.pymatgen import get_neighbor_list, get_points_in_spheres

CELLS = [
    np.diag([3.0, 4, 5]),
    np.array([[3, 0.2, 0], [0.5, 4, 0.1], [0, 0.3, 5]]),
    np.array([[0, 1.0, 1], [1, 0, 1], [1, 1, 0]]),
    np.array([[1, 0, 0], [0.9, 0.5, 0], [0, 0, -2.0]]),
]


def brute_force(coords, centers, r, cell, pbc):
    n = np.where(pbc, 9, 0)
    images = np.array(list(itertools.product(*(range(-k, k + 1) for k in n))))
    to_j = coords[None, :, None] + images @ cell - centers[:, None, None]
    d = np.linalg.norm(to_j, axis=-1)
    i, j, s = np.nonzero(d <= r)
    return {
        (*pair, *map(int, image)): dist
        for *pair, image, dist in zip(i, j, images[s], d[i, j, s], strict=True)
    }


def as_dict(i, j, image, d):
    return {
        (*pair, *map(int, s)): dist for *pair, s, dist in zip(i.tolist(), j.tolist(), image, d, strict=True)
    }


def same(found, expected):
    assert found.keys() == expected.keys()
    np.testing.assert_allclose([found[key] for key in expected], list(expected.values()), atol=1e-12)


@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize("pbc", [(True, True, True), (True, False, True), (False, False, False)])
def test_by_brute_force(cell, pbc):
    coords = (np.random.default_rng(0).random((6, 3)) * 2 - 1) @ cell
    coords[3] = coords[0]
    centers = coords[[2, 4]] + 0.1
    for r in (0.0, 0.7, 2.2):
        expected = brute_force(coords, centers, r, cell, pbc)
        lists = get_points_in_spheres(coords, centers, r, pbc=pbc, lattice=cell)
        assert len(lists) == 2
        found = {}
        for i, row in enumerate(lists):
            for place, d, j, image in row:
                found[(i, j, *map(int, image))] = d
                np.testing.assert_allclose(place, coords[j] + image @ cell, atol=1e-12)
                assert abs(np.linalg.norm(place - centers[i]) - d) < 1e-12
        same(found, expected)
        fractional = get_points_in_spheres(coords, centers, r, pbc=pbc, lattice=cell, return_fcoords=True)
        for row, frac_row in zip(lists, fractional, strict=True):
            for point, frac_point in zip(row, frac_row, strict=True):
                np.testing.assert_allclose(frac_point[0] @ cell, point[0], atol=1e-12)
        if all(pbc):
            pairs = get_neighbor_list((coords, cell), r, sites=centers)
            distant = {key: d for key, d in expected.items() if key[0] != key[1] or d > 1e-8}
            same(as_dict(*pairs), distant)


def test_self_and_tolerance():
    coords, cell = np.array([[0.0, 0, 0], [0, 0, 0], [1, 0, 0]]), np.eye(3) * 10
    center, _, image, d = get_neighbor_list((coords, cell), 1.0)
    assert center.tolist() == [0, 0, 1, 1, 2, 2] and image.dtype == np.float64 and d.dtype == np.float64
    assert len(get_neighbor_list((coords, cell), 1.0, exclude_self=False)[0]) == 9
    assert len(get_neighbor_list((coords, cell), 1 - 5e-9)[0]) == 6
    assert len(get_neighbor_list((coords, cell), 1 - 5e-9, numerical_tol=1e-9)[0]) == 2


def test_no_points_and_no_lattice():
    assert get_points_in_spheres(np.empty((0, 3)), np.ones((2, 3)), 1.0, pbc=False) == [[], []]
    assert get_points_in_spheres(np.ones((2, 3)), np.empty((0, 3)), 1.0, pbc=False) == []
    assert [len(row) for row in get_points_in_spheres(np.ones((2, 3)), np.ones((1, 3)), 0.0, pbc=False)] == [
        2
    ]
    assert len(get_neighbor_list((np.empty((0, 3)), np.eye(3)), 1.0)[0]) == 0
    with pytest.raises(ValueError, match="lattice is None"):
        get_points_in_spheres(np.ones((2, 3)), np.ones((2, 3)), 1.0)


@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize("pbc", [(True, True, True), (True, False, True)])
def test_beside_pymatgen(cell, pbc):
    core = pytest.importorskip("pymatgen.core")
    lattice = core.Lattice(cell, pbc=pbc)
    structure = core.Structure(lattice, ["Na"] * 7, np.random.default_rng(1).random((7, 3)) * 3 - 1)
    for r in (0.5, 1.7, 3.1):
        for sites in (None, structure.sites[2:4]):
            for exclude_self in (True, False):
                ours = get_neighbor_list(structure, r, sites, exclude_self=exclude_self)
                theirs = structure.get_neighbor_list(r, sites, exclude_self=exclude_self)
                assert [a.dtype for a in ours] == [a.dtype for a in theirs]
                same(as_dict(*ours), as_dict(*theirs))
        coords, centers = structure.cart_coords, structure.cart_coords[:3] + 0.2
        for fractional in (False, True):
            ours, theirs = (
                call(coords, centers, r, pbc, lattice=lattice, return_fcoords=fractional)
                for call in (get_points_in_spheres, core.lattice.get_points_in_spheres)
            )
            for row, expected in zip(ours, theirs, strict=True):
                points, others = ({(p[2], *map(int, p[3])): p for p in of} for of in (row, expected))
                assert points.keys() == others.keys()
                for key, point in points.items():
                    np.testing.assert_allclose(point[0], others[key][0], atol=1e-9)
                    assert abs(point[1] - others[key][1]) < 1e-9
                    assert [type(v) for v in point] == [type(v) for v in others[key]]
