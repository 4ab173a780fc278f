"""Arrays of JAX and PyTorch in host memory, where they are installed."""

import numpy as np
import pytest

import nearfield

x = np.random.default_rng(1).random((200, 3)).astype(np.float32)


def test_jax():
    jnp = pytest.importorskip("jax.numpy")
    i, j, D = nearfield.find_pairs("ijD", jnp.asarray(x), 0.2, cell=jnp.eye(3), index="int32")
    expected = nearfield.find_pairs("ijD", x, 0.2, cell=np.eye(3), index="int32")
    for found, right in zip((i, j, D), expected, strict=True):
        assert isinstance(found, jnp.ndarray) and np.array_equal(found, right)
    sums = nearfield.p2p("one_over_r", jnp.asarray(x), jnp.ones(200, np.float32))
    assert isinstance(sums, jnp.ndarray)
    assert np.array_equal(sums, nearfield.p2p("one_over_r", x, np.ones(200, np.float32)))
    assert nearfield.CellList(jnp.asarray(x), 0.2).count() == nearfield.count_pairs(x, 0.2)


def test_torch():
    torch = pytest.importorskip("torch")
    points = torch.from_numpy(x).requires_grad_()
    i, j, S = nearfield.find_pairs("ijS", points, 0.2, cell=torch.eye(3))
    expected = nearfield.find_pairs("ijS", x, 0.2, cell=np.eye(3))
    for found, right in zip((i, j, S), expected, strict=True):
        assert isinstance(found, torch.Tensor) and np.array_equal(found.numpy(), right)
    out = torch.zeros(200)
    assert nearfield.p2p("one_over_r", points, torch.ones(200), out=out) is out
    assert np.array_equal(out.numpy(), nearfield.p2p("one_over_r", x, np.ones(200, np.float32)))
