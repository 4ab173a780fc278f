import numpy as np
import pytest

from nearfield.rdf import distance_histogram, radial_distribution


def brute_force(x, y, r_max, n_bins, box):
    n = 0 if box is None else 3
    dim = x.shape[1]
    images = np.stack(np.meshgrid(*[range(-n, n + 1)] * dim), -1).reshape(-1, dim) * (
        1 if box is None else box
    )
    d = np.linalg.norm(x[None, :, None] + images - y[:, None, None], axis=-1)
    return np.histogram(d[(d > 0) & (d < r_max)], n_bins, (0, r_max))[0]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("box", [None, 1.0])
def test_histogram(dtype, dim, box):
    rng = np.random.default_rng(0)
    x, y = rng.random((40, dim)).astype(dtype), rng.random((9, dim)).astype(dtype)
    cell = None if box is None else np.eye(dim) * box
    for r_max in (0.2, 1.4):
        counts, edges = distance_histogram(x, r_max, 13, cell=cell)
        assert counts.dtype == np.int64 and np.array_equal(edges, np.linspace(0, r_max, 14))
        assert abs(counts - brute_force(x, x, r_max, 13, box)).sum() <= (0 if dtype == np.float64 else 4)
        counts, _ = distance_histogram(x, r_max, 13, cell=cell, queries=y)
        assert abs(counts - brute_force(x, y, r_max, 13, box)).sum() <= (0 if dtype == np.float64 else 4)


def test_batch():
    rng = np.random.default_rng(1)
    x, batch = rng.random((50, 3)), rng.integers(0, 4, 50)
    counts, _ = distance_histogram(x, 0.7, 8, batch=batch)
    assert (counts == sum(brute_force(x[batch == s], x[batch == s], 0.7, 8, None) for s in range(4))).all()


@pytest.mark.parametrize("dim", [2, 3])
def test_ideal_gas_has_no_structure(dim):
    x = np.random.default_rng(2).random((4000, dim)) * 2
    r, g = radial_distribution(x, 0.5, 5, cell=2 * np.eye(dim))
    np.testing.assert_allclose(r, [0.05, 0.15, 0.25, 0.35, 0.45])
    np.testing.assert_allclose(g[1:], 1, atol=0.02)
    np.testing.assert_allclose(radial_distribution(x, 0.5, 5, cell=[2.0] * dim)[1], g)
    r, around = radial_distribution(x, 0.5, 5, cell=2 * np.eye(dim), queries=x[:2000] + 0.3)
    np.testing.assert_allclose(around[1:], 1, atol=0.05)


def test_lattice():
    x = np.stack(np.meshgrid(*[np.arange(6.0)] * 3), -1).reshape(-1, 3)
    counts, _ = distance_histogram(x, 1.6, 16, cell=6 * np.eye(3))
    assert {k: n // 216 for k, n in enumerate(counts.tolist()) if n} == {10: 6, 14: 12}
    _, g = radial_distribution(x, 1.6, 16, volume=216, cell=6 * np.eye(3))
    shell = 4 / 3 * np.pi * (1.1**3 - 1)
    assert abs(g[10] - 6 / shell) < 1e-12


def test_no_points():
    none = np.empty((0, 3))
    assert distance_histogram(none, 1.0, 4)[0].tolist() == [0] * 4
    assert radial_distribution(none, 1.0, 4, volume=1.0)[1].tolist() == [0] * 4
    with pytest.raises(ValueError, match="volume and cell"):
        radial_distribution(np.ones((3, 3)), 1.0, 4)
    with pytest.raises(ValueError, match="cutoff"):
        distance_histogram(np.ones((3, 3)), -1.0, 4)
