import subprocess
import sys

import numpy as np
import pytest

from nearfield._ase_plugin import __ase_plugins__
from nearfield._ase_plugin import neighbor_list as plugin_neighbor_list
from nearfield.ase import install, neighbor_list, primitive_neighbor_list, uninstall

ase = pytest.importorskip("ase")
theirs = pytest.importorskip("ase.neighborlist")


def systems(n_systems, seed):
    """Atoms in and out of skewed cells of both hands, open and periodic, cutoffs above and below cells."""
    random = np.random.default_rng(seed)
    for k in range(n_systems):
        n = random.integers(1, 12)
        cell = random.normal(size=(3, 3)) + np.diag(random.choice([-3, 3], 3))
        yield (
            ase.Atoms(
                numbers=random.choice([1, 6, 8], n),
                positions=random.normal(size=(n, 3)) * random.choice([1, 8]),
                cell=cell,
                pbc=[k & 1, k & 2, k & 4],
            ),
            random.choice([0.7, 2.0, 4.0]),
        )


def assert_same(ours, others):
    i, j, d, D, S = ours
    assert (np.diff(i) >= 0).all()
    assert [(of.dtype, of.shape) for of in ours] == [(of.dtype, of.shape) for of in others]
    by_pair = [np.lexsort((*of[4].T, of[1], of[0])) for of in (ours, others)]
    for a, b in zip(ours, others):
        np.testing.assert_allclose(a[by_pair[0]], b[by_pair[1]], rtol=0, atol=1e-10)


def assert_same_as_ase(atoms, cutoff, **options):
    assert_same(
        neighbor_list("ijdDS", atoms, cutoff, **options),
        theirs.neighbor_list("ijdDS", atoms, cutoff, **options),
    )


@pytest.mark.parametrize("self_interaction", [False, True])
def test_pairs_are_those_of_ase(self_interaction):
    for atoms, cutoff in systems(48, 1):
        assert_same_as_ase(atoms, cutoff, self_interaction=self_interaction)


@pytest.mark.parametrize("self_interaction", [False, True])
def test_cutoffs_of_elements_and_radii(self_interaction):
    for atoms, cutoff in systems(32, 2):
        of_elements = {("H", "C"): cutoff, (6, "C"): 0.8 * cutoff, (8, 1): 0.5 * cutoff, ("Xe", 1): cutoff}
        assert_same_as_ase(atoms, of_elements, self_interaction=self_interaction)
        radii = np.random.default_rng(3).uniform(0, cutoff / 2, len(atoms))
        assert_same_as_ase(atoms, radii, self_interaction=self_interaction)
        assert_same_as_ase(atoms, list(radii), self_interaction=self_interaction)


def test_radii_decide_as_sums_of_float64():
    radii = np.array([0.1, 0.2])
    for distance, n in [(0.3, 2), (0.1 + 0.2, 0)]:
        assert len(primitive_neighbor_list("i", False, np.eye(3), [[0, 0, 0], [distance, 0, 0]], radii)) == n


@pytest.mark.parametrize(
    "cell",
    [None, [3, 3, 0], [[2, 1, 0], [0, 0, 0], [0, 0, 0]], [[2, 1, 0], [1, 3, 0], [0, 0, 0]]],
)
@pytest.mark.parametrize("pbc", [False, True])
def test_cells_that_ase_completes(cell, pbc):
    assert_same_as_ase(ase.Atoms("H3", np.random.default_rng(4).random((3, 3)), cell=cell, pbc=pbc), 1.2)


def test_primitive_form():
    for atoms, cutoff in systems(16, 5):
        arguments = (atoms.pbc, atoms.cell, atoms.get_scaled_positions(wrap=False), cutoff)
        assert_same(
            primitive_neighbor_list("ijdDS", *arguments, use_scaled_positions=True),
            theirs.primitive_neighbor_list("ijdDS", *arguments, use_scaled_positions=True),
        )
    pair = ((True, 0, False), np.diag([2, 9, 9]).tolist(), [[0, 0, 0], [1, 0, 0]])
    assert len(primitive_neighbor_list("i", True, np.eye(3), [], 1.0, use_scaled_positions=True)) == 0
    S = primitive_neighbor_list("S", *pair, 1.5)
    assert sorted(S.tolist()) == [[-1, 0, 0], [0, 0, 0], [0, 0, 0], [1, 0, 0]] and S.dtype == np.int64
    without_numbers = {(1, 1): 1.5, (1, 6): 0.5}
    assert primitive_neighbor_list("j", *pair, without_numbers).tolist() == [1, 1, 0, 0]


@pytest.mark.parametrize("cutoff", [1.0, 0, {}, [], {("H", "H"): 1.0}])
@pytest.mark.parametrize("quantities", ["i", "S", "Dd", "ijdDS", ""])
def test_no_points(cutoff, quantities):
    ours = neighbor_list(quantities, ase.Atoms(), cutoff)
    others = theirs.neighbor_list(quantities, ase.Atoms(), cutoff)
    if len(quantities) == 1:
        ours, others = (ours,), (others,)
    assert [(of.shape, of.dtype) for of in ours] == [(of.shape, of.dtype) for of in others]


@pytest.mark.parametrize("cutoff", [0, np.zeros(2), {("H", "H"): 0.0}, {("C", "C"): 2.0}])
def test_no_pairs(cutoff):
    atoms = ase.Atoms("H2", np.zeros((2, 3)))
    assert len(neighbor_list("i", atoms, cutoff, self_interaction=True)) == 0
    assert len(theirs.neighbor_list("i", atoms, cutoff, self_interaction=True)) == 0


@pytest.mark.parametrize(
    ("quantities", "cutoff", "message"),
    [
        ("ix", 1.0, "quantities are 'ix'"),
        ("ijo", 1.0, "quantities are 'ijo'"),
        ("ij", -1.0, "the cutoff is -1"),
        ("ij", np.nan, "the cutoff is nan"),
        ("ij", [1.0, np.inf], "inf"),
        ("ij", [1.0] * 3, "radii has 3 values"),
        ("ij", {("H", "Qq"): 1.0}, "element 'Qq'"),
        ("ij", {("H", "H"): -1.0}, "-1"),
    ],
)
def test_errors(quantities, cutoff, message):
    with pytest.raises(ValueError, match=message):
        neighbor_list(quantities, ase.Atoms("H2", [[0, 0, 0], [0, 0, 1]]), cutoff)


def test_a_periodic_axis_needs_a_vector():
    with pytest.raises(ValueError, match="vector 2"):
        primitive_neighbor_list("i", True, np.diag([1, 1, 0]), np.zeros((1, 3)), 1.0)


def test_install():
    from ase.calculators import morse
    from ase.optimize.precon import neighbors

    their_own = theirs.neighbor_list
    with install():
        with install():
            assert theirs.primitive_neighbor_list is primitive_neighbor_list
        assert morse.ase_neighbor_list is theirs.neighbor_list is neighbor_list
        assert neighbors.neighbor_list is neighbor_list
        atoms = ase.Atoms("H2", [[0, 0, 0], [0, 0, 1.5]], calculator=morse.MorsePotential())
        energy = atoms.get_potential_energy()
        new = theirs.NewPrimitiveNeighborList([1, 1])
        new.update(atoms.pbc, atoms.cell, atoms.positions)
    assert morse.ase_neighbor_list is theirs.neighbor_list is their_own
    assert neighbors.neighbor_list is their_own
    atoms.calc = morse.MorsePotential()
    assert atoms.get_potential_energy() == pytest.approx(energy, rel=1e-14)
    install()
    uninstall()
    uninstall()
    assert theirs.neighbor_list is their_own


@pytest.mark.parametrize("bothways", [True, False])
@pytest.mark.parametrize("self_interaction", [True, False])
def test_install_replaces_the_list_that_loops(bothways, self_interaction):
    def pairs_of(system, cutoffs):
        built = theirs.PrimitiveNeighborList(
            cutoffs, 0.1, sorted=True, self_interaction=self_interaction, bothways=bothways
        )
        assert built.update(*system)
        assert not built.update(*system)
        pairs = []
        for i in range(len(cutoffs)):
            j, S = built.get_neighbors(i)
            assert j.dtype == S.dtype == np.int64 and S.shape == (len(j), 3)
            pairs += [(i, int(k), *shift) for k, shift in zip(j, S.tolist())]
        if bothways:
            return pairs
        return sorted(min((i, j, *S), (j, i, *(-s for s in S))) for i, j, *S in pairs)

    for atoms, cutoff in systems(24, 6):
        system = atoms.pbc, atoms.cell.array, atoms.positions
        cutoffs = np.random.default_rng(7).uniform(0, cutoff / 2, len(atoms))
        others = pairs_of(system, cutoffs)
        with install():
            assert pairs_of(system, cutoffs) == others
    with install():
        assert theirs.NeighborList([]).update(ase.Atoms())
        with pytest.raises(ValueError, match="cutoffs has 1 values; give 2"):
            theirs.NeighborList([1]).update(ase.Atoms("H2"))


def test_plugin():
    atoms = ase.Atoms("H2", [[0, 0, 0], [0, 0, 1.5]])
    j = plugin_neighbor_list("j", atoms, 2.0, self_interaction=True)
    assert sorted(j[:2]) == sorted(j[2:]) == [0, 1]
    assert len(__ase_plugins__) <= 1


def test_ase_is_not_imported():
    code = "import nearfield.ase, sys; sys.exit('ase' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
