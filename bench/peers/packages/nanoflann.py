"""nanoflann, a C++ header of Debian's libnanoflann-dev: queries in the order of its leaves, compiled for this machine's
instruction set like nearfield (bench/baselines/nanoflann_pairs.cpp). It finds each pair twice and keeps one."""

import re

from cases import Method

KIND = "searches"
ONE_THREAD = "its queries are the caller's loop, here on one thread"


def version():
    with open("/usr/include/nanoflann.hpp") as header:
        digits = re.search(r"NANOFLANN_VERSION 0x(\w+)", header.read())[1]
    return "nanoflann " + ".".join(digits)


def methods(problem, ours):
    if problem.period:
        raise NotImplementedError("no periodic boxes")
    for leaf in (10, 32):
        # copies: its memory is nearfield's, whose next result takes its place
        yield Method(f"leaves of {leaf}", lambda leaf=leaf: ours.nanoflann(problem, leaf), "half",
                     pairs=lambda found: tuple(column.copy() for column in ours.pairs(found, problem.n)))
