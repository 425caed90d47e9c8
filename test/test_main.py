# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The process of a command."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

VERSION = """
import contextlib, os, sys
from sysid_ros.__main__ import main
sys.argv = ["sysid_ros", "--version"]
with contextlib.suppress(SystemExit):
    main()
import numpy
print(len(os.listdir("/proc/self/task")))
"""


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="threads are not told here")
def test_no_threads_of_blas_are_started() -> None:
    names = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS")
    env = {name: value for name, value in os.environ.items() if name not in names}
    said = subprocess.run(
        [sys.executable, "-c", VERSION], env=env, check=True, capture_output=True, text=True
    )
    assert said.stdout.split()[-1] == "1"
