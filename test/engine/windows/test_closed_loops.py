# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""What nothing measures follows from the equalities that tie it to what is measured."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest
from robot_kinds import FOUR_BAR
from unseen_kinds import PARALLEL_GRIPPER, delta

from sysid_ros.engine.windows.closed_loops import ClosedLoops


def loops(model: mujoco.MjModel, *joints: str) -> ClosedLoops:
    found = ClosedLoops.of(model, {int(model.joint(name).dofadr[0]) for name in joints})
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("spec", "measured"),
    [
        (delta(), ("motor_0", "motor_1", "motor_2")),
        (mujoco.MjSpec.from_string(FOUR_BAR), ("crank_joint",)),
        (mujoco.MjSpec.from_string(PARALLEL_GRIPPER), ("left_finger_joint",)),
    ],
)
def test_states_meet_the_equalities(spec: mujoco.MjSpec, measured: tuple[str, ...]) -> None:
    model = spec.compile()
    found = loops(model, *measured)
    assert len(found.tied) == model.nv - len(measured)
    states = np.zeros((4, 1 + model.nq + model.nv))
    random = np.random.default_rng(0)
    size = 0.02 if model.nq == 2 else 0.3
    for name in measured:
        joint = model.joint(name)
        states[:, 1 + joint.qposadr[0]] = random.uniform(0.3 * size, size, 4)
        states[:, 1 + model.nq + joint.dofadr[0]] = random.uniform(-1.0, 1.0, 4)
    before = states.copy()
    found.close(states)
    data = mujoco.MjData(model)
    for state, given in zip(states, before, strict=True):
        data.qpos[:], data.qvel[:] = state[1 : 1 + model.nq], state[1 + model.nq :]
        mujoco.mj_forward(model, data)
        equal = np.asarray(data.efc_type) == int(mujoco.mjtConstraint.mjCNSTR_EQUALITY)
        assert np.abs(data.efc_pos[equal]).max() < 1e-9
        assert np.abs(data.efc_vel[equal]).max() < 1e-9
        for name in measured:  # what is measured stays
            joint = model.joint(name)
            assert data.qpos[joint.qposadr[0]] == given[1 + joint.qposadr[0]]


MIMICS = """<mujoco><worldbody><body name="a"><joint name="lead" ref=".2" axis="0 0 1"/>
  <geom size=".1" mass="1"/></body><body><joint name="cubic" ref="-.1" axis="0 0 1"/>
  <geom size=".1" mass="1"/></body><body><joint name="slide" type="slide"/>
  <geom size=".1" mass="1"/></body><body><joint name="stays" ref=".3" axis="0 0 1"/>
  <geom size=".1" mass="1"/></body></worldbody><equality>
  <joint joint1="cubic" joint2="lead" polycoef=".05 .7 .2 -.1 0"/>
  <joint joint1="slide" joint2="lead" polycoef="0 -.03 0 0 0"/>
  <joint joint1="stays" polycoef=".02 0 0 0 0"/></equality></mujoco>"""


def test_joints_that_mimic_a_measured_one_are_where_steps_would_bring_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of every instant that takes as long as all else that a check asks of such a gripper."""
    found = loops(mujoco.MjModel.from_xml_string(MIMICS), "lead")
    states = np.zeros((3, 9))
    states[:, 1], states[:, 5] = (0.3, -0.4, 0.1), (1.0, -2.0, 0.5)
    closed = [states.copy(), states.copy()]
    with monkeypatch.context() as patch:
        patch.setattr(ClosedLoops, "_laws", lambda self: None)
        found.close(closed[0])
    monkeypatch.delattr(ClosedLoops, "_closed")
    found.close(closed[1])
    np.testing.assert_allclose(*closed, atol=1e-8)


def test_loops_are_those_of_the_model_itself_whatever_its_jacobian_is_like() -> None:
    """A copy for each reader of starts would take its meshes along."""
    spec, closed = delta(), []
    for jacobian in (mujoco.mjtJacobian.mjJAC_DENSE, mujoco.mjtJacobian.mjJAC_SPARSE):
        spec.option.jacobian = jacobian
        model = spec.compile()
        found = loops(model, "motor_0", "motor_1", "motor_2")
        assert found.model is model
        states = np.zeros((2, 1 + model.nq + model.nv))
        states[:, 1:] = np.linspace(0.01, 0.02, states.shape[1] - 1)
        found.close(states)
        closed.append(states)
    np.testing.assert_allclose(*closed, rtol=1e-12)


def test_what_the_others_leave_open_is_not_tied() -> None:
    model = delta().compile()
    found = loops(model, "motor_0")
    assert len(found.free) == model.nv - 1
    assert len(found.tied) < len(found.free)


def test_an_open_chain_has_no_loops() -> None:
    model = mujoco.MjModel.from_xml_string(
        "<mujoco><worldbody><body><joint/><geom size='.1'/></body></worldbody></mujoco>"
    )
    assert ClosedLoops.of(model, ()) is None
