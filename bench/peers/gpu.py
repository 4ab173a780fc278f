"""nearfield on a GPU, beside packages that PyTorch calls."""

import numpy as np
import torch
from nearfield import Nearfield


class OnGpu(Nearfield):
    def __init__(self, library):
        super().__init__(library)
        self.kept = {}
        self.about = {"gpu": torch.cuda.get_device_name(), "torch": torch.__version__}

    def bound(self, *_):
        return None  # peaks of cores only

    def tensor(self, problem, precision, columns=False):
        """Of (n, 3) values, or of (3, n)."""
        key = problem, precision, columns
        if key not in self.kept:
            values = problem.columns(precision) if columns else problem.x(precision)
            self.kept[key] = torch.as_tensor(values, device="cuda")
        return self.kept[key]

    def search(self, problem, full, precision):
        return self.gpu_search(list(self.tensor(problem, precision, True)), problem, full, precision)

    def pairs(self, found, n):
        return super().pairs(self.to_host(), n)

    def longest_row(self, problem, precision):
        i, _ = self.pairs(self.search(problem, True, precision), problem.n)
        return int(np.bincount(i).max())

    @staticmethod
    def on_host(columns):
        return tuple(column.cpu().numpy().astype(np.int64) for column in columns)
