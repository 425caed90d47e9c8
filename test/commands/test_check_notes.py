# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""What ``sysid_ros check`` did not test, and why, is told in words and to programs."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from arm_recording import arm_model, simulate, write_experiment

from sysid_ros.cli import main
from sysid_ros.errors import ErrorCode

OPEN = "masses are not tested, nor how the robot is mounted, as 'sign' leaves open which signal"
ROUGH = "masses are not tested, as 'offset' may look like them: repair it and check again"


@pytest.mark.parametrize(
    ("joints", "change", "note"),
    [
        (1, np.negative, OPEN),  # a mirror image obeys the same equations
        (2, lambda values: values + 0.2, ROUGH),
        (2, np.positive, ""),
    ],
    ids=["sign", "offset", "right"],
)
def test_a_finding_that_keeps_masses_from_being_tested_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], joints: int, change: np.ufunc, note: str
) -> None:
    model = arm_model(1, joints, servos=True)
    recording = simulate(model, 1).changed("position", joints - 1, change)
    file = write_experiment(tmp_path, model, recording)
    code = main(["check", str(file), "--json"])
    assert code == (ErrorCode.DATA_UNUSABLE if note else ErrorCode.NONE)
    printed = capsys.readouterr()
    told = json.loads(printed.out)
    assert [one["kind"] for one in told["findings"]] == ([note.split("'")[1]] if note else [])
    untested = [one for one in told["notes"] if one.startswith("masses are not tested")]
    assert len(untested) == bool(note)
    for one in untested:
        assert one.startswith(note)
        assert one[:40] in printed.err
