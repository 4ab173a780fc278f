"""Whatever is given: the right pairs, or an exception that fits. More examples with HYPOTHESIS_MAX_EXAMPLES."""

import itertools
import os

import numpy as np
import pytest

import nearfield

hypothesis = pytest.importorskip("hypothesis")
st = pytest.importorskip("hypothesis.strategies")
extra = pytest.importorskip("hypothesis.extra.numpy")

some = hypothesis.settings(
    max_examples=int(os.environ.get("HYPOTHESIS_MAX_EXAMPLES", "100")), deadline=None, database=None
)
lengths = st.floats(-1, 1, width=16)
refused = (ValueError, TypeError, MemoryError, OverflowError)


def layouts(x, which):
    """The same values, laid out otherwise."""
    if which == "columns":
        return np.asfortranarray(x)
    if which == "strided":
        wide = np.full((2 * len(x), x.shape[1] + 3), 7, x.dtype)
        wide[::2, 2:-1] = x
        return wide[::2, 2:-1]
    return x


@some
@hypothesis.given(st.data())
def test_pairs_are_those_of_brute_force(data):
    dim = data.draw(st.sampled_from([2, 3]))
    dtype = data.draw(st.sampled_from([np.float32, np.float64]))
    n = data.draw(st.integers(0, 6))
    x = data.draw(extra.arrays(dtype, (n, dim), elements=lengths))
    cell = np.tril(data.draw(extra.arrays(np.float64, (dim, dim), elements=lengths)), -1)
    np.fill_diagonal(
        cell, data.draw(extra.arrays(np.float64, dim, elements=st.sampled_from([1.0, -1.25, 1.5, 4.0])))
    )
    pbc = data.draw(extra.arrays(bool, dim))
    cutoff = data.draw(st.floats(0.0625, 1.5, width=16))
    order = data.draw(st.sampled_from(["rows", "cells", "sorted"]))
    half = order != "sorted" and data.draw(st.booleans())
    given = layouts(x, data.draw(st.sampled_from(["rows", "columns", "strided"])))
    i, j, D, S = nearfield.find_pairs("ijDS", given, cutoff, cell=cell, pbc=pbc, order=order, half=half)
    found = list(zip(i.tolist(), j.tolist(), map(tuple, S.tolist()), strict=True))
    if half:
        found += [(b, a, tuple(-s for s in shift)) for a, b, shift in found]
    assert len(set(found)) == len(found)
    reach = (cutoff + 2 * np.sqrt(dim)) * np.linalg.norm(np.linalg.inv(cell), axis=0)
    spans = [
        np.arange(-np.ceil(most), np.ceil(most) + 1) if p else [0] for most, p in zip(reach, pbc, strict=True)
    ]
    shifts = np.array(list(itertools.product(*spans)))
    d = x[None, None].astype(float) + (shifts @ cell)[:, None, None] - x[None, :, None]
    r = np.sqrt((d**2).sum(-1))
    r[(~shifts.any(axis=1))[:, None, None] & np.eye(n, dtype=bool)] = np.inf
    eps = 1e-5 if dtype == np.float32 else 1e-11
    near, maybe = (
        {(a, b, tuple(shifts[s].astype(int))) for s, a, b in np.argwhere(r < limit).tolist()}
        for limit in (cutoff - eps, cutoff + eps)
    )
    assert near <= set(found) <= maybe
    assert np.allclose(D, x[j].astype(float) + S @ cell - x[i], atol=1e-5)


anything = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 3),
    st.floats(),
    st.text(max_size=4),
    st.lists(st.floats(), max_size=4),
    extra.arrays(
        st.one_of(extra.floating_dtypes(), extra.integer_dtypes(), extra.boolean_dtypes()),
        extra.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4),
    ),
)


@some
@hypothesis.given(
    quantities=st.text("ijdDSPox", max_size=5),
    positions=anything,
    cutoff=anything,
    cell=anything,
    pbc=anything,
    origin=anything,
    queries=anything,
    batch=anything,
    order=st.sampled_from(["rows", "cells", "sorted", "any"]),
    half=st.booleans(),
)
def test_refuses_or_computes(quantities, positions, cutoff, cell, pbc, origin, queries, batch, order, half):
    limit = 1 << 20
    options = {"cell": cell, "pbc": pbc, "origin": origin, "queries": queries}
    for call in (
        lambda: nearfield.find_pairs(
            quantities, positions, cutoff, **options, order=order, half=half, max_bytes=limit
        ),
        lambda: nearfield.CellList(positions, cutoff, **options, batch=batch).find(
            quantities, order=order, half=half, max_bytes=limit
        ),
        lambda: nearfield.p2p("one_over_r", positions, queries, cell),
        lambda: nearfield.p2p("gaussian", positions, queries, sigma=cutoff, out=origin),
        lambda: nearfield.build_tree(positions, queries, cell=cell, pbc=pbc, origin=origin),
    ):
        try:
            call()
        except refused:
            pass
