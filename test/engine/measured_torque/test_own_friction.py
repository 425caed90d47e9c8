# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The law of dry friction at reversals: MuJoCo's own, and the sharp one with its speeds."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest
from simulated_arms import FRICTION
from torque_arm import friction_and_more, moved, noisy, torque_sequences, true_spec

from sysid_ros import sysid
from sysid_ros.engine.estimation import FitSettings
from sysid_ros.engine.inverse_dynamics import mujoco_torque, sharpen_friction
from sysid_ros.engine.measured_torque.own_friction import is_same_law
from sysid_ros.engine.parameters import ParameterDict


@pytest.mark.parametrize("attribute", ["frictionloss", "armature"])
def test_friction_and_the_inertia_it_works_against_make_another_law(attribute: str) -> None:
    spec = true_spec()
    before = spec.compile()
    assert is_same_law(before, spec.compile())
    joint = spec.joints[-1]
    setattr(joint, attribute, 1.1 * getattr(joint, attribute))
    assert not is_same_law(before, spec.compile())


def test_damping_leaves_the_law_as_it_is() -> None:
    spec = true_spec()
    before = spec.compile()
    spec.joints[0].damping = 2.0 * spec.joints[0].damping
    assert is_same_law(before, mujoco.MjSpec.from_string(spec.to_xml()).compile())


@pytest.mark.parametrize("creep", [{}, {"b": 0.15}])
def test_the_speed_from_which_on_friction_is_whole_is_found(creep: dict[str, float]) -> None:
    pytest.importorskip("clarabel", reason="the convex solver is not installed")
    spec = true_spec()
    spec.joint("b").frictionloss = 3.0
    true = spec.copy()
    sharpen_friction(true, creep)
    times, motion, torque = moved(true.compile())
    group = torque_sequences(spec, times, *noisy(motion.qpos, torque))
    result = sysid.fit([group], friction_and_more(spec), FitSettings(method="inverse_dynamics"))
    assert result.torque is not None
    assert result.torque.creep == creep
    assert result["b_frictionloss"].value == pytest.approx(3.0, rel=0.01)
    assert any("whole only from some speed" in note for note in result.torque.notes) == bool(creep)


@pytest.mark.parametrize("other", [0.01, 0.15])
def test_robots_whose_friction_is_whole_from_other_speeds_on_are_told(other: float) -> None:
    pytest.importorskip("clarabel", reason="the convex solver is not installed")
    spec, groups, params = true_spec(), [], ParameterDict()
    for robot, speed in (("one", 0.01), ("two", other)):
        true = spec.copy()
        true.joint("b").frictionloss = 2.0 if robot == "one" else 4.0
        sharpen_friction(true, {"b": speed})
        times, motion, torque = moved(true.compile(), 12.0)
        group = torque_sequences(spec, times, *noisy(motion.qpos, torque))
        group.robot, group.sequence_name = robot, [robot]
        groups.append(group)
        for parameter in friction_and_more(spec).values():
            parameter.name, parameter.robot = f"{robot}/{parameter.name}", robot
            params.add(parameter)
    result = sysid.fit(groups, params, FitSettings(method="inverse_dynamics"))
    assert result.torque is not None
    notes = [note for note in result.torque.notes if note.startswith("Robots differ")]
    if other == 0.01:
        assert not notes
        assert result["two/b_frictionloss"].value == pytest.approx(4.0, rel=0.02)
        return
    (note,) = notes
    assert "b (one whole at once, two whole from 0.15)" in note


def test_the_speed_is_written_for_mj_inverse() -> None:
    spec = true_spec()
    sharpen_friction(spec, {"b": 0.1})
    model = spec.compile()
    _, motion, _ = moved(model, 1.0)
    motion = motion._replace(qvel=0.0 * motion.qvel, qacc=0.0 * motion.qacc)
    for speed, whole in ((0.05, 0.5), (0.1, 1.0)):
        moving = motion._replace(qvel=motion.qvel + np.array([0.0, speed, 0.0]))
        model.dof_damping[:] = 0.0
        free = mujoco.MjModel.from_xml_string(spec.to_xml())
        free.dof_damping[:] = free.dof_frictionloss[:] = 0.0
        friction = mujoco_torque(model, moving) - mujoco_torque(free, moving)
        assert friction[:, 1] == pytest.approx(whole * FRICTION, rel=0.01)
