# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""What every program and node imports along with the regressor."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
import sys
import sysid_ros.pipeline.experiment_run
assert "numba" not in sys.modules
"""


def test_numba_is_imported_where_something_compiled_is_called() -> None:
    subprocess.run([sys.executable, "-c", PROGRAM], check=True)
