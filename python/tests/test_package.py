"""What is installed: symbols, libraries, version, what the import loads, entry points, types."""

import ast
import importlib.metadata
import inspect
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import nearfield._core
import numpy as np
import pytest

import nearfield

CLONE = Path(__file__).parents[2]


def binutils(*command):
    if shutil.which(command[0]) is None:
        pytest.skip(f"there is no {command[0]}")
    return subprocess.run(
        [*command, nearfield._core.__file__], capture_output=True, text=True, check=True
    ).stdout


def distribution():
    try:
        return importlib.metadata.distribution("nearfield")
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("nearfield is not installed")


def test_module_exports_one_symbol():
    names = [line.split()[-1] for line in binutils("nm", "-D", "--defined-only").splitlines()]
    assert names == ["PyInit__core"]


def test_module_needs_no_library_of_cplusplus():
    needed = re.findall(r"NEEDED.*\[(.+)\]", binutils("readelf", "-d"))
    known = {
        "libc",
        "libgcc_s",
        "libm",
        "libpthread",
        "librt",
        "libdl",
        "ld-linux-x86-64",
        "ld-linux-aarch64",
    }
    assert {name.split(".so")[0] for name in needed} <= known


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
    code = (
        "import numpy, sys; had = set(sys.modules); import nearfield; print(*sorted(set(sys.modules) - had))"
    )
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
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
    code = re.search(r"```python\n(.*?)```", (CLONE / "python/README.md").read_text(), re.DOTALL)[1]
    names = {}
    exec(code, names)
    assert names["S"].shape == (len(names["i"]), 3)
    assert np.isfinite(names["phi"]).all()


def test_types_have_the_parameters_of_the_functions():
    def parameters(of):
        arguments = [a.arg for a in (*of.args.posonlyargs, *of.args.args, *of.args.kwonlyargs)]
        return arguments + [a.arg for a in (of.args.vararg, of.args.kwarg) if a is not None]

    typed = set()
    for node in ast.parse((Path(nearfield.__file__).parent / "__init__.pyi").read_text()).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            typed.add(node.name)
        functions = [(node, nearfield)] if isinstance(node, ast.FunctionDef) else []
        if isinstance(node, ast.ClassDef):
            of = getattr(nearfield, node.name)
            functions += [(f, of) for f in node.body if isinstance(f, ast.FunctionDef)]
        for function, owner in functions:
            of = getattr(owner, function.name)
            if inspect.isfunction(of):
                assert parameters(function) == list(inspect.signature(of).parameters), function.name
    assert typed == set(nearfield.__all__)


def test_mypy_takes_a_users_file(tmp_path):
    pytest.importorskip("mypy")
    (tmp_path / "user.py").write_text(
        "import numpy as np\n"
        "import nearfield\n"
        "x = np.random.default_rng(1).random((1000, 3))\n"
        "i, j, S = nearfield.find_pairs('ijS', x, 0.1, cell=np.eye(3), pbc=[True, True, False])\n"
        "cells = nearfield.CellList(x, 0.1, skin=0.01)\n"
        "n: int = cells.count(half=True)\n"
        "moved: bool = cells.update(x)\n"
        "phi = nearfield.p2p('yukawa', x, np.ones(1000), screening=2.0)\n"
        "k = nearfield.Interaction('one_over_r')\n"
        "g = nearfield.near_field(k, nearfield.build_tree(x), x, np.ones(1000), mutual=True)\n"
    )
    environment = dict(os.environ)
    folder = Path(nearfield.__file__).parents[1]
    if folder.name != "site-packages":
        environment["MYPYPATH"] = str(folder)
    said = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "user.py"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert said.returncode == 0, said.stdout
