# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Zeros of encoders are told where no sag explains them, and commands in units of their own."""

from __future__ import annotations

from pathlib import Path

import mujoco
import numpy as np
import pytest
import yaml

from sysid_ros.dataset import load_dataset
from sysid_ros.diagnosis import mistaken_values, servo_mistakes
from sysid_ros.diagnosis.evidence import DEGREE, Change, Finding, FindingKind, Recorded
from sysid_ros.diagnosis.fits import Misfit
from sysid_ros.diagnosis.servo_mistakes import _Hypothesis, _Scored, _simplest
from sysid_ros.experiment import parse_experiment
from sysid_ros.rehearsal import Controller, Motion, RecordingPlan, generate

ARM = """<mujoco><compiler angle="radian"/><option timestep="0.002" integrator="implicitfast"/>
  <worldbody><body><joint name="lift" axis="0 1 0" damping="5" armature=".3" range="0.2 2.2"/>
  <geom type="capsule" fromto="0 0 0 0 0 .4" size=".04" mass="{mass}"/></body></worldbody>
  <actuator><position name="servo" joint="lift" kp="3000" kv="200"/></actuator></mujoco>"""
MASS = {"stiff": 6.0, "sagging": 90.0}  # 12 and 180 N m on 3000 N m/rad


@pytest.fixture(scope="module", params=list(MASS))
def recorded(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    made: Path = tmp_path_factory.mktemp(request.param)
    text = ARM.format(mass=MASS[request.param])
    (made / "robot.xml").write_text(text)
    plan = RecordingPlan(
        controllers=(Controller(delay=0.008),), duration=10.0, settle=0.0, motion=Motion(reach=0.5)
    )
    generate(mujoco.MjSpec.from_string(text), plan, made / "bag")
    return made


def found_with(
    folder: Path, offset: float = 0.0, asked: str = "", told: str = ""
) -> tuple[Finding, ...]:
    """What is said of a file that has the position off by something, or a wrong command."""
    experiment = parse_experiment(
        f"""model: robot.xml
sequences: [bag]
signals:
  - {{qpos: lift, topic: /joint_states, field: "position[lift]", offset: {offset}{told}}}
  - {{actuator: servo, topic: /position_controller/commands, field: "data[0]"{asked}}}
parameters: [{{signal: servo, delay: null}}]
""",
        path=folder / "experiment.yaml",
    )
    return mistaken_values(experiment, load_dataset(experiment, None))


@pytest.mark.parametrize("offset", [0.0, 0.05, 0.099, 0.2])
def test_an_offset_is_an_offset_and_nothing_else(recorded: Path, offset: float) -> None:
    """One just too small was told as a scale of 0.86 with an offset of 0.24, which is larger."""
    found = found_with(recorded, offset)
    told = offset >= 0.1 or (offset > 0.0 and "stiff" in recorded.name)
    assert [one.kind for one in found] == [FindingKind.OFFSET] * told
    assert not told or found[0].sentence.startswith(f"'lift_qpos' is off by {offset:.3g}")


def test_a_command_that_is_no_degrees_does_not_make_its_position_degrees(recorded: Path) -> None:
    """The position would turn by a degree; its line had got the command's wrong unit as well."""
    (found,) = found_with(recorded, asked=", unit: deg")
    assert (found.kind, found.signals) == (FindingKind.DEGREES, ("servo",))
    assert "once too often" in found.sentence
    assert "unit" not in found.repair


def test_a_position_that_is_no_degrees_is_wrong_and_not_its_command(recorded: Path) -> None:
    """What the joint's friction and load put on the servo is of the size of its command."""
    (found,) = found_with(recorded, told=", unit: deg")
    assert (found.kind, found.signals) == (FindingKind.DEGREES, ("lift_qpos",))
    assert "once too often" in found.sentence
    assert "unit" not in found.repair


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_pulse_widths_are_one_unit_with_a_zero_of_its_own(recorded: Path, sign: float) -> None:
    """Of a servo that is asked for microseconds, and of one that is mounted the other way round.

    Factor and zero were told one by one, with three times the factor and the zero of an encoder.
    """
    asked = f", scale: {636.62 * sign}, offset: 1500.0"
    found = found_with(recorded, asked=asked)
    kinds = [FindingKind.UNIT, *([FindingKind.SIGN] if sign < 0.0 else [])]
    assert [one.kind for one in found] == kinds
    assert {one.signals[0] for one in found} == {"servo"}
    (line,) = yaml.safe_load(found[-1].repair)
    assert line["scale"] == pytest.approx(1.0, rel=0.02)  # as before, but for its sag
    assert line["offset"] == pytest.approx(0.0, abs=0.03)


def test_a_scale_is_told_that_puts_the_joint_into_another_body(
    recorded: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What pushes it there is in nobody's way where its servo asks it to be: nothing was told."""

    def folded(seen: Recorded, _: int) -> bool:
        return max(one.values.max() for one in seen.pooled("lift_qpos")) > 2.5

    monkeypatch.setattr(servo_mistakes, "is_pushed", folded)
    found = found_with(recorded, told=", scale: 2.0")
    assert FindingKind.SCALE in {one.kind for one in found}


def test_degrees_are_told_before_a_unit_that_explains_hardly_more() -> None:
    """A wheel's slip was made up for by 42.9 and a zero, in a wheel that is told in degrees."""

    def scored(change: Change, power: float) -> _Scored:
        misfit = Misfit(power**0.5, np.full(20, power))
        return _Scored(_Hypothesis(DEGREE, 0.0, 0.0, power), [(change, 0.0)], misfit)

    unit = scored(Change(FindingKind.UNIT, {"drive": 42.9}, {"drive": 4.3}), 0.0343)
    for power, told in ((0.0355, FindingKind.DEGREES), (0.2, FindingKind.UNIT)):
        degrees = scored(Change(FindingKind.DEGREES, {"wheel": DEGREE}), power)
        assert _simplest([unit, degrees]).kinds == {told}
