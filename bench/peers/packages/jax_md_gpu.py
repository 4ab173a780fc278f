"""JAX MD on a GPU: lists of a fixed capacity, filled anew by a compiled function. It is given a list of points that lay
elsewhere, since one whose points have not moved is returned as it is."""

import os
import sys
import types
from importlib.machinery import PathFinder
from importlib.metadata import version as version_of

os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"  # of the memory, which nearfield needs too
# its __init__ imports flax and e3nn-jax, which lists do not need
sys.modules["jax_md"] = types.ModuleType("jax_md")
sys.modules["jax_md"].__path__ = PathFinder.find_spec("jax_md").submodule_search_locations

import jax
import numpy as np
from cases import Method
from jax_md import partition, space

KIND = "searches"
FORMATS = (("full", "matrix", partition.Dense), ("full", "list", partition.Sparse),
           ("half", "list", partition.OrderedSparse))


def version():
    return f"JAX MD {version_of('jax-md')} (JAX {version_of('jax')})"


def methods(problem, ours):
    jax.config.update("jax_enable_x64", True)
    displacement = space.periodic(problem.period)[0] if problem.period else space.free()[0]
    for precision, tolerance in (("f64", 1e-12), ("f32", 1e-5)):
        points = jax.numpy.asarray(problem.x(precision))
        for output, name, form in FORMATS:
            make = partition.neighbor_list(displacement, problem.period or 1.0, problem.cutoff, format=form)
            kept = make.allocate(points)
            elsewhere = kept.set(reference_position=points + 0.25)
            update = jax.jit(lambda points, list: list.update(points))

            def run(points=points, elsewhere=elsewhere, update=update):
                found = update(points, elsewhere)
                found.idx.block_until_ready()
                return found

            def pairs(found, n=problem.n):
                if found.did_buffer_overflow:
                    raise ValueError("more pairs than the list has room for")
                index = np.asarray(found.idx)
                if len(index) == 2:
                    return index[:, index[0] < n].astype(np.int64)
                i, column = np.nonzero(index < n)
                return i, index[i, column]
            yield Method(name, run, output, precision, pairs, tolerance)
