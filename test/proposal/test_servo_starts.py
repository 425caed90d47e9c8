# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A search begins with what the motion shows servos that the model lacks to work against."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import mujoco
import pytest

from sysid_ros.dataset import Dataset
from sysid_ros.engine.elements import add_servo, usual_servo_gain
from sysid_ros.experiment import load_experiment
from sysid_ros.proposal import propose
from sysid_ros.proposal.candidate import Candidate
from sysid_ros.proposal.mapped_inputs import Inputs
from sysid_ros.rehearsal import Controller, Motion, RecordingPlan, TrueParameter, generate

SWING = """<mujoco><worldbody><body>
  <joint name="swing" axis="0 1 0" {}/>
  <geom type="capsule" fromto="0 0 0 .3 0 0" size=".03" mass="1"/>
</body></worldbody></mujoco>"""


def starts(
    folder: Path, time_constant: float, known: str = "", weak: float = 1.0
) -> tuple[float, dict[str, float]]:
    """The servo's gain, and where each parameter of a proposal starts.

    Args:
      folder: For what is written.
      time_constant: True damping over gain [s].
      known: What the model says of its joint.
      weak: True gain over the guess.
    """
    spec = mujoco.MjSpec.from_string(SWING.format(known))
    gain = usual_servo_gain(spec.copy().compile(), 0)
    add_servo(spec, "drive", "swing", weak * gain)
    truth = (
        TrueParameter("joint", "swing", "damping", time_constant * weak * gain),
        TrueParameter("joint", "swing", "frictionloss", 0.02 * gain),
        TrueParameter("joint", "swing", "armature", 0.02),
    )
    plan = RecordingPlan(
        controllers=(Controller(delay=0.008),), duration=8.0, truth=truth, timestep=1e-3,
        motion=Motion(reach=0.4),
    )  # fmt: skip
    generate(spec, plan, folder / "bag")
    model = folder / "robot.xml"
    model.write_text(SWING.format(known))
    file = folder / "experiment.yaml"
    file.write_text(propose(model, [folder / "bag"], file).text)
    found = load_experiment(file).parameters
    return gain, {one.attribute: one.initial for one in found if one.initial is not None}


@pytest.mark.parametrize("time_constant", [0.002, 0.1])
def test_where_the_model_has_nothing_the_motion_counts(
    tmp_path: Path, time_constant: float
) -> None:
    gain, found = starts(tmp_path, time_constant)
    # A delay that is not known well leaves some milliseconds of damping open.
    assert found["damping"] / gain == pytest.approx(time_constant, rel=0.2, abs=0.005)
    assert found["frictionloss"] / gain == pytest.approx(0.02, rel=0.5)
    assert found["delay"] == pytest.approx(0.008, abs=0.004)


def test_friction_of_the_model_stays_and_damping_is_the_servos_too(tmp_path: Path) -> None:
    gain, found = starts(tmp_path, 0.1, known='damping="1" frictionloss="0.1"')
    assert "frictionloss" not in found
    assert found["damping"] / gain == pytest.approx(0.1, rel=0.2)


def test_a_servo_that_sags_shows_how_large_its_damping_is(tmp_path: Path) -> None:
    """What gravity leaves of the command is far more than of one that is followed."""
    gain, found = starts(tmp_path, 0.1, weak=0.2)
    assert found["damping"] / gain == pytest.approx(0.1, rel=0.5)


def test_a_start_from_which_the_simulation_runs_away_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def begun(offered: Sequence[Candidate], dataset: Dataset, inputs: Inputs) -> list[Candidate]:
        wild = {"kp": 1e12, "damping": 1e-3}
        return [
            replace(one, initial=wild.get(one.attribute, one.initial), high=2e12) for one in offered
        ]

    monkeypatch.setattr(sys.modules[propose.__module__], "begun_at_motion", begun)
    gain, found = starts(tmp_path, 0.1)
    assert found["kp"] == pytest.approx(gain, rel=1e-3)
    assert found["damping"] != 1e-3
