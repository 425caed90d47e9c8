# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A hand that presses straight down on an arm in slow motion is not taken for a load."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest
from torque_arm import BODIES, moved, noisy, part_of, slowed, torque_sequences, true_spec

from sysid_ros.engine.estimation import FitSettings
from sysid_ros.engine.inverse_dynamics import Motion, mujoco_torque, with_payload
from sysid_ros.engine.moving_horizon import HorizonEstimate, HorizonSettings, TorqueHorizon
from sysid_ros.engine.moving_horizon.held_force import EITHER
from sysid_ros.experiment import parse_experiment
from sysid_ros.robots import build_parameters

SLOW, BEGUN, ENDED, END, EVERY = 4.0, 5.5, 8.5, 10.0, 0.2  # s
MASS, AT = 0.8, np.array([0.25, 0.0, 0.0])
EXPERIMENT = f"""
model: arm.xml
sequences: [bag]
signals: [{{effort: a, topic: /joint_states, field: "effort[a]"}}]
payload: {{body: {BODIES[-1]}}}
fit: {{method: inverse_dynamics, inverse_dynamics: {{torque_offsets: false}}}}
"""


def _added(loaded: bool, motion: Motion) -> np.ndarray:
    """Torque of a load, or of a force as large as its weight at the same point."""
    spec = true_spec()
    bare = mujoco_torque(spec.compile(), motion)
    body = spec.body(BODIES[-1]).add_body(name="load", pos=AT)
    body.explicitinertial, body.mass, body.inertia = True, MASS, np.full(3, 1e-3)
    model = spec.compile()
    if loaded:
        return mujoco_torque(model, motion) - bare
    data, jacobian, found = mujoco.MjData(model), np.zeros((3, model.nv)), np.zeros_like(bare)
    for row, qpos in zip(found, motion.qpos, strict=True):
        data.qpos[:] = qpos
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        mujoco.mj_jacBody(model, data, jacobian, None, model.body("load").id)
        row[:] = -jacobian.T @ (MASS * model.opt.gravity)
    return found


def _followed(loaded: bool, speed: float) -> list[HorizonEstimate]:
    """Estimates from when the arm has become slow."""
    spec = true_spec()
    times, motion, _ = moved(spec.compile(), END)
    motion = slowed(times, motion, SLOW, speed)
    torque = mujoco_torque(spec.compile(), motion)
    during = (times >= BEGUN) & (times < ENDED)
    torque[during] += _added(loaded, Motion(*(one[during] for one in motion)))
    held = with_payload(spec, BODIES[-1])
    whole = torque_sequences(held, times, *noisy(motion.qpos, torque))
    params = build_parameters(parse_experiment(EXPERIMENT), whole.spec)
    horizon = TorqueHorizon(params, FitSettings(method="inverse_dynamics"), HorizonSettings())
    found = []
    for now in np.arange(EVERY, END, EVERY):
        begin = horizon.needed_from
        seen = part_of(whole, 0.0 if np.isnan(begin) else begin - 0.5, float(now))
        found.append(horizon.update(seen))
    return [one for one in found if one is not None and one.time > SLOW]


def _mass(estimate: HorizonEstimate) -> float:
    return next(p.value for p in estimate.parameters if p.name == "payload_mass")


@pytest.mark.parametrize("loaded", [False, True])
def test_acceleration_tells_a_load_from_a_force(loaded: bool):
    found = _followed(loaded, 0.6)
    plain = [(e.time, _mass(e)) for e in found if not e.unexplained]
    told = [mass for time, mass in plain if BEGUN + 1.5 < time < ENDED - 0.2]
    if loaded:
        assert told == pytest.approx([MASS] * len(told), rel=0.03)
        assert told
    else:
        assert not told
        assert max(mass for _, mass in plain) < 0.1 * MASS
    after = [mass for time, mass in plain if time > ENDED + 0.5]
    assert after
    assert max(after) < 0.1 * MASS


@pytest.mark.parametrize("loaded", [False, True])
def test_where_nothing_accelerates_both_are_said(loaded: bool):
    pressed = [e for e in _followed(loaded, 0.03) if BEGUN + 1.0 < e.time < ENDED - 0.2]
    assert pressed
    assert all(EITHER in e.unexplained for e in pressed)
