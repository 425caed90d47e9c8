# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""What every program and node imports along with the regressor."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
import sys
import numpy as np
import sysid_ros.pipeline.experiment_run
from sysid_ros.diagnosis.evidence.filtered import _low_passed
_low_passed(np.zeros(8), 0.5)  # of every fit whose servos lag
late = {"numba", "scipy.signal", "scipy.special", "scipy.linalg", "urllib.request"}
assert not late & set(sys.modules)
"""


def test_what_takes_long_to_import_is_imported_where_it_is_called() -> None:
    subprocess.run([sys.executable, "-c", PROGRAM], check=True)
