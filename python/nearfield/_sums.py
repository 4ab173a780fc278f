"""Sums over pairs of points: phi_i = sum_j K(x_i - y_j) q_j."""

import difflib
import functools
import numbers

import numpy as np

from . import _core
from ._arrays import like, read
from ._pairs import CellList

_FORMS = {False: 0, True: 1, None: 2}  # of `mutual`


class Interaction(_core.Interaction):
    """A built-in interaction K with values of its parameters; `kernels()` has names and formulas.

    Raises ValueError for a name, dimension or parameter that does not exist, and for values out of range.
    """

    def __init__(self, name, dim=3, **parameters):
        super().__init__(name, dim, parameters)


@functools.lru_cache(maxsize=64)
def _cached(name, dim, parameters):
    for info in _all():
        for parameter, _ in parameters if info["name"] == name else ():
            if any(parameter == of_points[0] for of_points in info["point_parameters"]):
                raise ValueError(
                    f"{parameter} is a parameter of points: give it as a column after the coordinates"
                )
    return _core.Interaction(name, dim, dict(parameters))


def _interaction(kernel, dim, parameters):
    if isinstance(kernel, _core.Interaction):
        if parameters:
            raise ValueError("give parameters to Interaction(), or with the name of a kernel")
        return kernel
    if not isinstance(kernel, str):
        raise TypeError(f"kernel is {type(kernel).__name__}; give a name of kernels(), or an Interaction")
    for name, value in parameters.items():
        if not isinstance(value, numbers.Real):
            raise TypeError(f"{name} is {type(value).__name__}; give a number")
    return _cached(kernel, dim, tuple(sorted(parameters.items())))


def _dim(kernel, sources):
    """2 or 3: that of an interaction, or of a name whose points have so many columns."""
    if isinstance(kernel, _core.Interaction):
        return kernel.dim
    if not hasattr(sources, "shape"):
        raise TypeError(f"sources is {type(sources).__name__}; give an array")
    if sources.ndim != 2:
        raise ValueError(f"sources have {sources.ndim} axes; give shape (n, 2) or (n, 3)")
    return _dim_of(kernel, sources.shape[1]) if isinstance(kernel, str) else 3


@functools.lru_cache(maxsize=256)
def _dim_of(kernel, columns):
    names = {info["name"] for info in _all()}
    if kernel not in names:
        near = difflib.get_close_matches(kernel, names)
        raise ValueError(
            f"there is no kernel {kernel!r}; kernels() lists all" + (f", such as {near}" if near else "")
        )
    for info in _all():
        if info["name"] == kernel and info["dim"] + len(info["point_parameters"]) == columns:
            return info["dim"]
    return min(3, columns)


@functools.lru_cache(maxsize=1)
def _all():
    return _core.interactions()


def kernels():
    """Describe the built-in interactions.

    Returns
    -------
    list of dict
        name, dim, formula, source (the paper), inputs, outputs, n_in, n_out, flops of a pair, has_mutual, is_built, group,
        and parameters and point_parameters, each (name, unit, default, range).
    """
    return [{k: tuple(v) if isinstance(v, list) else v for k, v in info.items()} for info in _all()]


def _check(sources, charges, targets, sums):
    """Before `sums` are overwritten: arrays have one type, each source its charges, and nothing lies in `sums`."""
    for name, of in (("charges", charges), ("targets", targets), ("out", sums)):
        if of is not None and getattr(of, "dtype", sources.dtype) != sources.dtype:
            raise ValueError(f"{name} is {of.dtype} and the sources are {sources.dtype}; give one type")
    if len(charges) != len(sources):
        raise ValueError(
            f"charges are {len(charges)}, and there are {len(sources)} sources; give one for each"
        )
    for name, of in (("sources", sources), ("charges", charges), ("targets", targets)):
        if of is not None and np.may_share_memory(sums, of):
            raise ValueError(f"out shares memory with {name}; give another array")


def _outputs(k, n, charges, like, out, accumulate):
    """The array of sums: `out`, or a new one of shape (n,), (n, n_out), or (n, n_rhs, n_out)."""
    if not hasattr(charges, "shape"):
        raise TypeError(f"charges is {type(charges).__name__}; give an array")
    if charges.ndim not in (1, 2, 3):
        raise ValueError(f"charges have {charges.ndim} axes; give 1, 2 or 3")
    if charges.ndim == 3 and charges.shape[2] != k.n_in:
        raise ValueError(f"charges have shape {charges.shape}; give (n, n_rhs, {k.n_in})")
    width = int(np.prod(charges.shape[1:]))
    n_rhs, rest = divmod(width, k.n_in)
    if rest or n_rhs == 0:
        raise ValueError(
            f"charges have {width} columns; give {k.n_in}, or a multiple for several right-hand sides"
        )
    if out is not None:
        if not hasattr(out, "shape"):
            raise TypeError(f"out is {type(out).__name__}; give an array")
        if out.ndim == 0 or out.shape[0] != n or np.prod(out.shape[1:], dtype=int) != n_rhs * k.n_out:
            raise ValueError(f"out has shape {out.shape}; give {n} rows of {n_rhs * k.n_out}")
        return out
    if accumulate:
        raise ValueError("accumulate adds to out, which was not given")
    shape = (n,)
    if charges.ndim == 3 or n_rhs > 1:
        shape += (n_rhs,)
    if k.n_out > 1:
        shape += (k.n_out,)
    return np.empty(shape, like.dtype)


def p2p(
    kernel,
    sources,
    charges,
    targets=None,
    *,
    mutual=None,
    out=None,
    accumulate=False,
    n_threads=0,
    **parameters,
):
    """Sum over all pairs: phi_i = sum_j K(x_i - y_j) q_j.

    Parameters
    ----------
    kernel : str or Interaction
        What `kernels()` lists.
    sources : (n, dim) array of float32 or float64
        y. After the coordinates come columns of the parameters of points, if the kernel has any.
    charges : (n,), (n, n_in) or (n, n_rhs, n_in) array
        q, of the type of the sources. (n, n_rhs n_in) is several right-hand sides too.
    targets : (m, dim) array, optional
        x. Without it the sources are the targets, and j != i. Points at one place add nothing where K is not finite. With
        parameters of points, as many columns as the sources.
    mutual : bool, optional
        Evaluate K once for both points of a pair, for one set. Default: where the kernel allows it.
    out : array, optional
        Where to write. With `accumulate`, where to add.
    n_threads : int
        0: OMP_NUM_THREADS or all processors of this process.
    **parameters
        Those of the kernel by name, such as ``sigma=0.1``.

    Returns
    -------
    (m,), (m, n_out) or (m, n_rhs, n_out) array
    """
    caller = sources
    sources, charges, targets = read(sources), read(charges), read(targets)
    k = _interaction(kernel, _dim(kernel, sources), parameters)
    n = len(sources if targets is None else targets)
    sums = _outputs(k, n, charges, sources, read(out), accumulate)
    _check(sources, charges, targets, sums)
    if mutual is None:
        mutual = targets is None and k.has_mutual
    elif mutual and (targets is not None or not k.has_mutual):
        raise ValueError("a mutual sum needs one set of points, and a kernel that has_mutual")
    _core.p2p(k, sources, charges, targets, sums, mutual, accumulate, n_threads)
    return like(caller, sums) if out is None else out


class Tree:
    """An octree or quadtree over points; `build_tree` makes it."""

    def __init__(self, positions, targets, options):
        self._options = options
        self._has_two_sets = targets is not None
        self.update(positions, targets)

    def update(self, positions, targets=None):
        """Build the tree anew, of these points and with the same options."""
        if self._has_two_sets != (targets is not None):
            raise ValueError("targets: give them if the tree was built with some, otherwise none")
        self._tree = _core.Tree(read(positions), read(targets), *self._options)

    n_leaves = property(lambda self: self._tree.n_leaves, doc="The number of leaves.")
    depth = property(lambda self: self._tree.depth, doc="The level of the deepest leaf.")
    largest_leaf = property(lambda self: self._tree.largest_leaf, doc="The points of the fullest leaf.")
    n_interactions = property(
        lambda self: self._tree.n_interactions, doc="Ordered pairs of points that meet."
    )
    offsets = property(
        lambda self: self._tree.offsets, doc="Leaf b has the points ``order[offsets[b]:offsets[b + 1]]``."
    )
    order = property(lambda self: self._tree.order, doc="The index of the point at each position.")


def build_tree(
    positions,
    targets=None,
    *,
    max_leaf_size=64,
    level=None,
    cell=None,
    pbc=None,
    origin=None,
    n_threads=0,
):
    """Build an octree or quadtree for `near_field`.

    Parameters
    ----------
    positions : (n, 2) or (n, 3) array
        The sources, and the targets unless these are given.
    max_leaf_size : int
        A box with more points splits.
    level : int, optional
        All leaves have this level instead.
    cell, pbc, origin
        See `CellList`.

    Returns
    -------
    Tree
    """
    if cell is not None:
        cell = np.ascontiguousarray(read(cell), np.float64)
    if origin is not None:
        origin = np.ascontiguousarray(origin, np.float64)
    return Tree(positions, targets, (max_leaf_size, level, cell, pbc, origin, n_threads))


def near_field(
    kernel,
    leaves,
    positions,
    charges,
    targets=None,
    *,
    mutual=None,
    out=None,
    accumulate=False,
    **parameters,
):
    """Sum over pairs of points whose leaves meet: of a tree, or of the cells of a `CellList`.

    A leaf meets itself and the leaves that touch it. Over cells the kernel must end at their cutoff, or before.

    Parameters
    ----------
    leaves : Tree or CellList
    positions, charges, targets, out, accumulate, **parameters
        As `p2p`; the points from which the leaves were made.
    mutual : bool, optional
        Evaluate K once for both points of a pair. Default: where that is faster.

    Returns
    -------
    array, as that of `p2p`
    """
    if getattr(leaves, "_has_filter", False):
        raise ValueError(
            "the list has a filter, which near_field does not know; call leaves.filter() to take it back"
        )
    caller = positions
    positions, charges, targets = read(positions), read(charges), read(targets)
    k = _interaction(kernel, _dim(kernel, positions), parameters)
    n = len(positions if targets is None else targets)
    sums = _outputs(k, n, charges, positions, read(out), accumulate)
    _check(positions, charges, targets, sums)
    if not isinstance(leaves, Tree | CellList):
        raise TypeError(f"leaves is {type(leaves).__name__}; give a Tree or a CellList")
    if isinstance(leaves, CellList) and k.cutoff == 0:
        raise ValueError(f"{kernel} does not end, and cells do; give a tree, or a kernel with a cutoff")
    of = leaves._tree if isinstance(leaves, Tree) else leaves._cells
    of.near_field(k, positions, targets, charges, sums, accumulate, _FORMS[mutual])
    return like(caller, sums) if out is None else out


def near_field_step(kernel, leaves, positions, charges, targets=None, **options):
    """The near field of points that have moved: `leaves` take them, then `near_field`.

    A `CellList` sorts points again where its skin no longer covers their moves, a `Tree` is built anew.
    """
    leaves.update(positions, targets)
    return near_field(kernel, leaves, positions, charges, targets, **options)


def p2p_vjp(kernel, sources, charges, targets, cotangents, parameters=()):
    """The derivatives of ``sum(cotangents * p2p(...))`` by sources, charges and, if they are given, targets.

    Parameters
    ----------
    kernel : str
        With one input and one output, K(-r) = K(r), and a kernel val_grad_... of the same parameters.
    cotangents : (m,) array
        One for each sum.
    parameters : dict or pairs
        Those of the kernel.

    Returns
    -------
    tuple of arrays
        Of the shapes of sources, charges and targets; None for targets that are None.

    Raises
    ------
    ValueError
        For a kernel without these derivatives.
    """
    dim, parameters = sources.shape[1], dict(parameters)
    both = f"val_grad_{kernel}"
    if not any(k["name"] == both and k["dim"] == dim for k in _all()):
        raise ValueError(
            f"kernel is {kernel!r} in {dim}D, and there is no {both!r}; give one that has derivatives"
        )
    points = sources if targets is None else targets
    at_sources = p2p(both, points, cotangents, None if targets is None else sources, **parameters)
    at_targets = p2p(both, sources, charges, targets, **parameters)
    by_sources = charges[:, None] * at_sources[:, 1:]
    by_targets = cotangents[:, None] * at_targets[:, 1:]
    if targets is None:
        return by_sources + by_targets, at_sources[:, 0], None
    return by_sources, at_sources[:, 0], by_targets
