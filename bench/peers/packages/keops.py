"""KeOps: compiles the formula with g++ when it first meets it, on the CPU with OpenMP."""

from importlib.metadata import version as version_of

import pykeops
from cases import Method

KIND = "sums"


def version():
    return "pykeops " + version_of("pykeops")


def methods(problem, ours):
    pykeops.set_verbose(False)
    from pykeops.numpy import Genred
    # Rsqrt(0) is 0, so a target adds nothing to itself
    sums = Genred("Rsqrt(SqDist(x, y)) * q", ["x = Vi(3)", "y = Vj(3)", "q = Vj(1)"], reduction_op="Sum", axis=1)
    for precision, tolerance in (("f64", 1e-13), ("f32", 1e-5)):
        x, q = problem.x(precision), problem.q(precision)[:, None]
        yield Method("Genred, CPU", lambda x=x, q=q: sums(x, x, q, backend="CPU")[:, 0], "sums", precision,
                     tolerance=tolerance)
