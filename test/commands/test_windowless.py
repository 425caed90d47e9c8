# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Commands do not load the library of windows, which MuJoCo looks for with a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

SCRIPT = """
import sys
from sysid_ros.cli import main
main(sys.argv[1:])
assert "mujoco" in sys.modules and "glfw" not in sys.modules
"""


@pytest.mark.parametrize("command", ["fit", "report"])
def test_windows_are_not_loaded(command: str) -> None:
    given = {name: value for name, value in os.environ.items() if name != "MUJOCO_GL"}
    subprocess.run([sys.executable, "-c", SCRIPT, command, "missing"], env=given, check=True)
