"""Sums against NumPy, in every shape that charges may have."""

import numpy as np
import pytest

import nearfield

rng = np.random.default_rng(1)
x, y, q = rng.random((200, 3)), rng.random((300, 3)), rng.uniform(-1, 1, 300)


def one_over_r(x, y, q):
    r = np.linalg.norm(x[:, None] - y[None], axis=-1)
    return np.divide(1, r, out=np.zeros_like(r), where=r > 0) @ q


@pytest.mark.parametrize("mutual", [None, False, True])
@pytest.mark.parametrize("n_threads", [1, 2])
def test_one_set(mutual, n_threads):
    points, charges = rng.random((2000, 3)), rng.random(2000)
    sums = nearfield.p2p("one_over_r", points, charges, mutual=mutual, n_threads=n_threads)
    assert np.allclose(sums, one_over_r(points, points, charges), rtol=1e-12)


def test_two_sets():
    assert np.allclose(nearfield.p2p("one_over_r", y, q, x), one_over_r(x, y, q), rtol=1e-11)
    single = nearfield.p2p("one_over_r", y.astype("f"), q.astype("f"), x.astype("f"))
    assert single.dtype == np.float32 and np.allclose(single, one_over_r(x, y, q), rtol=1e-3)


def test_several_right_hand_sides_and_outputs():
    charges = rng.random((300, 2, 1))
    sums = nearfield.p2p("val_grad_one_over_r", y, charges, x)
    assert sums.shape == (200, 2, 4)
    for k in range(2):
        alone = nearfield.p2p("val_grad_one_over_r", y, charges[:, k, 0], x)
        assert alone.shape == (200, 4) and np.allclose(sums[:, k], alone, rtol=1e-12)
    assert nearfield.p2p("stokeslet", y, rng.random((300, 3)), x).shape == (200, 3)
    assert nearfield.p2p("one_over_r", y, rng.random((300, 5)), x).shape == (200, 5)


def test_an_output_is_overwritten_or_added_to():
    out = np.full((200, 8), 7.0)[:, 2:3]
    sums = nearfield.p2p("one_over_r", y, q, x, out=out)
    assert sums is out and np.allclose(out[:, 0], one_over_r(x, y, q))
    nearfield.p2p("one_over_r", y, q, x, out=out, accumulate=True)
    assert np.allclose(out[:, 0], 2 * one_over_r(x, y, q))


def test_parameters_by_name():
    r2 = ((x[:, None] - y[None]) ** 2).sum(-1)
    sums = nearfield.p2p("gaussian", y, q, x, sigma=0.1)
    once = nearfield.Interaction("gaussian", 3, sigma=0.1)
    assert np.allclose(sums, np.exp(-r2 / 0.1**2) @ q)
    assert np.array_equal(nearfield.p2p(once, y, q, x), sums)


def test_parameters_of_points_are_columns():
    eps = rng.uniform(0.1, 0.2, (200, 1))
    with_eps = np.hstack([x, eps])
    sums = nearfield.p2p("individual_plummer_gravity", with_eps, np.ones(200))
    assert sums.shape[0] == 200 and np.isfinite(sums).all()


def test_the_near_field_over_a_tree_and_over_cells():
    points, charges = rng.random((3000, 3)), rng.random(3000)
    tree = nearfield.build_tree(points, max_leaf_size=3000)
    for mutual in (False, True, None):
        sums = nearfield.near_field("one_over_r", tree, points, charges, mutual=mutual)
        assert np.allclose(sums, one_over_r(points, points, charges), rtol=1e-11)
    tree = nearfield.build_tree(points, max_leaf_size=30)
    assert tree.n_leaves > 100 and tree.largest_leaf <= 30
    assert np.array_equal(np.sort(tree.order), np.arange(3000)) and tree.offsets[-1] == 3000
    few = nearfield.near_field("one_over_r", tree, points, charges)
    two_sets = nearfield.build_tree(points, x, max_leaf_size=3000)
    sums_at_x = nearfield.near_field("one_over_r", two_sets, points, charges, x)
    assert np.allclose(sums_at_x, one_over_r(x, points, charges), rtol=1e-11)
    assert (few < sums).all()
    cells = nearfield.CellList(points, 0.1, cell=np.eye(3))
    h = np.full((3000, 1), 0.05)
    density = nearfield.near_field("sph_density", cells, points, charges, h=0.05)
    assert density.shape == (3000,) and h.shape == (3000, 1)


def test_describes_its_kernels():
    all_of_them = nearfield.kernels()
    names = {(k["name"], k["dim"]) for k in all_of_them}
    assert len(names) == len(all_of_them) and ("one_over_r", 3) in names
    assert all(k["formula"] and k["is_built"] for k in all_of_them)
    for k in all_of_them:
        if not k["point_parameters"] and "cutoff" not in str(k["parameters"]):
            points, charges = rng.random((20, k["dim"])), rng.random((20, k["n_in"]))
            shape = (20,) if k["n_out"] == 1 else (20, k["n_out"])
            assert nearfield.p2p(nearfield.Interaction(k["name"], k["dim"]), points, charges).shape == shape


def filtered():
    cells = nearfield.CellList(y, 0.1)
    cells.filter(rows=[1])
    return cells


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: nearfield.p2p("one_over_rr", y, q), "there is no kernel 'one_over_rr'.*'one_over_r'"),
        (lambda: nearfield.p2p("gaussian", y, q, sigma=-1), "sigma is -1"),
        (lambda: nearfield.p2p("gaussian", y, q, width=1), "width"),
        (lambda: nearfield.p2p("one_over_r", y, q[:10]), "charges are 10, and there are 300 sources"),
        (lambda: nearfield.p2p("one_over_r", y, q, out=q), "out shares memory with charges"),
        (lambda: nearfield.p2p("dipole_tensor", y, np.ones((300, 3, 2))), "n_rhs, 3"),
        (lambda: nearfield.near_field("gaussian", nearfield.CellList(y, 0.1), y, q), "does not end"),
        (lambda: nearfield.near_field_step("one_over_r", nearfield.build_tree(y, x), y, q), "targets"),
        (lambda: nearfield.p2p("one_over_r", y, q, x[:, :2]), "found 2 columns"),
        (lambda: nearfield.p2p("stokeslet", y, rng.random((300, 4))), "charges have 4 columns; give 3"),
        (lambda: nearfield.p2p("one_over_r", y, q, x, mutual=True), "mutual"),
        (lambda: nearfield.p2p("one_over_r", y, q, x, out=np.zeros(3)), "out has shape"),
        (lambda: nearfield.p2p("one_over_r", y, q, x.astype("f")), "targets is float32"),
        (
            lambda: nearfield.p2p("gaussian_vortex", np.ones((9, 4)), np.ones((9, 3)), sigma=1.0),
            "column after",
        ),
        (lambda: nearfield.near_field("sph_density", filtered(), y, q, h=0.05), "filter"),
        (lambda: nearfield.p2p("one_over_r", y, q, accumulate=True), "accumulate"),
        (lambda: nearfield.build_tree(y, max_leaf_size=-1), "max_leaf_size"),
        (lambda: nearfield.build_tree(np.zeros((9, 10)), cell=np.eye(3)), "10 columns"),
        (lambda: nearfield.near_field("one_over_r", nearfield.build_tree(y), y, q, x), "there are none"),
    ],
)
def test_refuses_what_does_not_fit(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_refuses_parameters_that_are_no_numbers():
    with pytest.raises(TypeError, match="sigma is ndarray; give a number"):
        nearfield.p2p("gaussian", y, q, sigma=np.ones(300))


def test_refuses_outputs_that_cannot_be_written():
    locked = np.zeros(200)
    locked.flags.writeable = False
    with pytest.raises(TypeError, match="writable"):
        nearfield.p2p("one_over_r", y, q, x, out=locked)


def test_a_step_follows_points_that_move():
    points, charges = rng.random((1000, 3)), rng.random(1000)
    options = {"sigma": 0.02}
    tree = nearfield.build_tree(points, max_leaf_size=20)
    cells = nearfield.CellList(points, 0.1, skin=0.02)
    for _ in range(3):
        points = points + rng.uniform(-0.01, 0.01, points.shape)
        for leaves, k, fresh in (
            (
                tree,
                nearfield.Interaction("gaussian", 3, **options),
                nearfield.build_tree(points, max_leaf_size=20),
            ),
            (cells, nearfield.Interaction("sph_density", 3, h=0.05), nearfield.CellList(points, 0.1)),
        ):
            sums = nearfield.near_field_step(k, leaves, points, charges)
            assert np.allclose(sums, nearfield.near_field(k, fresh, points, charges), rtol=1e-12)
