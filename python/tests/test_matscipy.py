import numpy as np
import pytest

from nearfield import matscipy as ours

theirs = pytest.importorskip("matscipy_neighbours")


def systems(n_systems, seed):
    """Points in and out of skewed cells of both hands, open and periodic, cutoffs above and below cells."""
    random = np.random.default_rng(seed)
    for k in range(n_systems):
        n = random.integers(1, 20)
        yield (
            {
                "positions": random.normal(size=(n, 3)) * random.choice([1, 5]),
                "cell": random.normal(size=(3, 3)) + np.diag(random.choice([-3, 3], 3)),
                "pbc": np.array([k & 1, k & 2, k & 4], bool),
                "numbers": random.choice([1, 2, 8], n),
            },
            random.choice([0.7, 2.0, 4.0]),
        )


def assert_same_list(system, cutoff):
    mine = ours.neighbour_list("ijdDS", cutoff=cutoff, **system)
    others = theirs.neighbour_list("ijdDS", cutoff=cutoff, **system)
    assert (np.diff(mine[0]) >= 0).all()
    assert [(of.dtype, of.shape) for of in mine] == [(of.dtype, of.shape) for of in others]
    by_pair = [np.lexsort((*of[4].T, of[1], of[0])) for of in (mine, others)]
    for a, b in zip(mine, others):
        np.testing.assert_allclose(a[by_pair[0]], b[by_pair[1]], rtol=0, atol=1e-10)


def test_pairs_are_those_of_matscipy():
    for system, cutoff in systems(40, 1):
        assert_same_list(system, cutoff)
        assert_same_list(system | {"cell_origin": [1, 2, 3]}, cutoff)


def test_cutoffs_of_elements_and_radii():
    pytest.importorskip("ase")
    for system, cutoff in systems(24, 2):
        of_elements = {
            ("H", 2): cutoff,
            (8, "O"): 0.5 * cutoff,
            ("He", 2): 0.8 * cutoff,
            (1, 1): 0.6,
            (6, 6): 9.0,
        }
        assert_same_list(system, of_elements)
        assert_same_list(system, np.random.default_rng(3).uniform(0.1, cutoff / 2, len(system["positions"])))
        matrix = np.random.default_rng(4).uniform(0, cutoff, (9, 9))
        assert_same_list(system, matrix + matrix.T)


def test_atoms():
    ase = pytest.importorskip("ase")
    atoms = ase.Atoms("H3", np.random.default_rng(5).random((3, 3)), cell=[2, 3, 0], pbc=[True, True, False])
    i, j, d = ours.neighbour_list("ijd", atoms, 2.5)
    np.testing.assert_allclose(np.sort(d), np.sort(theirs.neighbour_list("d", atoms, 2.5)), rtol=1e-12)
    with pytest.raises(ValueError, match="atoms: give"):
        ours.neighbour_list("i", atoms, 2.5, pbc=True)


def test_no_cell():
    positions = np.random.default_rng(6).random((20, 3)).tolist()
    i = ours.neighbour_list("i", positions=positions, cutoff=0.5)
    np.testing.assert_array_equal(i, theirs.neighbour_list("i", positions=positions, cutoff=0.5))
    np.testing.assert_array_equal(
        ours.coordination(positions=positions, cutoff=0.5),
        theirs.coordination(positions=positions, cutoff=0.5),
    )
    assert ours.neighbour_list("D", positions=np.zeros((0, 3)), cutoff=1).shape == (0, 3)
    assert ours.coordination(positions=np.zeros((0, 3)), cutoff=1).shape == (0,)


def test_neighbour_matrix():
    for system, cutoff in systems(16, 7):
        most = ours.coordination(cutoff=cutoff, **system).max()
        mine = ours.neighbour_matrix(cutoff=cutoff, max_neighbours=most + 2, **system)
        others = theirs.neighbour_matrix(cutoff=cutoff, max_neighbours=int(most + 2), **system)
        assert [(of.dtype, of.shape) for of in mine] == [(of.dtype, of.shape) for of in others]
        np.testing.assert_array_equal(mine[2], others[2])
        for j, D, other_j, other_D in zip(*mine[:2], *others[:2]):
            by_vector, other = np.lexsort(D.round(8).T), np.lexsort(other_D.round(8).T)
            np.testing.assert_array_equal(j[by_vector], other_j[other])
            np.testing.assert_allclose(D[by_vector], other_D[other], atol=1e-10)
        if most > 0:
            with pytest.raises(ValueError, match=f"has {most} neighbours; give at least {most}"):
                ours.neighbour_matrix(cutoff=cutoff, max_neighbours=most - 1, **system)


def test_rows_and_triplets():
    random = np.random.default_rng(8)
    for _ in range(20):
        i = np.repeat(np.arange(7), random.integers(0, 4, 7))
        first = ours.first_neighbours(7, i)
        np.testing.assert_array_equal(first, np.maximum(theirs.first_neighbours(7, i), 0))
        lengths = random.random(len(i))
        for arguments in [(first,), (first, lengths, 0.6)]:
            for a, b in zip(ours.triplet_list(*arguments), theirs.triplet_list(*arguments)):
                np.testing.assert_array_equal(a, b)
                assert a.dtype == b.dtype
    assert [len(of) for of in ours.triplet_list(ours.first_neighbours(3, i[:0]))] == [0, 0]


def test_minimum_image():
    random = np.random.default_rng(9)
    for k in range(60):
        cell = random.normal(size=(3, 3))
        cell[1] += random.integers(-30, 30) * cell[0]
        cell[2] += random.integers(-9, 9) * cell[1]
        pbc, vectors = np.array([k & 1, k & 2, k & 4], bool), 5 * random.normal(size=(50, 3))
        nearest = ours.mic(vectors, cell, pbc)
        np.testing.assert_allclose(
            np.linalg.norm(nearest, axis=1), np.linalg.norm(theirs.mic(vectors, cell, pbc), axis=1), rtol=1e-9
        )
        steps = (vectors - nearest) @ np.linalg.inv(cell)
        np.testing.assert_allclose(steps, np.where(pbc, np.rint(steps), 0), atol=1e-8)
    np.testing.assert_allclose(ours.mic([[0.75, 0, 0]], np.eye(3)), [[-0.25, 0, 0]])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "cutoff is None"),
        ({"cutoff": 1}, "positions is None"),
        ({"cutoff": -1}, "the cutoff is -1"),
        ({"cutoff": 1, "pbc": True}, "cell is None"),
        ({"cutoff": 1, "pbc": True, "cell": np.diag([1, 1, 0])}, "vector 2"),
        ({"cutoff": [1.0, 2.0]}, "radii has 2 values"),
    ],
)
def test_errors(arguments, message):
    if len(arguments) > 1 or arguments.get("cutoff") != 1:
        arguments = {"positions": np.zeros((3, 3)), **arguments}
    with pytest.raises(ValueError, match=message):
        ours.neighbour_list("ij", **arguments)


def test_neighbour_matrix_needs_a_length():
    with pytest.raises(ValueError, match="max_neighbours is None"):
        ours.neighbour_matrix(positions=np.zeros((1, 3)), cutoff=1)
