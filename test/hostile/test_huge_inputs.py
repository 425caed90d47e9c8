# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Inputs that are larger than any robot: refused with the limit, or done without much work."""

from __future__ import annotations

from pathlib import Path

import pytest
from arm_recording import arm_model, simulate, write_experiment
from counted_work import calls_of

from sysid_ros.cli import main
from sysid_ros.errors import ErrorCode

MOST_CALLS = 2_000_000  # of functions; a tenth of it is expected


def wide_model(joints: int) -> str:
    bodies = "".join(
        f'<body pos="0 0 {k}"><joint name="extra{k}"/><geom size=".01" contype="0" '
        'conaffinity="0"/></body>'
        for k in range(joints)
    )
    return f"<worldbody>{bodies}</worldbody>"


@pytest.mark.parametrize(
    ("joints", "said"),
    [(1200, "a fit takes 2000 at most"), (9000, "has more than 6000 elements once expanded")],
)
def test_patterns_that_match_thousands_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], joints: int, said: str
) -> None:
    xml = arm_model(1, 2)
    experiment = write_experiment(tmp_path, xml, simulate(xml, 1, duration=2.0))
    model = next(tmp_path.glob("*.xml"))
    model.write_text(xml.replace("<worldbody>", f"{wide_model(joints)}<worldbody>", 1))
    text = experiment.read_text()
    entry = '  - {joint: "*", armature: {}, damping: {}, frictionloss: {}}\n'
    experiment.write_text(text[: text.index("parameters:")] + "parameters:\n" + entry)
    ended: list[int] = []
    assert calls_of(lambda: ended.append(main(["check", str(experiment)]))) < MOST_CALLS
    assert ended != [ErrorCode.NONE]
    assert said in capsys.readouterr().err


def test_windows_of_no_length_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    xml = arm_model(1, 2)
    experiment = write_experiment(tmp_path, xml, simulate(xml, 1, duration=2.0))
    text = experiment.read_text()
    experiment.write_text(text.split("windows:")[0] + "windows: {length: 1e-300}\n")
    assert main(["check", str(experiment)]) != ErrorCode.NONE
    assert "windows.length must be at least 0.001" in capsys.readouterr().err


@pytest.mark.parametrize("key", ["windows", "scoring"])
def test_windows_of_one_instant_each_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], key: str
) -> None:
    """Nothing is left to compare in them, so that every error would be NaN."""
    xml = arm_model(1, 2)
    experiment = write_experiment(tmp_path, xml, simulate(xml, 1, duration=2.0))
    assert main(["check", str(experiment), "--set", f"{key}.length=0.004"]) != ErrorCode.NONE
    said = capsys.readouterr().err
    assert f"{key}.length is 0.004 s, but 'bag' was measured every 0.005 s" in said
