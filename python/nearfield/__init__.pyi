from collections.abc import Mapping, Sequence
from typing import Any, Literal, SupportsFloat, TypeAlias

import numpy as np
import numpy.typing as npt

# arrays of NumPy, JAX or PyTorch, in and out
_Array: TypeAlias = Any
_Numbers: TypeAlias = npt.ArrayLike
_Flags: TypeAlias = bool | npt.ArrayLike
_Order: TypeAlias = Literal["rows", "cells", "sorted"]
_Index: TypeAlias = Literal["int64", "int32", "uint64", "uint32"]

__version__: str

def instruction_set() -> str: ...
def kernels() -> list[dict[str, Any]]: ...

class CellList:
    def __init__(
        self,
        positions: _Array,
        cutoff: SupportsFloat | _Numbers,
        *,
        queries: _Array | None = None,
        cell: _Numbers | None = None,
        pbc: _Flags | None = None,
        origin: _Numbers | None = None,
        batch: _Numbers | tuple[_Numbers] | None = None,
        query_batch: _Numbers | tuple[_Numbers] | None = None,
        closed: bool = False,
        skin: float = 0.0,
        skin_is_each: bool = False,
        n_threads: int = 0,
    ) -> None: ...
    def rebuild(self, positions: _Array, queries: _Array | None = None) -> None: ...
    def update(self, positions: _Array, queries: _Array | None = None) -> bool: ...
    def filter(
        self,
        *,
        types: _Numbers | None = None,
        query_types: _Numbers | None = None,
        type_cutoffs: _Numbers | None = None,
        radii: _Numbers | None = None,
        query_radii: _Numbers | None = None,
        by: Literal["sum", "larger", "own"] = "sum",
        excluded: _Numbers | tuple[_Numbers, _Numbers] | None = None,
        rows: _Numbers | None = None,
    ) -> None: ...
    def count(self, *, half: bool = False) -> int: ...
    def counts(self, *, half: bool = False) -> npt.NDArray[np.uint32]: ...
    def histogram(self, r_max: float, n_bins: int, *, half: bool = False) -> npt.NDArray[Any]: ...
    def find(
        self,
        quantities: str = "ij",
        *,
        half: bool = False,
        order: _Order = "rows",
        index: _Index = "int64",
        max_bytes: int | None = None,
    ) -> Any: ...

def find_pairs(
    quantities: str,
    positions: _Array,
    cutoff: SupportsFloat | _Numbers,
    *,
    cell: _Numbers | None = None,
    pbc: _Flags | None = None,
    origin: _Numbers | None = None,
    queries: _Array | None = None,
    batch: _Numbers | tuple[_Numbers] | None = None,
    query_batch: _Numbers | tuple[_Numbers] | None = None,
    half: bool = False,
    order: _Order = "rows",
    index: _Index = "int64",
    closed: bool = False,
    n_threads: int = 0,
    max_bytes: int | None = None,
) -> Any: ...
def count_pairs(positions: _Array, cutoff: float, *, half: bool = False, **options: Any) -> int: ...

class Interaction:
    def __init__(self, name: str, dim: int = 3, **parameters: float) -> None: ...
    @property
    def dim(self) -> int: ...
    @property
    def n_in(self) -> int: ...
    @property
    def n_out(self) -> int: ...
    @property
    def n_point_parameters(self) -> int: ...
    @property
    def has_mutual(self) -> bool: ...
    @property
    def cutoff(self) -> float: ...

class Tree:
    def update(self, positions: _Array, targets: _Array | None = None) -> Any: ...
    @property
    def n_leaves(self) -> int: ...
    @property
    def depth(self) -> int: ...
    @property
    def largest_leaf(self) -> int: ...
    @property
    def n_interactions(self) -> int: ...
    @property
    def offsets(self) -> npt.NDArray[Any]: ...
    @property
    def order(self) -> npt.NDArray[Any]: ...

def build_tree(
    positions: _Array,
    targets: _Array | None = None,
    *,
    max_leaf_size: int = 64,
    level: int | None = None,
    cell: _Numbers | None = None,
    pbc: _Flags | None = None,
    origin: _Numbers | None = None,
    n_threads: int = 0,
) -> Tree: ...
def near_field(
    kernel: str | Interaction,
    leaves: Tree | CellList,
    positions: _Array,
    charges: _Array,
    targets: _Array | None = None,
    *,
    mutual: bool | None = None,
    out: _Array | None = None,
    accumulate: bool = False,
    **parameters: float,
) -> Any: ...
def near_field_step(
    kernel: str | Interaction,
    leaves: Tree | CellList,
    positions: _Array,
    charges: _Array,
    targets: _Array | None = None,
    **options: Any,
) -> Any: ...
def p2p(
    kernel: str | Interaction,
    sources: _Array,
    charges: _Array,
    targets: _Array | None = None,
    *,
    mutual: bool | None = None,
    out: _Array | None = None,
    accumulate: bool = False,
    n_threads: int = 0,
    **parameters: float,
) -> Any: ...
def neighbor_list(
    quantities: str,
    a: Any,
    cutoff: float | Sequence[float] | Mapping[Any, float],
    self_interaction: bool = False,
    max_nbins: float = 1e6,
) -> Any: ...
def primitive_neighbor_list(
    quantities: str,
    pbc: _Flags,
    cell: _Numbers,
    positions: _Numbers,
    cutoff: float | Sequence[float] | Mapping[Any, float],
    numbers: Sequence[int] | None = None,
    self_interaction: bool = False,
    use_scaled_positions: bool = False,
    max_nbins: float = 1e6,
) -> Any: ...
