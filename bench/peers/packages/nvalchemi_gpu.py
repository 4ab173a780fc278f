"""nvalchemi-toolkit-ops: cells in Warp, called through PyTorch. Its result is a matrix of neighbours, with as many
columns as the longest row has, given here; or a list made of it. It always has the shifts of images too. Eager calls
are a row, and calls with a state prepared before the clock starts are another."""

from importlib.metadata import version as version_of

import torch  # needed here; requirements.txt has it not, for its size
from cases import Method
from nvalchemiops.torch.neighbors import neighbor_list, prepare_neighbor_list

KIND = "searches"


def version():
    return f"nvalchemi-toolkit-ops {version_of('nvalchemi-toolkit-ops')} (warp {version_of('warp-lang')})"


def of_matrix(found, n):
    """(i, j) of a matrix whose empty places hold n."""
    i, column = torch.nonzero(found[0] < n, as_tuple=True)
    return i, found[0][i, column]


def methods(problem, ours):
    for precision, tolerance in (("f64", 1e-12), ("f32", 1e-5)):
        points = ours.tensor(problem, precision)
        cell = torch.eye(3, dtype=points.dtype, device="cuda")[None] * (problem.period or 1.0)
        pbc = torch.full((1, 3), bool(problem.period), device="cuda")
        for output in ("half", "full"):
            # by a search that is not timed
            width = ours.longest_row(problem, precision) + 8
            for as_list in (False, True):
                options = dict(cell=cell, pbc=pbc, method="cell_list", half_fill=output == "half",
                               return_neighbor_list=as_list, max_neighbors=width)

                def eager(points=points, options=options):
                    found = neighbor_list(points, problem.cutoff, **options)
                    torch.cuda.synchronize()
                    return found

                def pairs(found, as_list=as_list):
                    return ours.on_host(found[0] if as_list else of_matrix(found, problem.n))
                form = "list" if as_list else "matrix"
                yield Method(form, eager, output, precision, pairs, tolerance, "eager")
                for strategy in ("atom_centric", "pair_centric"):
                    state = prepare_neighbor_list(points, problem.cutoff, strategy=strategy, fixed_cell=True, **options)

                    def prepared(points=points, state=state):
                        found = neighbor_list(points, state=state)
                        torch.cuda.synchronize()
                        return found
                    yield Method(f"{form}, prepared, {strategy}", prepared, output, precision, pairs, tolerance,
                                 "prepared")
