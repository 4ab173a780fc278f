"""vesin on a GPU, in f64, with PyTorch's tensors in and out."""

from importlib.metadata import version as version_of

import torch  # needed here; requirements.txt has it not, for its size
import vesin
from cases import Method

KIND = "searches"


def version():
    return f"vesin {version_of('vesin')} (CUDA)"


def methods(problem, ours):
    box = torch.eye(3, dtype=torch.float64, device="cuda") * problem.period
    periodic = torch.full((3,), bool(problem.period), device="cuda")
    points = ours.tensor(problem, "f64")
    def make(output):
        return vesin.NeighborList(cutoff=problem.cutoff, full_list=output == "full", algorithm="cell_list")

    for output in ("half", "full"):
        for kept in (None, make(output)):  # a list reuses its memory, as nearfield's pool does
            def run(output=output, kept=kept):
                found = kept or make(output)
                pairs = found.compute(points, box, periodic, "ij", copy=False)
                torch.cuda.synchronize()
                return found, pairs
            yield Method("cell_list, no copy" + (", reused" if kept else ""), run, output,
                         pairs=lambda found: ours.on_host(found[1]))
