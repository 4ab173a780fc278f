"""fmm3dpy's direct sum, not its FMM: a loop with a root and a divide a pair. PyPI's wheel is compiled for any x86-64,
without OpenMP; compiled here with -march=native -ffast-math it took as long. FMM3D's vector kernels (make FAST_KER=ON)
are in no package."""

from importlib.metadata import version as version_of

import fmm3dpy
import numpy as np
from cases import Method

KIND = "sums"
ONE_THREAD = "the wheel has no OpenMP"


def version():
    return "fmm3dpy " + version_of("fmm3dpy")


def methods(problem, ours):
    x = np.asfortranarray(problem.columns("f64"))

    def run():
        return fmm3dpy.l3ddir(sources=x, targets=x, charges=problem.q("f64"), pgt=1).pottarg * (4 * np.pi)
    yield Method("l3ddir", run, "sums", tolerance=1e-13)
