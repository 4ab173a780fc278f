"""nearfield, called through the shared library nearfield_peers: the same arrays and the same clock as a package."""

import ctypes
import os

import numpy as np


class PairList(ctypes.Structure):
    _fields_ = [("n_pairs", ctypes.c_uint64), ("i", ctypes.c_void_p), ("j", ctypes.c_void_p),
                ("offsets", ctypes.c_void_p)]


class ImageList(ctypes.Structure):
    _fields_ = [("pairs", PairList), ("S", ctypes.c_void_p * 3), ("d", ctypes.c_void_p), ("D", ctypes.c_void_p)]


def _array(address, n, dtype):
    if n == 0:
        return np.empty(0, dtype)
    return np.frombuffer((ctypes.c_char * (n * np.dtype(dtype).itemsize)).from_address(address), dtype)


def _pointers(columns):
    """Of columns on the host, or of PyTorch's on a GPU."""
    return (ctypes.c_void_p * 3)(*(c.ctypes.data if isinstance(c, np.ndarray) else c.data_ptr() for c in columns))


class Nearfield:
    def __init__(self, library, threads=1):
        self.lib = ctypes.CDLL(os.path.abspath(library))
        self.lib.peers_problem.restype = ctypes.c_char_p
        self.lib.peers_isa.restype = ctypes.c_char_p
        self.lib.peers_bound.restype = ctypes.c_double
        self.threads = threads

    def isa(self):
        return self.lib.peers_isa().decode()

    def bound(self, problem, output, precision, size):
        """The least seconds of these cores: for sums by their arithmetic, otherwise by memory. `size`: pairs of a list."""
        written = {"half": 8 * size, "full": 4 * size + 8 * problem.n, "ijS": 20 * size, "ijdDS": 52 * size,
                   "tree": 4 * problem.n, "sums": 0}[output]
        read = 3 * problem.n * np.dtype(problem.dtype(precision)).itemsize
        pairs = problem.n * (problem.n - 1) if output == "sums" else 0
        return self.lib.peers_bound(ctypes.c_int(self.threads), ctypes.c_double(read + written),
                                    ctypes.c_double(pairs), ctypes.c_bool(precision == "f32"))

    def _call(self, name, *args):
        function = getattr(self.lib, "peers_" + name)
        function.restype = ctypes.c_bool
        if not function(*args):
            raise RuntimeError("nearfield: " + self.lib.peers_problem().decode())

    def forget(self):
        self.lib.peers_forget()

    def search(self, problem, full, precision):
        """An opaque list, for pairs()."""
        x, out = problem.x(precision), PairList()
        self._call("search_" + precision, x.ctypes.data_as(ctypes.c_void_p), ctypes.c_size_t(len(x)),
                   ctypes.c_double(problem.cutoff), ctypes.c_double(problem.period), ctypes.c_bool(full),
                   ctypes.c_int(self.threads), ctypes.byref(out))
        return out

    def pairs(self, found, n):
        """(i, j) of a list of n points; valid until the next call."""
        j = _array(found.j, found.n_pairs, np.uint32)
        if not found.offsets:
            return _array(found.i, found.n_pairs, np.uint32), j
        offsets = _array(found.offsets, n + 1, np.uint64)
        return np.repeat(np.arange(n, dtype=np.uint32), np.diff(offsets.astype(np.int64))), j

    def images(self, problem, output, by_i, cubic_cells=False):
        """An opaque list, for columns(): i, j and S, with ijdDS also d and D; with by_i in the order of i. Cells of the
        default are half as wide along the last axis."""
        x, out = problem.x("f64"), ImageList()
        self._call("images", x.ctypes.data_as(ctypes.c_void_p), ctypes.c_size_t(len(x)),
                   ctypes.c_double(problem.cutoff), ctypes.c_double(problem.period),
                   ctypes.c_bool(output == "ijdDS"), ctypes.c_bool(by_i), ctypes.c_bool(cubic_cells),
                   ctypes.c_int(self.threads), ctypes.byref(out))
        return out

    def columns(self, found, n):
        """The columns of images() of n points, by letter; valid until the next call."""
        size = found.pairs.n_pairs
        i, j = self.pairs(found.pairs, n)
        if not found.d:
            return {"i": i, "j": j, "S": np.stack([_array(column, size, np.int32) for column in found.S], axis=1)}
        return {"i": i, "j": j, "S": _array(found.S[0], 3 * size, np.int32).reshape(-1, 3),
                "d": _array(found.d, size, np.float64), "D": _array(found.D, 3 * size, np.float64).reshape(-1, 3)}

    def nanoflann(self, problem, leaf_size):
        x, out = problem.x("f64"), PairList()
        self._call("nanoflann", x.ctypes.data_as(ctypes.c_void_p), ctypes.c_size_t(len(x)),
                   ctypes.c_double(problem.cutoff), ctypes.c_int(leaf_size), ctypes.byref(out))
        return out

    def one_over_r(self, problem, precision):
        q, phi = problem.q(precision), np.zeros(problem.n, problem.dtype(precision))
        self._call("one_over_r_" + precision, _pointers(problem.columns(precision)),
                   q.ctypes.data_as(ctypes.c_void_p), phi.ctypes.data_as(ctypes.c_void_p),
                   ctypes.c_size_t(problem.n), ctypes.c_int(self.threads))
        return phi

    def tree(self, problem, max_leaf_size):
        """(order, number of leaves, points of the largest)"""
        x, order = problem.x("f64"), ctypes.c_void_p()
        leaves, largest = ctypes.c_uint64(), ctypes.c_uint64()
        self._call("tree", x.ctypes.data_as(ctypes.c_void_p), ctypes.c_size_t(len(x)), ctypes.c_int(max_leaf_size),
                   ctypes.byref(order), ctypes.byref(leaves), ctypes.byref(largest))
        return _array(order.value, len(x), np.uint32), leaves.value, largest.value

    def gpu_search(self, columns, problem, full, precision):
        """Of PyTorch's columns on the GPU, done when it returns; for to_host()."""
        out = PairList()
        self._call("gpu_search_" + precision, _pointers(columns), ctypes.c_size_t(problem.n),
                   ctypes.c_double(problem.cutoff), ctypes.c_double(problem.period), ctypes.c_bool(full),
                   ctypes.byref(out))
        return out

    def to_host(self):
        """A copy of the last result of gpu_search()."""
        out = PairList()
        self._call("to_host", ctypes.byref(out))
        return out
