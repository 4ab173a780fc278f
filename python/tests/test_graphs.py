import sys
import types

import numpy as np
import pytest

from nearfield.graphs import neighbor_matrix, radius, radius_graph


def near(x, y, r, batch_x=None, batch_y=None):
    """(y, x) pairs by brute force."""
    is_near = ((x[None] - y[:, None]) ** 2).sum(axis=-1) < r * r
    if batch_x is not None:
        is_near &= batch_x[None] == batch_y[:, None]
    return set(zip(*(axis.tolist() for axis in np.nonzero(is_near)), strict=True))


def pairs(edges):
    found = list(map(tuple, edges.T.tolist()))
    assert len(found) == len(set(found))
    return set(found)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("n", [0, 1, 2, 10, 150])
@pytest.mark.parametrize("n_systems", [0, 1, 6])
def test_by_brute_force(dtype, dim, n, n_systems):
    rng = np.random.default_rng(n)
    x, y = rng.random((n, dim)).astype(dtype), rng.random((n // 3, dim)).astype(dtype)
    x[n // 2 :: 5] = x[:1]
    batches = [rng.integers(0, n_systems, len(of)) for of in (x, y)] if n_systems else [None, None]
    for r in (0.1, 0.5, 3.0):
        expected = near(x, x, r, batches[0], batches[0])
        edges = radius_graph(x, r, batches[0], loop=True)
        assert edges.dtype == np.int64 and edges.shape == (2, len(expected)) and edges.flags.c_contiguous
        assert (np.diff(edges[1]) >= 0).all()
        assert pairs(edges[::-1]) == expected
        swapped = radius_graph(x, r, batches[0], flow="target_to_source")
        assert (np.diff(swapped[0]) >= 0).all()
        assert pairs(swapped) == {pair for pair in expected if pair[0] != pair[1]}
        two = radius(x, y, r, *batches)
        assert two.dtype == np.int64 and (np.diff(two[0]) >= 0).all()
        assert pairs(two) == near(x, y, r, *batches)


def test_direction_and_open_ball():
    x = np.array([[0.0, 0], [1, 0], [2.5, 0]])
    assert radius_graph(x, 1.0).shape == (2, 0)
    assert radius_graph(x, 1.2).tolist() == [[1, 0], [0, 1]]
    assert radius(x, x[2:], 2.0).tolist() == [[0, 0], [1, 2]]
    assert radius_graph(x, 1.2, loop=True, flow="target_to_source")[0].tolist() == [0, 0, 1, 1, 2]


def test_offsets_as_batch():
    x = np.random.default_rng(1).random((30, 3))
    offsets, batch = np.array([0, 10, 10, 30]), np.repeat([0, 2], [10, 20])
    assert (radius_graph(x, 0.5, (offsets,)) == radius_graph(x, 0.5, batch)).all()
    assert pairs(radius(x, x, 0.5, (offsets,), batch)) == near(x, x, 0.5, batch, batch)


def test_cap():
    x = np.random.default_rng(2).random((50, 3))
    full = radius_graph(x, 0.6, loop=True)
    largest = np.bincount(full[1]).max()
    with pytest.raises(ValueError, match=f"max_num_neighbors is 4, .* {largest} neighbours"):
        radius_graph(x, 0.6, loop=True, max_num_neighbors=4)
    with pytest.raises(ValueError, match="max_num_neighbors"):
        radius(x, x, 0.6, max_num_neighbors=largest - 1)
    assert (radius_graph(x, 0.6, loop=True, max_num_neighbors=largest) == full).all()
    for cap in (0, 4):
        cut = radius_graph(x, 0.6, loop=True, max_num_neighbors=cap, truncate=True)
        assert (np.bincount(cut[1], minlength=50) == np.minimum(np.bincount(full[1]), cap)).all()
        assert pairs(cut) <= pairs(full)
    assert radius(x, x, 0.6, max_num_neighbors=4, truncate=True).shape == (2, 200)


@pytest.mark.parametrize(
    "call, error, message",
    [
        (lambda x: radius_graph(x, 1.0, flow="up"), ValueError, "flow"),
        (lambda x: radius_graph(x[:, :1], 1.0), ValueError, "1 columns"),
        (lambda x: radius_graph(np.ones((3, 4)), 1.0), ValueError, "4 columns"),
        (lambda x: radius_graph(x.tolist(), 1.0), TypeError, "list"),
        (lambda x: radius_graph(x, 1.0, np.zeros(3, int)), ValueError, "batch is int64 of shape"),
        (lambda x: radius(x, x, 1.0, np.zeros(len(x), int)), ValueError, "both"),
        (lambda x: radius(x, x, -1.0), ValueError, "cutoff"),
        (lambda x: neighbor_matrix(x, 9.0, 3), ValueError, "max_neighbors is 3, and a point has 4"),
    ],
)
def test_refuses(call, error, message):
    with pytest.raises(error, match=message):
        call(np.random.default_rng(0).random((5, 3)))


@pytest.mark.parametrize("half", [False, True])
@pytest.mark.parametrize("n", [0, 1, 20])
def test_matrix(half, n):
    x = np.random.default_rng(3).random((n, 3))
    cell = np.array([[1, 0, 0], [0.2, 1, 0], [0, 0.1, 1]])
    matrix, counts, shifts = neighbor_matrix(x, 0.8, cell=cell, half=half, shifts=True)
    assert matrix.shape == (n, counts.max(initial=0)) and shifts.shape == (*matrix.shape, 3)
    assert {array.dtype for array in (matrix, counts, shifts)} == {np.dtype(np.int32)}
    is_filled = np.arange(matrix.shape[1]) < counts[:, None]
    assert (matrix[~is_filled] == n).all() and (shifts[~is_filled] == 0).all()
    i, column = np.nonzero(is_filled)
    j, s = matrix[i, column], shifts[i, column]
    assert (np.linalg.norm(x[j] + s @ cell - x[i], axis=1) < 0.8).all()
    images = np.stack(np.meshgrid(*[range(-3, 4)] * 3), -1).reshape(-1, 3)
    d = np.linalg.norm(x[None, :, None] + images @ cell - x[:, None, None], axis=-1)
    found = set(zip(i.tolist(), j.tolist(), map(tuple, s.tolist()), strict=True))
    both = found | {(j, i, tuple(-k for k in s)) for i, j, s in found}
    assert len(both) == ((d < 0.8) & (d > 0)).sum()
    assert len(found) == counts.sum() == len(both) // (2 if half else 1)


def test_matrix_that_is_cut():
    x = np.random.default_rng(4).random((20, 2))
    full, counts = neighbor_matrix(x, 0.5, 19, fill_value=-1)
    cut, true_counts = neighbor_matrix(x, 0.5, 3, fill_value=-1, truncate=True)
    assert full.shape == (20, 19) and cut.shape == (20, 3) and (counts == true_counts).all()
    assert counts.max() > 3 and (full[:, :3] == cut).all()
    batch = np.arange(20) % 2
    matrix, _ = neighbor_matrix(x, 0.5, batch=batch)
    i, column = np.nonzero(matrix < 20)
    assert (batch[i] == batch[matrix[i, column]]).all()


class FakeTensor:
    """What the functions use of a tensor."""

    def __init__(self, array):
        self.array = array

    def detach(self):
        return self

    def numpy(self):
        return self.array


FakeTensor.__module__ = "torch"


def test_tensors_of_a_stand_in(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", types.SimpleNamespace(from_numpy=FakeTensor))
    x, batch = np.random.default_rng(5).random((30, 3)), np.arange(30) % 3
    edges = radius_graph(FakeTensor(x), 0.5, FakeTensor(batch))
    assert type(edges) is FakeTensor and (edges.array == radius_graph(x, 0.5, batch)).all()
    edges = radius(FakeTensor(x), FakeTensor(x), 0.5, (FakeTensor(np.array([0, 30])),), FakeTensor(0 * batch))
    assert (edges.array == radius(x, x, 0.5)).all()
    assert all(type(array) is FakeTensor for array in neighbor_matrix(FakeTensor(x), 0.5, shifts=True))


def test_tensors():
    torch = pytest.importorskip("torch")
    x = torch.rand((30, 3))
    edges = radius_graph(x, 0.5, torch.arange(30) % 3, loop=True)
    assert edges.dtype == torch.int64
    assert (edges.numpy() == radius_graph(x.numpy(), 0.5, np.arange(30) % 3, loop=True)).all()
