"""Histograms of distances, and radial distribution functions."""

import math

import numpy as np

from ._pairs import CellList

_PAIRS_AT_ONCE = 1 << 22


def chunks(cells):
    """Restrict cells to some rows after others, so that each time a bounded number of pairs is found."""
    ends = np.cumsum(cells.counts(), dtype=np.int64)
    total = int(ends[-1]) if len(ends) else 0
    if total <= _PAIRS_AT_ONCE:
        yield
        return
    cuts = np.searchsorted(ends, np.arange(_PAIRS_AT_ONCE, total, _PAIRS_AT_ONCE)) + 1
    for first, last in zip([0, *cuts], [*cuts, len(ends)], strict=True):
        cells.filter(rows=np.arange(first, last))
        yield
    cells.filter()


def distance_histogram(positions, r_max, n_bins, **options):
    """Count pairs by distance, in memory that does not grow with their number.

    Parameters
    ----------
    positions : (n, 2) or (n, 3) array of float32 or float64
    r_max : float
        Pairs at a distance below r_max count, (i, j) and (j, i) both; with periodic axes each image does.
    n_bins : int
        Bins of equal width from 0 to r_max.
    **options
        queries, cell, pbc, batch and others of `CellList`.

    Returns
    -------
    counts : (n_bins,) array of int64
    edges : (n_bins + 1,) array
        Bin k counts edges[k] <= d < edges[k + 1].
    """
    cells = CellList(positions, r_max, **options)
    edges = np.linspace(0, r_max, n_bins + 1)
    counts = np.zeros(n_bins, np.int64)
    for _ in chunks(cells):
        counts += np.histogram(cells.find("d", order="cells"), n_bins, (0, r_max))[0]
    return counts, edges


def radial_distribution(positions, r_max, n_bins, *, volume=None, queries=None, cell=None, **options):
    """The radial distribution function g(r): the density of points around a point, over their mean density.

    Parameters
    ----------
    positions, r_max, n_bins, queries, cell, **options
        See `distance_histogram`. With queries it is the density of positions around queries.
    volume : float, optional
        What the positions fill, in units of length to the power of the dimension. Default: that of the cell.

    Returns
    -------
    r, g : (n_bins,) arrays
        Centres of bins, and g there. The mean density is n / volume, a point's own place included.
    """
    counts, edges = distance_histogram(positions, r_max, n_bins, queries=queries, cell=cell, **options)
    dim = positions.shape[1]
    if volume is None:
        if cell is None:
            raise ValueError("volume and cell are None; give one")
        cell = np.asarray(cell)
        volume = abs(np.linalg.det(cell)) if cell.ndim == 2 else np.prod(cell)
    shells = np.diff(edges**dim) * (math.pi if dim == 2 else 4 / 3 * math.pi)
    n_rows = len(positions if queries is None else queries)
    expected = n_rows * len(positions) / volume * shells
    centres = (edges[1:] + edges[:-1]) / 2
    return centres, np.divide(counts, expected, out=np.zeros(n_bins), where=expected > 0)
