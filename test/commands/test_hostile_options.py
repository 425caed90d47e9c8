# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Options that mean nothing, and files of limits and profiles that are hostile."""

from __future__ import annotations

from pathlib import Path

import pytest

from sysid_ros.cli import main
from sysid_ros.errors import ErrorCode
from sysid_ros.excitation import ExcitationError, read_joint_limits
from sysid_ros.recording.bags.qos_text import read_profiles
from sysid_ros.report.svg.axis import Axis

OPTIONS = [
    ("live", "--horizon", ("nan", "inf", "-1", "0")),
    ("live", "--forgetting", ("nan", "inf", "-1", "0")),
    ("rehearse", "--repeats", ("0", "-1")),
    ("rehearse", "--seed", ("-1", "9" * 30)),
    ("design", "--velocity", ("nan", "1e308", "-1")),
    ("design", "--acceleration", ("nan", "1e308", "1e-300")),
    ("design", "--jerk", ("nan", "1e308", "0")),
    ("design", "--fill", ("nan", "1e-300", "2")),
    ("design", "--clearance", ("nan", "inf", "-1")),
    ("design", "--duration", ("nan", "1e308", "0")),
    ("design", "--budget", ("nan", "inf", "-1")),
    ("design", "--torque-noise", ("nan", "inf", "1e-300")),
    ("design", "--seed", ("-1", "9" * 30)),
]


@pytest.mark.parametrize(("command", "option", "values"), OPTIONS)
def test_numbers_that_mean_nothing_are_refused(
    capsys: pytest.CaptureFixture[str], command: str, option: str, values: tuple[str, ...]
) -> None:
    """Before the experiment is read, which is not there."""
    bag = ["--bag", "none"] if command == "live" else []
    for value in values:
        assert (
            main([command, "none.yaml", *bag, f"{option}={value}"]) == ErrorCode.INVALID_EXPERIMENT
        )
        assert f"{option} is {float(value):g}; it takes " in capsys.readouterr().err


@pytest.mark.parametrize("command", [["design"], ["export", "--bag=none"], ["live", "--bag=none"]])
def test_where_nothing_can_be_written_no_work_begins(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, command: list[str]
) -> None:
    for output in (tmp_path, tmp_path / "none" / "file.csv"):
        assert main([*command, "none.yaml", f"--output={output}"]) == ErrorCode.OUTPUT_UNWRITABLE
        assert f"cannot write to {output}" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("joint_limits: " + "[" * 800, "limits cannot be read from"),
        ("joint_limits: {j: {max_velocity: 1.0e+308}}", "max_velocity of joint 'j' is 1e\\+308"),
        ("joint_limits: {j: {max_velocity: " + "9" * 400 + "}}", "which is no number"),
    ],
)
def test_hostile_limits_are_refused(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "limits.yaml"
    file.write_text(text)
    with pytest.raises(ExcitationError, match=said):
        read_joint_limits(file)


@pytest.mark.parametrize("text", ["[" * 3000, "- {depth: 2001-99-99}"])
def test_hostile_profiles_are_no_profiles(text: str) -> None:
    assert read_profiles(text) == ()


@pytest.mark.parametrize("logarithmic", [False, True])
def test_an_axis_leaves_out_what_cannot_be_drawn(logarithmic: bool) -> None:
    axis = Axis.over([1.0, 1e308, float("nan"), 100.0], "x", logarithmic=logarithmic)
    assert axis.high < 200.0
    assert axis.ticks()
