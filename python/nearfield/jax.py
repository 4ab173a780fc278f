"""Pairs and sums inside jax.jit and jax.grad, on the CPU.

    edges = nearfield.jax.find_pairs(x, 0.1, capacity=20_000, cell=cell)
    D = nearfield.jax.displacements(x, edges, cell)          # differentiable in x and cell
    phi = nearfield.jax.p2p("one_over_r", x, q)              # differentiable in x and q

Calls go to the host by jax.pure_callback.
"""

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from . import _sums
from ._pairs import CellList

__all__ = ["Edges", "displacements", "find_pairs", "p2p"]


class Edges(NamedTuple):
    """Pairs (i, j, S) in arrays of a fixed capacity."""

    i: jax.Array  #: (capacity,) of int32; n, the number of points, behind the last pair
    j: jax.Array  #: the same of the sources
    S: jax.Array  #: (capacity, dim) of int32; the image of j
    n_edges: jax.Array  #: the true number of pairs
    did_overflow: jax.Array  #: whether there was no room for all

    def mask(self):
        """Which places hold a pair: (capacity,) of bool."""
        return jnp.arange(self.i.shape[0]) < self.n_edges


def find_pairs(positions, cutoff, capacity, *, cell=None, pbc=None, half=False):
    """Find pairs as `nearfield.find_pairs`, by i; those behind the capacity are counted but left out.

    Parameters
    ----------
    positions : (n, dim) array of float32 or float64
    cutoff : float
    capacity : int
        Places for pairs; known when the function is traced.
    cell : (dim, dim) array, optional
    pbc : bool or (dim,) of bool, optional
        Known when the function is traced.
    half : bool

    Returns
    -------
    Edges
    """
    n, dim = positions.shape

    def found(x, cell, cutoff):
        cells = CellList(np.asarray(x), float(cutoff), cell=np.asarray(cell) if cell.size else None, pbc=pbc)
        count = cells.count(half=half)
        i, j, S = (
            np.full(capacity, n, np.int32),
            np.full(capacity, n, np.int32),
            np.zeros((capacity, dim), np.int32),
        )
        if 0 < count <= capacity:
            i[:count], j[:count], S[:count] = cells.find("ijS", half=half, index="int32")
        elif count:
            parts = cells.find("ijS", half=half, index="int32")
            i[:], j[:], S[:] = (part[:capacity] for part in parts)
        return i, j, S, np.int32(count), np.bool_(count > capacity)

    index, flag = jax.ShapeDtypeStruct((capacity,), jnp.int32), jax.ShapeDtypeStruct((), jnp.bool_)
    shapes = (
        index,
        index,
        jax.ShapeDtypeStruct((capacity, dim), jnp.int32),
        jax.ShapeDtypeStruct((), jnp.int32),
        flag,
    )
    given = jnp.zeros((0, 0)) if cell is None else jnp.asarray(cell)
    arguments = map(jax.lax.stop_gradient, (positions, given, jnp.asarray(cutoff)))
    return Edges(*jax.pure_callback(found, shapes, *arguments, vmap_method="sequential"))


def displacements(positions, edges, cell=None):
    """x_j + S cell - x_i of each pair, 0 behind the last: (capacity, dim)."""
    i, j = (jnp.clip(of, 0, max(len(positions) - 1, 0)) for of in (edges.i, edges.j))
    if not len(positions):
        return jnp.zeros((len(i), positions.shape[1]), positions.dtype)
    D = positions[j] - positions[i]
    if cell is not None:
        D = D + edges.S.astype(positions.dtype) @ jnp.asarray(cell, positions.dtype)
    return jnp.where(edges.mask()[:, None], D, 0)


def p2p(kernel, sources, charges, targets=None, **parameters):
    """Sum over all pairs as `nearfield.p2p`, of kernels with one input and one output; parameters are numbers.

    Reverse-mode derivatives by positions and charges, of kernels for which `kernels()` has a val_grad_... too.
    """
    k = _sums._interaction(kernel, sources.shape[1], parameters)
    if (k.n_in, k.n_out, k.n_point_parameters) != (1, 1, 0):
        raise ValueError(
            f"{kernel} has {k.n_in} inputs and {k.n_out} outputs; give a kernel with one of each"
        )
    return _p2p(kernel, tuple(sorted(parameters.items())), sources, charges, targets)


@partial(jax.custom_vjp, nondiff_argnums=(0, 1))
def _p2p(kernel, parameters, sources, charges, targets):
    n = len(sources if targets is None else targets)
    of_points = () if targets is None else (targets,)

    def sums(sources, charges, *targets):
        return _sums.p2p(kernel, *map(np.asarray, (sources, charges, *targets)), **dict(parameters))

    shape = jax.ShapeDtypeStruct((n,), sources.dtype)
    return jax.pure_callback(sums, shape, sources, charges, *of_points, vmap_method="sequential")


def _forward(kernel, parameters, sources, charges, targets):
    return _p2p(kernel, parameters, sources, charges, targets), (sources, charges, targets)


def _backward(kernel, parameters, saved, cotangents):
    def products(sources, charges, cotangents, targets=None):
        arrays = (None if of is None else np.asarray(of) for of in (sources, charges, targets, cotangents))
        return tuple(by for by in _sums.p2p_vjp(kernel, *arrays, parameters) if by is not None)

    sources, charges, targets = saved
    inputs = [sources, charges] + ([] if targets is None else [targets])
    shapes = tuple(jax.ShapeDtypeStruct(of.shape, of.dtype) for of in inputs)
    found = jax.pure_callback(
        products, shapes, sources, charges, cotangents, *inputs[2:], vmap_method="sequential"
    )
    return (*found, None) if targets is None else tuple(found)


_p2p.defvjp(_forward, _backward)
