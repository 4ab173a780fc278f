import numpy as np
import pytest

from nearfield.vesin import NeighborList

vesin = pytest.importorskip("vesin")


def boxes(n_boxes, seed):
    """Points, vectors and flags: skewed boxes of both hands, cutoffs above and below them, points outside."""
    random = np.random.default_rng(seed)
    for k in range(n_boxes):
        box = random.normal(size=(3, 3)) + np.diag(random.choice([-2, 2], 3))
        points = random.normal(size=(random.integers(1, 30), 3)) * random.choice([1, 5])
        yield points, box, np.array([k & 1, k & 2, k & 4], bool), random.choice([0.5, 1.5, 3.0])


def by_pair(i, j, S, *values):
    order = np.lexsort((*S.T, j, i))
    return [of[order] for of in (i, j, S, *values)]


@pytest.mark.parametrize("full", [True, False])
@pytest.mark.parametrize("is_sorted", [True, False])
def test_pairs_are_those_of_vesin(full, is_sorted):
    options = {"full_list": full, "sorted": is_sorted}
    for points, box, periodic, cutoff in boxes(40, 1):
        ours = NeighborList(cutoff=cutoff, **options).compute(points, box, periodic, "ijSdD")
        theirs = vesin.NeighborList(cutoff=cutoff, **options).compute(points, box, periodic, "ijSdD")
        assert [of.dtype for of in ours] == [of.dtype for of in theirs]
        assert not is_sorted or (np.diff(ours[0].astype(int)) >= 0).all()
        for a, b in zip(by_pair(*ours), by_pair(*theirs)):
            np.testing.assert_allclose(a, b, atol=1e-10)


@pytest.mark.parametrize("full", [True, False])
@pytest.mark.parametrize("quantities", ["", "i", "P", "D", "ij", "jS", "ijP", "PSdD", "dd"])
def test_quantities(full, quantities):
    points, box = np.random.default_rng(2).random((30, 3)), np.eye(3)
    options = {"cutoff": 0.4, "full_list": full, "sorted": True}
    ours = NeighborList(**options).compute(points, box, True, quantities)
    theirs = vesin.NeighborList(**options).compute(points, box, True, quantities, copy=True)
    assert type(ours) is type(theirs)
    assert [(of.shape, of.dtype) for of in ours] == [(of.shape, of.dtype) for of in theirs]
    if "j" in quantities:
        np.testing.assert_array_equal(
            np.bincount(ours[quantities.index("j")].astype(int)),
            np.bincount(theirs[quantities.index("j")].astype(int)),
        )


def test_float32_and_lists():
    random = np.random.default_rng(3)
    points, box = random.random((50, 3), np.float32), np.eye(3, dtype=np.float32)
    ours = NeighborList(cutoff=0.3, full_list=True).compute(points, box, True, "ijSdD")
    theirs = vesin.NeighborList(cutoff=0.3, full_list=True).compute(points, box, True, "ijSdD")
    assert [of.dtype for of in ours] == [of.dtype for of in theirs]
    for a, b in zip(by_pair(*ours), by_pair(*theirs)):
        np.testing.assert_allclose(a, b, atol=1e-6)
    (d,) = NeighborList(cutoff=2, full_list=False).compute(
        [[0, 0, 0], [0, 0, 1]], [[9, 0, 0], [0, 9, 0], [0, 0, 9]], [True, False, True], "d"
    )
    assert d.tolist() == [1] and d.dtype == np.float64


@pytest.mark.parametrize("full", [True, False])
def test_skin(full):
    random = np.random.default_rng(4)
    points, box = random.random((200, 3)) * 4, np.eye(3) * 4
    cached = NeighborList(cutoff=1, full_list=full, skin=0.4)
    for _ in range(12):
        points = points + 0.05 * random.normal(size=points.shape)  # also out of the box
        ours = by_pair(*cached.compute(points, box, True, "ijSD"))
        theirs = vesin.NeighborList(cutoff=1, full_list=full).compute(points, box, True, "ijSD")
        for a, b in zip(ours, by_pair(*theirs)):
            np.testing.assert_allclose(a, b, atol=1e-10)
    i, _ = cached.compute(points[:50], 2 * box, [True, True, False])
    assert len(i) == len(
        vesin.NeighborList(cutoff=1, full_list=full).compute(points[:50], 2 * box, [1, 1, 0])[0]
    )


def test_no_points_and_no_box():
    nothing = NeighborList(cutoff=1, full_list=True).compute(np.zeros((0, 3)), np.eye(3), True, "ijSdD")
    assert [of.shape for of in nothing] == [(0,), (0,), (0, 3), (0,), (0, 3)]
    i, j = NeighborList(cutoff=1, full_list=False).compute(np.zeros((2, 3)), np.zeros((3, 3)), False)
    assert (i.tolist(), j.tolist()) == ([0], [1])


@pytest.mark.parametrize(
    ("options", "arguments", "message"),
    [
        ({"algorithm": "tree"}, (), "algorithm is 'tree'"),
        ({"n_threads": -1}, (), "n_threads is -1"),
        ({"cutoff": 0}, (), "the cutoff is 0"),
        ({"cutoff": np.nan}, (), "the cutoff is nan"),
        ({}, (np.zeros((2, 2)),), r"points have shape \(2, 2\)"),
        ({}, (np.zeros((2, 3)), np.eye(2)), r"box has shape \(2, 2\)"),
        ({}, (np.zeros((2, 3)), np.zeros((3, 3))), "vector 0"),
        ({}, (np.zeros((2, 3)), np.eye(3), True, "ix"), "quantities are 'ix'"),
    ],
)
def test_errors(options, arguments, message):
    defaults = (np.zeros((2, 3)), np.eye(3), True)
    with pytest.raises(ValueError, match=message):
        NeighborList(**{"cutoff": 1, "full_list": True, **options}).compute(
            *arguments, *defaults[len(arguments) :]
        )
