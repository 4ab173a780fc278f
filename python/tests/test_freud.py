import numpy as np
import pytest

import nearfield.freud
from nearfield.freud import AABBQuery, LinkCell

BOXES = [(3, 4, 5), (3, 4, 5, 0.3, 0.2, 0.1), (2, 2, 9, 1, 0, 0), (3, 4), (3, 4, 0, 0.5, 0, 0)]


def points(box, n, seed=0, spread=1.0):
    x = (np.random.default_rng(seed).random((n, 3)) - 0.5) * 3 * spread
    if len(box) == 2 or box[2] == 0:
        x[:, 2] = 0
    return x.astype(np.float32)


def brute_force(box, x, q, r_max):
    lx, ly, lz, xy, xz, yz = [*box, 0, 0, 0, 0][:6]
    cell = np.array([[lx, 0, 0], [xy * ly, ly, 0], [xz * lz, yz * lz, lz]])
    images = np.stack(np.meshgrid(*[range(-4, 5)] * 3), -1).reshape(-1, 3)
    to_j = x[None, :, None] + images @ cell - q[:, None, None]
    d = np.linalg.norm(to_j, axis=-1).min(axis=-1)
    return {(i, j): d[i, j] for i, j in zip(*np.nonzero(d < r_max), strict=True)}


@pytest.mark.parametrize("box", BOXES)
@pytest.mark.parametrize("query", [AABBQuery, LinkCell])
def test_by_brute_force(box, query):
    x, q = points(box, 60), points(box, 7, seed=1, spread=2.0)
    for r_max in (0.3, 0.69):
        bonds = query(box, x).query(q, {"mode": "ball", "r_max": r_max}).toNeighborList()
        expected = brute_force(box, x, q, r_max)
        found = dict(zip(map(tuple, bonds[:].tolist()), bonds.distances, strict=True))
        assert found.keys() == expected.keys() and len(bonds) == len(expected)
        np.testing.assert_allclose(list(found.values()), [expected[key] for key in found], atol=1e-5)
        np.testing.assert_allclose(np.linalg.norm(bonds.vectors, axis=1), bonds.distances, atol=1e-6)


def test_list():
    x = np.array([[0, 0, 0], [0, 0, 1], [0, 0, 3], [0, 0, 0]])
    query = AABBQuery((10, 10, 10), x)
    bonds = query.query(x, {"r_max": 2.5, "exclude_ii": True}).toNeighborList()
    assert bonds[:].tolist() == [[0, 1], [0, 3], [1, 0], [1, 2], [1, 3], [2, 1], [3, 0], [3, 1]]
    assert bonds.neighbor_counts.tolist() == [2, 3, 1, 2] and bonds.segments.tolist() == [0, 2, 5, 6]
    assert bonds.vectors[3].tolist() == [0, 0, 2]
    assert [len(bonds), bonds.num_points, bonds.num_query_points] == [8, 4, 4]
    assert list(query.query(x[2], {"r_max": 2.5, "r_min": 0.5})) == [(0, 1, 2.0)]
    by_distance = query.query(x, {"r_max": 2.5}).toNeighborList(sort_by_distance=True)
    assert by_distance.distances[:3].tolist() == [0, 0, 1]
    assert bonds.filter(bonds.distances > 0).filter_r(1.5)[:].tolist() == [[0, 1], [1, 0], [1, 3], [3, 1]]
    assert len(bonds.weights) == 4
    none = AABBQuery((10, 10, 10), np.empty((0, 3))).query(x, {"r_max": 1.0}).toNeighborList()
    assert len(none) == 0 and none.segments.tolist() == [0, 0, 0, 0]


@pytest.mark.parametrize(
    "box, x, args, message",
    [
        ((4, 4, 4), np.ones((2, 3)), {"r_max": 2.1}, "half the height"),
        ((4, 4, 4), np.ones((2, 3)), {"mode": "nearest", "num_neighbors": 3}, "query_args"),
        ((4, 4, 4), np.ones((2, 3)), {"mode": "ball"}, "no r_max"),
        ((4, 4, 4), np.ones((2, 2)), {"r_max": 1}, "points have shape"),
        ((4,), np.ones((2, 3)), {"r_max": 1}, "box is"),
        ((4, 4, 4), np.ones((2, 3)), {"r_max": -1}, "cutoff"),
    ],
)
def test_refuses(box, x, args, message):
    with pytest.raises(ValueError, match=message):
        AABBQuery(box, x).query(x, args).toNeighborList()


# without the box of a shear of 1, where freud misses pairs
@pytest.mark.parametrize("box", [box for box in BOXES if box[3:4] != (1,)])
def test_beside_freud(box):
    freud = pytest.importorskip("freud")
    box = freud.box.Box.from_box([*box, 0, 0, 0, 0][:6])
    shape = (box.Lx, box.Ly, box.Lz)
    x, q = points(shape, 80), points(shape, 9, seed=1)
    for queries in (x, q):
        for more in ({}, {"exclude_ii": True}, {"r_min": 0.3}):
            for by_distance in (False, True):
                ours, theirs = (
                    of.AABBQuery(box, x)
                    .query(queries, {"mode": "ball", "r_max": 0.69, **more})
                    .toNeighborList(sort_by_distance=by_distance)
                    for of in (nearfield.freud, freud.locality)
                )
                for name in (
                    "query_point_indices",
                    "point_indices",
                    "distances",
                    "vectors",
                    "weights",
                    "segments",
                    "neighbor_counts",
                ):
                    mine, other = getattr(ours, name), np.asarray(getattr(theirs, name))
                    assert mine.dtype == other.dtype, name
                    np.testing.assert_allclose(mine, other, atol=1e-5, err_msg=name)
                assert (ours[:] == theirs[:]).all()
