"""KeOps: compiles the formula with g++ when it first meets it, on the CPU with OpenMP."""

from importlib.metadata import version as version_of

import numpy as np
import pykeops
from cases import Method

KIND = "sums"


def version():
    return "pykeops " + version_of("pykeops")


def methods(problem, ours):
    pykeops.set_verbose(False)
    from pykeops.numpy import Genred
    aliases = ["x = Vi(3)", "y = Vj(3)", "q = Vj(1)", "e = Pm(1)"]
    # A target adds nothing to itself: Rsqrt(0) is 0, by a branch. Without one, r^2 / (r^2 + e)^(3/2) is 0 there, and g++
    # vectorises the loop.
    r2 = "SqDist(x, y)"
    formulas = {"f64": f"q * {r2} * Inv(({r2} + e) * Sqrt({r2} + e))",
                "f32": f"q * {r2} * Inv({r2} + e) * Inv(Sqrt({r2} + e))"}
    for precision, tolerance, e in (("f64", 1e-13, 1e-30), ("f32", 1e-5, 1e-20)):
        x, q = problem.x(precision), problem.q(precision)[:, None]
        e = np.array([e], dtype=x.dtype)
        for name, formula, scheme, more in (("Rsqrt", f"Rsqrt({r2}) * q", "auto", []),
                                            ("Sqrt, direct_sum", formulas[precision], "direct_sum", [e])):
            sums = Genred(formula, aliases[:3 + len(more)], reduction_op="Sum", axis=1, sum_scheme=scheme)
            yield Method(f"Genred, CPU, {name}",
                         lambda x=x, q=q, more=more, sums=sums: sums(x, x, q, *more, backend="CPU")[:, 0],
                         "sums", precision, tolerance=tolerance)
