"""Histograms of distances, and radial distribution functions."""

import math

import numpy as np

from ._arrays import read
from ._pairs import CellList


def distance_histogram(positions, r_max, n_bins, **options):
    """Count pairs by distance, without a list of them.

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
    if options.get("queries") is None:
        counts = 2 * cells.histogram(r_max, n_bins, half=True)
    else:
        counts = cells.histogram(r_max, n_bins)
    return counts, np.linspace(0, r_max, n_bins + 1)


def radial_distribution(
    positions, r_max, n_bins, *, queries=None, cell=None, pbc=None, volume=None, n_threads=0
):
    """The radial distribution function g(r): the density of points around a point, over their mean density.

    Parameters
    ----------
    positions, r_max, n_bins, queries, cell, pbc, n_threads
        See `distance_histogram`. With queries it is the density of positions around queries.
    volume : float, optional
        What the positions fill, in units of length to the power of the dimension. Default: that of the cell.

    Returns
    -------
    r, g : (n_bins,) arrays
        Centres of bins, and g there. The mean density is n / volume, a point's own place included.
    """
    positions = read(positions)
    counts, edges = distance_histogram(
        positions, r_max, n_bins, queries=queries, cell=cell, pbc=pbc, n_threads=n_threads
    )
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
