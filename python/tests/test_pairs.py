"""Pairs against brute force, and what happens to arrays that do not fit."""

import itertools
import subprocess
import sys
import threading

import numpy as np
import pytest

import nearfield


def brute_force(x, cutoff, cell=None, pbc=(False,) * 3, closed=False, reach=2):
    """Rows (i, j, *S) of all pairs, sorted."""
    dim = x.shape[1]
    cell = np.eye(dim) if cell is None else cell
    shifts = itertools.product(*(range(-reach, reach + 1) if p else (0,) for p in pbc[:dim]))
    found = []
    for S in shifts:
        D = x[None] + np.asarray(S) @ cell - x[:, None]
        r = np.sqrt((D**2).sum(-1))
        near = r <= cutoff if closed else r < cutoff
        if not any(S):
            np.fill_diagonal(near, False)
        i, j = np.nonzero(near)
        found.append(np.column_stack([i, j, np.broadcast_to(S, (len(i), dim))]))
    found = np.concatenate(found)
    return found[np.lexsort(found.T[::-1])]


def rows(i, j, S):
    found = np.column_stack([i, j, S])
    return found[np.lexsort(found.T[::-1])]


def run(code):
    """What a program prints that has nothing else loaded."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_threads", [1, 2])
def test_finds_all_pairs_in_any_cell(dim, dtype, n_threads):
    rng = np.random.default_rng(dim)
    for seed in range(8):
        cell = 0.6 * rng.normal(size=(dim, dim)) + 2 * np.eye(dim) * rng.choice([-1, 1])
        pbc = rng.random(dim) < 0.6
        x = (rng.uniform(-1, 2, (40, dim)) @ cell).astype(dtype)
        i, j, d, D, S = nearfield.find_pairs("ijdDS", x, 0.9, cell=cell, pbc=pbc, n_threads=n_threads)
        assert d.dtype == D.dtype == dtype and i.dtype == np.int64 and S.dtype == np.int32
        expected = brute_force(x.astype(float), 0.9, cell, pbc, reach=6)
        assert np.array_equal(rows(i, j, S), expected)
        assert (np.diff(i) >= 0).all()
        exact = x[j].astype(float) + S @ cell - x[i]
        assert np.allclose(D, exact, atol=1e-5 if dtype == np.float32 else 1e-12)
        assert np.allclose(d, np.linalg.norm(exact, axis=1), rtol=1e-5)


def test_orders_and_halves_hold_the_same_pairs():
    x = np.random.default_rng(1).random((500, 3))
    i, j, S = nearfield.find_pairs("ijS", x, 0.2, cell=np.eye(3), order="sorted")
    full = np.column_stack([i, j, S])
    assert np.array_equal(full, full[np.lexsort((j, i))])
    for order in ("cells", "rows"):
        assert np.array_equal(
            rows(*nearfield.find_pairs("ijS", x, 0.2, cell=np.eye(3), order=order)), rows(i, j, S)
        )
    i, j, S = nearfield.find_pairs("ijS", x, 0.2, cell=np.eye(3), half=True)
    both = np.concatenate([np.column_stack([i, j, S]), np.column_stack([j, i, -S])])
    assert np.array_equal(both[np.lexsort(both.T[::-1])], rows(full[:, 0], full[:, 1], full[:, 2:]))


@pytest.mark.parametrize("index", ["int32", "int64", "uint32", "uint64"])
def test_indices_have_the_type_that_is_asked_for(index):
    x = np.random.default_rng(1).random((100, 2))
    P, offsets = nearfield.find_pairs("Po", x, 0.2, index=index)
    i, j = nearfield.find_pairs("ij", x, 0.2, index=index)
    assert P.dtype == np.dtype(index) and np.array_equal(P, np.column_stack([i, j]))
    assert np.array_equal(offsets, np.searchsorted(i, np.arange(101)))


def test_a_letter_may_come_twice():
    x = np.random.default_rng(1).random((100, 2))
    i, j, again = nearfield.find_pairs("iji", x, 0.2)
    assert again is i and j is not i


def test_takes_columns_strides_and_read_only_arrays_without_a_copy():
    x = np.random.default_rng(1).random((100, 3))
    expected = nearfield.find_pairs("ij", x, 0.3)
    wide = np.zeros((200, 5))
    wide[::2, 1:4] = x
    locked = x.copy()
    locked.flags.writeable = False
    for view in (np.asfortranarray(x), wide[::2, 1:4], locked):
        assert np.array_equal(nearfield.find_pairs("ij", view, 0.3), expected)


def test_a_closed_ball_has_the_pairs_on_its_surface():
    x = np.arange(5.0)[:, None] * [1.0, 0, 0]
    assert nearfield.count_pairs(x, 1.0) == 0
    assert nearfield.count_pairs(x, 1.0, closed=True) == 8


def test_two_sets():
    rng = np.random.default_rng(1)
    x, y = rng.random((30, 3)), rng.random((50, 3))
    i, j, d = nearfield.find_pairs("ijd", y, 0.3, queries=x)
    r = np.linalg.norm(x[:, None] - y[None], axis=-1)
    assert set(zip(i, j, strict=True)) == set(map(tuple, np.argwhere(r < 0.3)))
    assert np.allclose(d, r[i, j])


def test_a_batch_has_no_pairs_between_systems():
    rng = np.random.default_rng(1)
    x, system = rng.random((200, 3)), rng.integers(0, 4, 200)
    cells = np.stack([np.eye(3) * (1 + s) for s in range(4)])
    cutoffs = np.array([0.1, 0.2, 0.3, 0.4])
    found = rows(*nearfield.CellList(x, cutoffs, cell=cells, batch=system).find("ijS"))
    expected = []
    for s in range(4):
        of = np.flatnonzero(system == s)
        pairs = brute_force(x[of], cutoffs[s], cells[s], (True,) * 3)
        expected.append(np.column_stack([of[pairs[:, :2]], pairs[:, 2:]]))
    expected = np.concatenate(expected)
    assert np.array_equal(found, expected[np.lexsort(expected.T[::-1])])
    assert np.array_equal(rows(*nearfield.find_pairs("ijS", x, cutoffs, cell=cells, batch=system)), found)
    order = np.argsort(system, kind="stable")
    ptr = np.searchsorted(system[order], range(5))
    assert nearfield.count_pairs(x[order], cutoffs, cell=cells, batch=(ptr,)) == len(found)


def test_filters():
    rng = np.random.default_rng(1)
    x, types, radii = rng.random((200, 3)), rng.integers(0, 2, 200), rng.uniform(0.05, 0.15, 200)
    cells = nearfield.CellList(x, 0.3)
    i, j, d = cells.find("ijd")
    matrix = np.array([[0.3, 0.1], [0.1, 0.0]])
    cells.filter(types=types, type_cutoffs=matrix)
    assert cells.count() == (d < matrix[types[i], types[j]]).sum()
    cells.filter(radii=radii)
    assert cells.count() == (d < radii[i] + radii[j]).sum()
    cells.filter(radii=radii, by="own")
    assert cells.count() == (d < radii[i]).sum()
    cells.filter(excluded=(np.arange(201), np.roll(np.arange(200), 1)), rows=[3, 4, 5])
    with_rows = cells.count()
    bonds = np.column_stack([np.arange(200), np.roll(np.arange(200), 1)])
    cells.filter(excluded=bonds, rows=np.isin(np.arange(200), [3, 4, 5]))
    assert cells.count() == with_rows
    ends = (np.abs(i - j) != 1) & (np.abs(i - j) != 199)
    assert cells.count() == (ends & (i >= 3) & (i <= 5)).sum()
    cells.filter()
    assert cells.count() == len(i)


@pytest.mark.parametrize(
    ("options", "kind", "message"),
    [
        ({"rows": [1.5]}, TypeError, "rows are float64"),
        ({"rows": np.ones(3, bool)}, ValueError, "rows are flags"),
        ({"types": np.zeros(50), "type_cutoffs": [[0.1]]}, TypeError, "types are float64"),
        ({"excluded": np.zeros((3, 3), int)}, ValueError, "excluded has shape"),
        ({"excluded": [[0, 50]]}, ValueError, "excluded"),
        ({"excluded": [[50, 0]]}, ValueError, "excluded has the points 50 to 50"),
        ({"radii": np.ones(49)}, ValueError, "radii has 49 values"),
        ({"by": "most"}, ValueError, "by is 'most'"),
    ],
)
def test_refuses_filters_that_do_not_fit(options, kind, message):
    cells = nearfield.CellList(np.random.default_rng(1).random((50, 3)), 0.3)
    n = cells.count()
    with pytest.raises(kind, match=message):
        cells.filter(**options)
    assert cells.count() == n


def test_a_histogram_ends_at_the_cutoff():
    x = np.random.default_rng(1).random((300, 3))
    cells = nearfield.CellList(x, 0.3)
    expected = np.histogram(cells.find("d"), 30, (0, 0.3))[0]
    assert np.array_equal(cells.histogram(0.3, 30), expected)
    with pytest.raises(ValueError, match="give at most 0.3"):
        cells.histogram(0.4, 30)


def test_a_skin_keeps_cells_until_points_have_moved():
    rng = np.random.default_rng(1)
    x = rng.random((300, 3))
    cells = nearfield.CellList(x, 0.2, cell=np.eye(3), skin=0.05)
    for step in (0.01, 0.1):
        x = x + [step, 0, 0] * (np.arange(300) == 7)[:, None]
        assert cells.update(x) is (step > 0.05 / 2)
        expected = rows(*nearfield.find_pairs("ijS", x, 0.2, cell=np.eye(3)))
        assert np.array_equal(rows(*cells.find("ijS")), expected)


def test_a_list_takes_more_points_or_fewer():
    rng = np.random.default_rng(1)
    cells = nearfield.CellList(rng.random((1000, 3)), 0.1, skin=0.01)
    for n in (5000, 300):
        for take in (cells.update, cells.rebuild):
            x = rng.random((n, 3))
            take(x)
            assert np.array_equal(cells.counts(), nearfield.CellList(x, 0.1).counts())
            assert len(cells.find("o")) == n + 1


def test_a_collector_may_search_the_list_that_is_in_use():
    run("""
import gc, numpy as np, nearfield
cells = nearfield.CellList(np.random.default_rng(1).random((200, 3)), 0.2)
class search:
    def __init__(self): self.cycle = self
    def __del__(self): cells.count()
gc.set_threshold(1, 1, 1)
for _ in range(300):
    search(), cells.counts(), cells.histogram(0.1, 5), cells.find("ij")
""")


def test_results_outlive_what_they_were_made_from():
    x = np.random.default_rng(1).random((20000, 3))
    cells = nearfield.CellList(x, 0.05)
    i, j = cells.find("ij")
    expected = i.copy(), j.copy()
    del cells, x
    np.ones(10**6)
    assert np.array_equal(i, expected[0]) and np.array_equal(j, expected[1])
    i[0] = 7  # a writable array of the caller
    assert i.flags.owndata is False and i[0] == 7


bad = {
    "a list": ([[0.0, 0, 0]], TypeError, "positions is list"),
    "integers": (np.zeros((3, 3), int), TypeError, "float32 or float64"),
    "big endian": (np.zeros((3, 3), ">f8"), TypeError, "byte order"),
    "one column": (np.zeros((3, 1)), ValueError, "1 columns"),
    "four columns": (np.zeros((3, 4)), ValueError, "4 columns"),
    "no axis": (np.array(1.0), ValueError, "0 axes"),
    "backwards": (np.zeros((3, 3))[::-1], ValueError, "numpy.ascontiguousarray"),
    "one row again and again": (np.broadcast_to(np.zeros(3), (4, 3)), ValueError, "descends or repeats"),
    "not aligned": (np.zeros(73, np.uint8)[1:].view(np.float64).reshape(3, 3), ValueError, "not aligned"),
    "NaN": (np.full((3, 3), np.nan), ValueError, "finite"),
    "nothing": (None, TypeError, "positions is NoneType"),
    "complex": (np.zeros((3, 3), complex), TypeError, "float32 or float64"),
}


@pytest.mark.parametrize("name", bad)
def test_refuses_arrays_that_do_not_fit(name):
    array, kind, message = bad[name]
    with pytest.raises(kind, match=message):
        nearfield.find_pairs("ij", array, 1.0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"cutoff": -1}, "cutoff"),
        ({"cutoff": np.nan}, "cutoff"),
        ({"cell": np.eye(2)}, "cell has another shape"),
        ({"cell": np.zeros((3, 3))}, "cell"),
        ({"cell": np.eye(3), "pbc": [True, False]}, "pbc"),
        ({"batch": ([9000],)}, "batch is a tuple of 1"),
        ({"batch": np.zeros(8)}, "batch is float64"),
        ({"origin": [0.0]}, "origin has 1 values"),
        ({"order": "any"}, "order is 'any'"),
        ({"index": "int16"}, "index is 'int16'"),
        ({"quantities": "ijx"}, "letter 'x'"),
        ({"n_threads": -1}, "n_threads is -1"),
        ({"queries": np.zeros((2, 3)), "half": True}, "half"),
    ],
)
def test_refuses_options_that_do_not_fit(options, message):
    given = {
        "quantities": "ij",
        "positions": np.random.default_rng(1).random((9000, 3)),
        "cutoff": 0.01,
    } | options
    with pytest.raises(ValueError, match=message):
        nearfield.find_pairs(**given)


def test_refuses_cutoffs_that_are_no_number():
    for cutoff in (None, "1", [1.0], np.ones(2)):
        with pytest.raises(TypeError, match="cutoff is .*; give a number"):
            nearfield.find_pairs("ij", np.zeros((2, 3)), cutoff)


@pytest.mark.parametrize("pbc", ["FFF", b"000", [1.0, 1.0, 0.0], [[True] * 3]])
def test_refuses_flags_that_are_none(pbc):
    with pytest.raises((TypeError, ValueError), match="pbc|ambiguous"):
        nearfield.find_pairs("ij", np.zeros((2, 3)), 1.0, cell=np.eye(3), pbc=pbc)


def test_flags_are_bool_or_integers():
    x = np.random.default_rng(1).random((100, 3))
    expected = nearfield.find_pairs("ij", x, 0.2, cell=np.eye(3), pbc=[True, True, False])
    for pbc in (
        (1, 1, 0),
        np.array([True, True, False]),
        np.array([1, 1, 0]),
        [np.True_, np.True_, np.False_],
    ):
        assert np.array_equal(nearfield.find_pairs("ij", x, 0.2, cell=np.eye(3), pbc=pbc), expected)
    for pbc in (True, 1, np.True_):
        assert nearfield.count_pairs(x, 0.2, cell=np.eye(3), pbc=pbc) > len(expected[0])


def test_numbers_of_systems_may_have_gaps():
    x = np.random.default_rng(1).random((100, 3))
    n = nearfield.count_pairs(x, np.float32(0.2), batch=np.arange(100) % 2)
    assert nearfield.count_pairs(x, 0.2, batch=np.arange(100) % 2 * 10**8) == n


def test_no_points_and_no_pairs():
    i, j, S = nearfield.find_pairs("ijS", np.zeros((0, 3)), 1.0)
    assert i.shape == j.shape == (0,) and S.shape == (0, 3)
    (offsets,) = (nearfield.find_pairs("o", np.zeros((0, 3)), 1.0),)
    assert offsets.tolist() == [0]
    assert nearfield.find_pairs("D", np.eye(3) * 10, 1.0).shape == (0, 3)


def test_says_what_a_list_that_is_too_large_takes():
    x = np.random.default_rng(1).random((2000, 3))
    n = nearfield.count_pairs(x, 0.5)
    with pytest.raises(MemoryError, match=f"{n} pairs take {16 * n} bytes"):
        nearfield.find_pairs("ij", x, 0.5, max_bytes=16 * n - 1)
    assert len(nearfield.find_pairs("i", x, 0.5, max_bytes=16 * n)) == n


def test_a_list_takes_its_own_size():
    x = np.random.default_rng(1).random((100_000, 3))

    def peak():
        with open("/proc/self/status") as status:
            return 1024 * int(next(line for line in status if "VmHWM" in line).split()[1])

    with open("/proc/self/clear_refs", "w") as refs:
        refs.write("5")
    before = peak()
    i, j, D = nearfield.find_pairs("ijD", x, 0.06, order="cells", n_threads=1)
    size = i.nbytes + j.nbytes + D.nbytes
    assert size > 2e8
    assert peak() - before < 1.1 * size


def test_threads_of_python_share_a_list():
    x = np.random.default_rng(1).random((20000, 3))
    cells = nearfield.CellList(x, 0.05, cell=np.eye(3))
    expected = cells.find("ijS")
    wrong = []

    def work():
        for _ in range(5):
            for values, right in zip(cells.find("ijS"), expected, strict=True):
                if not np.array_equal(values, right):
                    wrong.append(1)
            cells.rebuild(x)
            cells.filter()

    workers = [threading.Thread(target=work) for _ in range(4)]
    for each in workers:
        each.start()
    for each in workers:
        each.join()
    assert not wrong


def test_a_child_of_fork_finds_pairs_too():
    run("""
import os, numpy as np, nearfield
x = np.random.default_rng(1).random((30000, 3))
expected = nearfield.count_pairs(x, 0.05, n_threads=2)
child = os.fork()
if child == 0:
    os._exit(0 if nearfield.count_pairs(x, 0.05, n_threads=2) == expected else 1)
assert os.waitpid(child, 0)[1] == 0
""")


def test_a_child_of_fork_takes_a_list_that_another_thread_was_using():
    run("""
import os, signal, threading, numpy as np, nearfield
cells = nearfield.CellList(np.random.default_rng(1).random((30000, 3)), 0.05)
expected, goes_on = cells.count(), True
def work():
    while goes_on: cells.count()
worker = threading.Thread(target=work)
worker.start()
for _ in range(3):
    child = os.fork()
    if child == 0:
        signal.alarm(60)
        os._exit(0 if cells.count() == expected else 1)
    assert os.waitpid(child, 0)[1] == 0
goes_on = False
worker.join()
""")


def test_a_limit_of_address_space_takes_a_count_first():
    printed = run("""
import resource, numpy as np, nearfield
x = np.random.default_rng(1).random((100_000, 3))
cells = nearfield.CellList(x, 0.1, n_threads=1)
n = cells.count()
used = int(open("/proc/self/statm").read().split()[0]) * 4096
resource.setrlimit(resource.RLIMIT_AS, (used + 20 * n, resource.RLIM_INFINITY))
assert len(cells.find("ij")[0]) == n
try:
    cells.find("ijd")
except MemoryError as e:
    print(e)
""")
    assert "cannot provide" in printed
