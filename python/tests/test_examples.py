"""The examples run; each checks its own result."""

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"


@pytest.mark.parametrize(
    ("name", "arguments", "needs"),
    [("crystal", ["4"], "ase"), ("salt", ["8"], None), ("vortex_sheet", ["400"], None)],
)
def test_example(name, arguments, needs, tmp_path):
    if needs:
        pytest.importorskip(needs)
    done = subprocess.run(
        [sys.executable, EXAMPLES / f"{name}.py", *arguments], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
