"""Inside jax.jit and jax.grad."""

import numpy as np
import pytest

jax = pytest.importorskip("jax")
jnp = jax.numpy
nearfield = pytest.importorskip("nearfield.jax")
find_pairs = __import__("nearfield").find_pairs

rng = np.random.default_rng(1)
x = rng.random((60, 3)).astype(np.float32)
cell = np.eye(3, dtype=np.float32)


def test_edges_have_a_fixed_capacity():
    expected = find_pairs("ijS", x, 0.25, cell=cell)
    n = len(expected[0])
    search = jax.jit(lambda x, capacity: nearfield.find_pairs(x, 0.25, capacity, cell=cell), static_argnums=1)
    edges = search(x, n + 7)
    assert int(edges.n_edges) == n and not edges.did_overflow and int(edges.mask().sum()) == n
    for found, right in zip(edges[:3], expected, strict=True):
        assert np.array_equal(found[:n], right)
    assert (edges.i[n:] == 60).all() and (edges.j[n:] == 60).all()
    few = search(x, n - 5)
    assert few.did_overflow and int(few.n_edges) == n and np.array_equal(few.i, expected[0][: n - 5])
    assert not search(x[:0], 4).mask().any()


def test_a_molecular_energy_has_forces_and_a_stress():
    def energy(x, cell):
        edges = nearfield.find_pairs(x, 0.25, 2000, cell=cell)
        D = nearfield.displacements(x, edges, cell)
        r2 = jnp.where(edges.mask(), (D**2).sum(axis=1), 1)
        return jnp.where(edges.mask(), jnp.exp(-20 * r2), 0).sum()

    by_x, by_cell = jax.jit(jax.grad(energy, argnums=(0, 1)))(x, cell)
    i, j, D = find_pairs("ijD", x, 0.25, cell=cell)
    pair = -40 * np.exp(-20 * (D**2).sum(axis=1))[:, None] * D
    expected = np.zeros_like(x)
    np.add.at(expected, j, pair)
    np.add.at(expected, i, -pair)
    assert np.allclose(by_x, expected, atol=2e-5)
    S = find_pairs("S", x, 0.25, cell=cell)
    assert np.allclose(by_cell, S.T.astype(np.float32) @ pair, atol=2e-4)


@pytest.mark.parametrize("two_sets", [False, True])
@pytest.mark.parametrize(("kernel", "parameters"), [("one_over_r", {}), ("yukawa", {"kappa": 2.0})])
def test_sums_have_derivatives(kernel, parameters, two_sets):
    with jax.enable_x64(True):
        y, q, t = (
            jnp.asarray(of, jnp.float64)
            for of in (rng.random((20, 3)), rng.random(20), rng.random((10, 3)) + 0.4)
        )
        weights = jnp.asarray(rng.random(10 if two_sets else 20))
        dense_kernel = {
            "one_over_r": lambda r: 1 / r,
            "yukawa": lambda r: jnp.exp(-2.0 * r) / r,
        }[kernel]

        def ours(y, q, t):
            return weights @ nearfield.p2p(kernel, y, q, t if two_sets else None, **parameters)

        def dense(y, q, t):
            a = t if two_sets else y
            d = a[:, None] - y[None]
            r2 = (d**2).sum(-1)
            r = jnp.sqrt(jnp.where(r2 > 0, r2, 1))
            return weights @ (jnp.where(r2 > 0, dense_kernel(r), 0) @ q)

        assert np.allclose(jax.jit(ours)(y, q, t), dense(y, q, t), rtol=1e-12)
        arguments = (0, 1, 2) if two_sets else (0, 1)
        for found, right in zip(
            jax.grad(ours, arguments)(y, q, t), jax.grad(dense, arguments)(y, q, t), strict=True
        ):
            assert np.allclose(found, right, rtol=1e-9, atol=1e-9)


def test_refuses_kernels_of_vectors():
    with pytest.raises(ValueError, match="stokeslet has 3 inputs and 3 outputs"):
        nearfield.p2p("stokeslet", jnp.asarray(x), jnp.ones((60, 3), jnp.float32))


def test_a_kernel_without_derivatives_says_so():
    with pytest.raises(Exception, match="there is no 'val_grad_gaussian'"):
        jax.grad(lambda x: nearfield.p2p("gaussian", x, jnp.ones(60, jnp.float32)).sum())(jnp.asarray(x))
