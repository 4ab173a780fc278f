"""What is installed: symbols, libraries, version, what the import loads, entry points, types."""

import importlib.metadata
import re
import shutil
import subprocess
import sys
from pathlib import Path

import nearfield
import nearfield._core
import numpy as np
import pytest

CLONE = Path(__file__).parents[2]


def binutils(*command):
    if shutil.which(command[0]) is None:
        pytest.skip(f"there is no {command[0]}")
    return subprocess.run([*command, nearfield._core.__file__], capture_output=True, text=True, check=True).stdout


def distribution():
    try:
        return importlib.metadata.distribution("nearfield")
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("nearfield is not installed")


def test_module_exports_one_symbol():
    names = [line.split()[-1] for line in binutils("nm", "-D", "--defined-only").splitlines()]
    assert names == ["PyInit__core"]


def test_module_needs_nothing_but_the_c_library():
    needed = re.findall(r"NEEDED.*\[(.+)\]", binutils("readelf", "-d"))
    assert {name.split(".so")[0] for name in needed} <= {"libc", "libm", "libpthread", "librt", "libdl", "ld-linux-x86-64"}


def test_version_is_that_of_the_clone():
    sources = CLONE / "CMakeLists.txt"
    if not (CLONE / "guix.scm").exists():
        pytest.skip("there is no clone")
    version = re.search(r"project\(nearfield VERSION ([0-9.]+)", sources.read_text())[1]
    assert nearfield.__version__ == version
    assert f'version: "{version}"' in (CLONE / "python/conda/recipe.yaml").read_text()


def test_distribution_has_the_version_of_the_module():
    assert distribution().version == nearfield.__version__


def test_import_loads_numpy_and_nothing_that_is_optional():
    code = "import numpy, sys; had = set(sys.modules); import nearfield; print(*sorted(set(sys.modules) - had))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    others = {name.split(".")[0] for name in loaded} - set(sys.stdlib_module_names)
    assert others == {"nearfield"}


def test_ase_finds_the_plugin():
    (entry,) = [e for e in distribution().entry_points if e.group == "ase.plugins"]
    assert entry.name == "nearfield"
    assert isinstance(entry.load().__ase_plugins__, set)


def test_types_are_installed():
    distribution()
    folder = Path(nearfield._core.__file__).parent
    assert "def pairs(" in (folder / "_core.pyi").read_text()
    assert (Path(nearfield.__file__).parent / "py.typed").exists()


def test_instruction_set_is_one_of_the_machine():
    assert nearfield.instruction_set() in {"scalar", "sse2", "avx2", "avx512", "neon64"}


def test_readme_runs():
    code = re.search(r"```python\n(.*?)```", (CLONE / "python/README.md").read_text(), re.S)[1]
    names = {}
    exec(code, names)
    assert names["S"].shape == (len(names["i"]), 3)
    assert np.isfinite(names["phi"]).all()
