"""Graphs of near points, with the conventions of PyTorch Geometric, torch_cluster and nvalchemi-toolkit-ops.

Results are arrays of the library of the points: NumPy, PyTorch or JAX.
"""

import numpy as np

from ._arrays import like, read
from ._pairs import CellList


def _within(most, counts, name, truncate):
    """Whether each point of a row is among the first `most`; None if all are."""
    largest = int(counts.max(initial=0))
    if largest <= most:
        return None
    if not truncate:
        raise ValueError(
            f"{name} is {most}, and a point has {largest} neighbours; give {largest}, or truncate=True"
        )
    ends = np.cumsum(counts)
    return np.arange(ends[-1]) - np.repeat(ends - counts, counts) < most


def _edges(cells, rows, max_num_neighbors, truncate):
    """(2, E), of which `rows` are the letters."""
    if max_num_neighbors is None:
        return np.stack(cells.find(rows), dtype=np.int64)
    offsets, *edges = cells.find("o" + rows)
    kept = _within(max_num_neighbors, np.diff(offsets.view(np.int64)), "max_num_neighbors", truncate)
    return np.stack(edges if kept is None else [row[kept] for row in edges], dtype=np.int64)


def radius_graph(
    x,
    r,
    batch=None,
    loop=False,
    max_num_neighbors=None,
    flow="source_to_target",
    num_workers=1,
    batch_size=None,
    *,
    truncate=False,
):
    """Connect points closer than r: `torch_geometric.nn.radius_graph`, exact and in linear time.

    Parameters
    ----------
    x : (n, 2) or (n, 3) array of float32 or float64
    r : float
        Points at a distance below r are neighbours.
    batch : (n,) array of int, or a tuple of one of offsets, optional
        The graph of each point, in any order.
    loop : bool
        Whether each point is its own neighbour.
    max_num_neighbors : int, optional
        The most edges of a point. Default: no limit, where PyTorch Geometric has 32.
    flow : {"source_to_target", "target_to_source"}
    num_workers : int
        Threads; 0: OMP_NUM_THREADS or all processors of this process.
    batch_size : int, optional
        Unused.
    truncate : bool
        Keep the first `max_num_neighbors` edges of a point that has more, in no particular order.

    Returns
    -------
    (2, E) array of int64
        A column for each edge, by i: the neighbour j in row 0 and the point i in row 1; i in row 0 with
        "target_to_source".

    Raises
    ------
    ValueError
        If a point has more than `max_num_neighbors` edges, unless `truncate`.
    """
    rows = {"source_to_target": "ji", "target_to_source": "ij"}.get(flow)
    if rows is None:
        raise ValueError(f"flow is {flow!r}; give 'source_to_target' or 'target_to_source'")
    points = read(x)
    cells = CellList(
        points,
        r,
        queries=points if loop else None,
        batch=batch,
        query_batch=batch if loop else None,
        n_threads=num_workers,
    )
    return like(x, _edges(cells, rows, max_num_neighbors, truncate))


def radius(
    x,
    y,
    r,
    batch_x=None,
    batch_y=None,
    max_num_neighbors=None,
    num_workers=1,
    batch_size=None,
    *,
    truncate=False,
):
    """For each point of y find those of x closer than r: `torch_cluster.radius`, exact and in linear time.

    Parameters
    ----------
    x, y : (n, dim), (m, dim) array
    batch_x, batch_y
        The graph of each point, both or none; see `radius_graph`.
    r, max_num_neighbors, num_workers, batch_size, truncate
        See `radius_graph`.

    Returns
    -------
    (2, E) array of int64
        A column for each pair, the point of y in row 0 and that of x in row 1, by y.
    """
    if (batch_x is None) != (batch_y is None):
        raise ValueError("one of batch_x and batch_y is None; give both, or none")
    cells = CellList(read(x), r, queries=read(y), batch=batch_x, query_batch=batch_y, n_threads=num_workers)
    return like(x, _edges(cells, "ij", max_num_neighbors, truncate))


def neighbor_matrix(
    positions,
    cutoff,
    max_neighbors=None,
    *,
    cell=None,
    pbc=None,
    batch=None,
    half=False,
    fill_value=None,
    shifts=False,
    truncate=False,
    n_threads=0,
):
    """Neighbours as rows of one length, as nvalchemi-toolkit-ops gives them.

    Parameters
    ----------
    positions : (n, 2) or (n, 3) array of float32 or float64
    cutoff, cell, pbc, batch, n_threads
        See `CellList`.
    max_neighbors : int, optional
        The length of rows. Default: the largest number of neighbours.
    half : bool
        Each pair in one of its two rows.
    fill_value : int, optional
        What fills rows up. Default: n.
    shifts : bool
        Whether to return S.
    truncate : bool
        Keep the first `max_neighbors` neighbours of a point that has more, in no particular order.

    Returns
    -------
    matrix : (n, max_neighbors) array of int32
    counts : (n,) array of int32
        The number of neighbours, which is above `max_neighbors` where a row was cut.
    S : (n, max_neighbors, dim) array of int32
        D = x_j + S cell - x_i. Only with `shifts`.

    Raises
    ------
    ValueError
        If a point has more than `max_neighbors` neighbours, unless `truncate`.
    """
    points = read(positions)
    cells = CellList(points, cutoff, cell=cell, pbc=read(pbc), batch=batch, n_threads=n_threads)
    offsets, *columns = cells.find("ojS" if shifts else "oj", half=half, index="int32")
    counts = np.diff(offsets.view(np.int64))
    if max_neighbors is None:
        max_neighbors = int(counts.max(initial=0))
    kept = _within(max_neighbors, counts, "max_neighbors", truncate)
    is_filled = np.arange(max_neighbors) < counts[:, None]
    results = [counts.astype(np.int32)]
    for column, fill in zip(columns, (len(points) if fill_value is None else fill_value, 0), strict=False):
        matrix = np.full(is_filled.shape + column.shape[1:], fill, np.int32)
        matrix[is_filled] = column if kept is None else column[kept]
        results.append(matrix)
    results[:2] = results[1], results[0]
    return like(positions, tuple(results))
