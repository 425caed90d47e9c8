# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""What every program and node imports along with the regressor."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
import sys
import sysid_ros.pipeline.experiment_run
assert not {"numba", "scipy.special", "scipy.linalg", "urllib.request"} & set(sys.modules)
"""


def test_what_takes_long_to_import_is_imported_where_it_is_called() -> None:
    subprocess.run([sys.executable, "-c", PROGRAM], check=True)
