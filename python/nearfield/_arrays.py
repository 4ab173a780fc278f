"""Arrays of PyTorch and JAX in host memory: read as those of NumPy, and results as theirs."""

import numpy as np


def library(of):
    """ "torch", "jax" ..., or "numpy"."""
    name = type(of).__module__.partition(".")[0]
    return {"jaxlib": "jax"}.get(name, name)


def read(of):
    """An array of NumPy over the same memory, in host memory; what is no array of PyTorch or JAX stays as it is."""
    name = library(of)
    if name == "torch":
        return of.detach().numpy()
    if name == "jax":
        return np.asarray(of)
    return of


def like(of, result):
    """A result of NumPy, or a tuple of them, as arrays of the library of `of`."""
    if isinstance(result, tuple):
        return tuple(like(of, each) for each in result)
    name = library(of)
    if name == "torch":
        import torch

        return torch.from_numpy(np.asarray(result))
    if name == "jax":
        import jax.numpy

        return jax.numpy.asarray(result)
    return result
