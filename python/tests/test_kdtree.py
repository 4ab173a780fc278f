import itertools
import math

import numpy as np
import pytest

from nearfield.kdtree import KDTree, radius_neighbors, radius_neighbors_graph

scipy_spatial = pytest.importorskip("scipy.spatial")

CASES = [
    (dim, n, boxsize)
    for dim in (2, 3)
    for n in (1, 2, 10, 90)
    for boxsize in (None, 1.0, [1.0, 0, 2.0][:dim], [0.3, 1.0, 1.0][:dim])
]
RADII = (0.0, 1e-3, 0.1, 0.17, 0.5, 2.0, math.inf)


def trees(dim, n, boxsize, seed=0):
    rng = np.random.default_rng(seed)
    scale = np.where(np.equal(boxsize, 0), 1, boxsize) if boxsize is not None else np.ones(dim)
    x = rng.random((n, dim)) * scale * 0.999
    x[n // 2 :: 7] = x[0]  # coincident points
    return KDTree(x, boxsize=boxsize), scipy_spatial.cKDTree(x, boxsize=boxsize)


@pytest.mark.parametrize("dim, n, boxsize", CASES)
def test_searches(dim, n, boxsize):
    ours, theirs = trees(dim, n, boxsize)
    other, others = trees(dim, n // 2 + 1, boxsize, seed=1)
    queries = np.random.default_rng(2).random((5, 4, dim)) * 3 - 1
    for r in RADII:
        pairs = theirs.query_pairs(r)
        assert ours.query_pairs(r) == pairs
        found = ours.query_pairs(r, output_type="ndarray")
        assert found.dtype == np.intp and found.shape == (len(pairs), 2)
        assert set(map(tuple, found.tolist())) == pairs

        lists = ours.query_ball_point(queries, r)
        expected = theirs.query_ball_point(queries, r)
        assert lists.shape == expected.shape == (5, 4) and lists.dtype == object
        assert lists.tolist() == expected.tolist()
        assert (ours.query_ball_point(queries, r, return_length=True) == np.vectorize(len)(expected)).all()
        unsorted = ours.query_ball_point(queries, r, return_sorted=False)
        assert [sorted(row) for row in unsorted.ravel()] == expected.ravel().tolist()
        one = ours.query_ball_point(queries[0, 0], r)
        assert isinstance(one, list) and sorted(one) == expected[0, 0]
        assert ours.query_ball_point(queries[0, 0], r, return_length=True) == len(one)

        assert ours.query_ball_tree(other, r) == theirs.query_ball_tree(others, r)
        assert ours.count_neighbors(other, r) == theirs.count_neighbors(others, r)
        assert ours.count_neighbors(ours, r) == theirs.count_neighbors(theirs, r)

        if r < math.inf:
            matrix = ours.sparse_distance_matrix(other, r)
            expected = theirs.sparse_distance_matrix(others, r)
            assert type(matrix) is type(expected) and matrix.shape == expected.shape
            assert matrix.nnz == expected.nnz
            np.testing.assert_allclose(matrix.toarray(), expected.toarray(), atol=1e-15)


@pytest.mark.parametrize("dim, n, boxsize", CASES)
def test_counts_of_several_radii(dim, n, boxsize, monkeypatch):
    monkeypatch.setattr("nearfield.kdtree._PAIRS_AT_ONCE", 500)
    ours, theirs = trees(dim, n, boxsize)
    radii = np.array([0.3, 0.0, 0.1, math.inf, 0.3])
    counts = ours.count_neighbors(ours, radii)
    assert counts.tolist() == theirs.count_neighbors(theirs, radii).tolist()
    radii.sort()
    counts = ours.count_neighbors(ours, radii, cumulative=False)
    assert counts.tolist() == theirs.count_neighbors(theirs, radii, cumulative=False).tolist()
    assert ours.count_neighbors(ours, []).shape == (0,)


@pytest.mark.parametrize("dim, n, boxsize", CASES)
def test_radius_of_each_query(dim, n, boxsize):
    ours, theirs = trees(dim, n, boxsize)
    radii = np.resize(RADII, n)
    for some in (radii, np.minimum(radii, 0.17), np.zeros(n)):
        assert (
            ours.query_ball_point(ours.data, some).tolist()
            == theirs.query_ball_point(theirs.data, some).tolist()
        )


@pytest.mark.parametrize("dim, n, boxsize", CASES)
@pytest.mark.parametrize("k", [1, 3, [2, 5], [1], 120])
def test_nearest(dim, n, boxsize, k):
    ours, theirs = trees(dim, n, boxsize)
    queries = np.random.default_rng(2).random((30, 2, dim)) * 3 - 1
    for x, bound in ((queries, math.inf), (queries, 0.2), (queries[0, 0], math.inf), (ours.data, 0.0)):
        d, i = ours.query(x, k, distance_upper_bound=bound)
        expected_d, _ = theirs.query(x, k, distance_upper_bound=bound)
        assert np.shape(d) == np.shape(expected_d) == np.shape(i)
        np.testing.assert_allclose(d, expected_d, atol=1e-15)
        is_there = np.isfinite(d)
        assert (np.asarray(i)[~is_there] == n).all()
    d, i = ours.query(ours.data, 2)
    missing = np.isinf(d)
    to_j = ours.data[np.where(missing, 0, i)] - ours.data[:, None]
    if boxsize is not None:
        period = np.where(np.equal(boxsize, 0), 1e9, boxsize)
        to_j -= np.round(to_j / period) * period
    np.testing.assert_allclose(np.linalg.norm(to_j, axis=-1)[~missing], d[~missing], atol=1e-15)


def test_nearest_of_clusters_in_chunks(monkeypatch):
    monkeypatch.setattr("nearfield.kdtree._MATRIX_SIZE", 3000)
    rng = np.random.default_rng(3)
    x = np.concatenate([rng.normal(c, s, (200, 3)) for c, s in ((0, 1), (5, 1e-3), (9, 1e-6), (1e4, 0.1))])
    x[:50] = x[0]
    d, i = KDTree(x).query(x, 12)
    np.testing.assert_allclose(d, scipy_spatial.cKDTree(x).query(x, 12)[0], rtol=1e-9, atol=1e-12)
    assert (i[:50] == np.arange(12)).all()  # ties by index


def test_ties_go_to_the_lower_index():
    grid = np.array(list(itertools.product(range(4), repeat=3)), float)
    x = np.random.default_rng(4).permutation(grid)
    d, i = KDTree(x).query(grid, 7)
    all_d = np.linalg.norm(x - grid[:, None], axis=-1)
    expected = np.argsort(all_d, axis=1, kind="stable")[:, :7]
    assert (i == expected).all() and (d == np.take_along_axis(all_d, expected, 1)).all()


def test_closed_ball_on_a_lattice():
    x = np.array(list(itertools.product(range(5), repeat=3)), float)
    for r in (1, 2, math.sqrt(2), math.sqrt(3), 3):
        assert KDTree(x).query_pairs(r) == scipy_spatial.cKDTree(x).query_pairs(r)
        assert KDTree(x, boxsize=5).query_pairs(r) == scipy_spatial.cKDTree(x, boxsize=5).query_pairs(r)
    assert KDTree(x, boxsize=4).query_pairs(2) == KDTree(x % 4, boxsize=4).query_pairs(2)


def test_matrix_forms():
    ours, theirs = trees(3, 50, None)
    dense = theirs.sparse_distance_matrix(theirs, 0.4).toarray()
    for form in ("coo_matrix", "dict", "ndarray"):
        matrix = ours.sparse_distance_matrix(ours, 0.4, output_type=form)
        expected = theirs.sparse_distance_matrix(theirs, 0.4, output_type=form)
        assert type(matrix) is type(expected)
        if form == "coo_matrix":
            np.testing.assert_allclose(matrix.toarray(), dense, atol=1e-15)
        elif form == "dict":
            assert matrix.keys() == expected.keys()
        else:
            assert matrix.dtype == expected.dtype and len(matrix) == len(expected)


def test_no_points():
    ours = KDTree(np.empty((0, 3)))
    assert ours.query_pairs(1.0) == set()
    assert ours.query_pairs(1.0, output_type="ndarray").shape == (0, 2)
    assert ours.query_ball_point(np.ones((2, 3)), 1.0).tolist() == [[], []]
    assert ours.query_ball_point(np.ones(3), math.inf) == []
    assert ours.query_ball_tree(KDTree(np.ones((2, 3))), 1.0) == []
    assert ours.count_neighbors(ours, 1.0) == 0 and ours.count_neighbors(ours, [1.0, 2.0]).tolist() == [0, 0]
    d, i = ours.query(np.ones((2, 3)), 2)
    assert np.isinf(d).all() and (i == 0).all()
    some = KDTree(np.ones((2, 3)))
    assert some.query_ball_point(np.empty((0, 3)), 1.0).shape == (0,)
    assert some.query_ball_point(np.empty((0, 3)), np.empty(0)).shape == (0,)
    assert some.query(np.empty((0, 3)), 3)[0].shape == (0, 3)


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda x: KDTree(x[:, :1]), "2 or 3"),
        (lambda x: KDTree(x[0]), "give"),
        (lambda x: KDTree(x, boxsize=-1), "boxsize"),
        (lambda x: KDTree(x).query_pairs(-1), "r is -1"),
        (lambda x: KDTree(x).query_pairs(math.nan), "r is nan"),
        (lambda x: KDTree(x).query_pairs(1, p=1), "p is 1"),
        (lambda x: KDTree(x).query_pairs(1, output_type="list"), "output_type"),
        (lambda x: KDTree(x * math.nan).query_pairs(1), "nan|not finite"),
        (lambda x: KDTree(x * math.nan).query_pairs(math.inf), "not all finite"),
        (lambda x: KDTree(x).query_ball_point([1, math.inf, 0], 1), "inf|not finite"),
        (lambda x: KDTree(x).query_ball_point(x[:, :2], 1), "x has shape"),
        (lambda x: KDTree(x).query_ball_point(x, [1, 2]), "broadcast"),
        (lambda x: KDTree(x).query_ball_point(x, -np.ones(len(x))), "r is -1"),
        (lambda x: KDTree(x).query(x, 0), "k is 0"),
        (lambda x: KDTree(x).query(x, distance_upper_bound=-1), "distance_upper_bound"),
        (lambda x: KDTree(x).query(x * math.nan), "not all finite"),
        (lambda x: KDTree(x).count_neighbors(KDTree(x), [2, 1], cumulative=False), "ascend"),
        (lambda x: KDTree(x).count_neighbors(KDTree(x), 1, weights=x[:, 0]), "weights"),
        (lambda x: KDTree(x).sparse_distance_matrix(KDTree(x), 1, output_type="csr"), "output_type"),
        (lambda x: radius_neighbors_graph(x, 1, mode="x"), "mode"),
    ],
)
def test_refuses(call, message):
    with pytest.raises(ValueError, match=message):
        call(np.random.default_rng(0).random((5, 3)))


def test_radius_neighbors_by_brute_force():
    rng = np.random.default_rng(5)
    x, y = rng.random((60, 2)), rng.random((20, 2))
    all_d = np.linalg.norm(x - y[:, None], axis=-1)
    d, j = radius_neighbors(x, 0.3, y, sort_results=True)
    for row in range(len(y)):
        near = np.flatnonzero(all_d[row] <= 0.3)
        near = near[np.argsort(all_d[row, near])]
        assert j[row].tolist() == near.tolist()
        np.testing.assert_allclose(d[row], all_d[row, near])
    alone = radius_neighbors(x, 0.3, return_distance=False)
    assert all(i not in row for i, row in enumerate(alone))


@pytest.mark.parametrize("mode", ["connectivity", "distance"])
@pytest.mark.parametrize("include_self", [True, False])
def test_radius_neighbors_of_scikit_learn(mode, include_self):
    neighbors = pytest.importorskip("sklearn.neighbors")
    x = np.random.default_rng(6).random((80, 3))
    ours = radius_neighbors_graph(x, 0.3, mode, include_self)
    theirs = neighbors.radius_neighbors_graph(x, 0.3, mode=mode, include_self=include_self)
    assert ours.format == theirs.format and ours.nnz == theirs.nnz
    np.testing.assert_allclose(ours.toarray(), theirs.toarray(), atol=1e-7)
    fitted = neighbors.NearestNeighbors().fit(x)
    for queries in (None, x[:7] + 0.01):
        d, j = radius_neighbors(x, 0.3, queries, sort_results=True)
        expected_d, expected_j = fitted.radius_neighbors(queries, 0.3, sort_results=True)
        assert j.dtype == expected_j.dtype and j.shape == expected_j.shape
        for row in range(len(j)):
            assert j[row].tolist() == expected_j[row].tolist()
            np.testing.assert_allclose(d[row], expected_d[row])


def test_a_point_far_away_does_not_make_queries_slow():
    y = np.random.default_rng(1).random((5000, 3))
    y[0] = 1e6
    tree = KDTree(y)
    assert tree._first_reach(3, np.inf, tree._farthest(y), y, 1) < 1
    assert np.array_equal(tree.query(y, 3)[1], scipy_spatial.cKDTree(y).query(y, 3)[1])
