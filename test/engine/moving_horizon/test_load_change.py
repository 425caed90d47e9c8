# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A load is told from a push by what one rigid body can explain."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest
from torque_arm import BODIES, JOINTS, moved, noisy, part_of, torque_sequences, true_spec

from sysid_ros.engine.estimation import FitSettings
from sysid_ros.engine.inverse_dynamics import mujoco_torque, with_payload
from sysid_ros.engine.measured_torque import later_recording
from sysid_ros.engine.moving_horizon import HorizonSettings, TorqueHorizon
from sysid_ros.engine.moving_horizon.load_change import LoadChange
from sysid_ros.engine.moving_horizon.torque_blocks import Block
from sysid_ros.experiment import parse_experiment
from sysid_ros.robots import build_parameters

MASS, TAKEN, END = 0.5, 6.0, 7.6  # kg, s, s
EXPERIMENT = f"""
model: arm.xml
sequences: [bag]
signals: [{{effort: a, topic: /joint_states, field: "effort[a]"}}]
payload: {{body: {BODIES[-1]}}}
parameters: [{{joint: "*", damping: }}]
fit: {{method: inverse_dynamics, inverse_dynamics: {{torque_offsets: false}}}}
"""


@functools.cache
def compared(loaded: bool) -> tuple[LoadChange, list[Block]]:
    """What an arm knows without a load, and rows with one or with a push at its first joint."""
    spec = true_spec()
    heavy = spec.copy()
    load = heavy.body(BODIES[-1]).add_body(name="load")
    load.explicitinertial, load.mass, load.inertia = True, MASS, np.full(3, 1e-3)
    load.ipos = np.array([0.25, 0.01, -0.02])
    times, motion, _ = moved(spec.compile(), END)
    torque = mujoco_torque(spec.compile(), motion)
    after = times >= TAKEN
    if loaded:
        torque[after] = mujoco_torque(heavy.compile(), motion)[after]
    else:
        torque[after, 0] += 20.0 * np.sin(12.0 * (times[after] - TAKEN))
    positions, torque = noisy(motion.qpos, torque)
    whole = torque_sequences(with_payload(spec, BODIES[-1]), times, positions, torque)
    params = build_parameters(parse_experiment(EXPERIMENT), whole.spec)
    horizon: Any = TorqueHorizon(params, FitSettings(method="inverse_dynamics"), HorizonSettings())
    for now in (3.4, 4.4, 5.4, TAKEN):
        horizon.update(part_of(whole, 0.0, now))
    new = []
    for now in np.arange(TAKEN + 0.2, END, 0.2):
        recording = later_recording(horizon._problem, part_of(whole, 0.0, float(now)))
        new.append(horizon._rows.regular.new(recording))
    told = [block for block in new if block is not None and block.begin > TAKEN]
    return LoadChange.of(horizon._problem, horizon._rows, params, horizon._latest), told


def test_a_load_is_one_rigid_body() -> None:
    change, told = compared(loaded=True)
    assert len(change.bodies) == 1
    found = change.explained(told)
    assert found is not None
    ((condition, _),) = change.free.matrix.items()
    mass = change.free.columns.of_body(change.bodies[0])[0]
    assert change.free.theta(found.x, condition)[mass] == pytest.approx(MASS, rel=0.1)


def test_no_load_explains_a_push_and_the_joint_is_named() -> None:
    change, told = compared(loaded=False)
    assert change.explained(told) is None
    assert f"most of it at {JOINTS[0]}: a contact or a push" in change.contact(told)


def test_without_its_load_a_row_tells_nothing_of_it() -> None:
    change, told = compared(loaded=True)
    columns = change.free.columns.of_body(change.bodies[0])
    left = change.without_load(told)
    assert any(sums.any() for block in left for sums in block.grams.sums)
    for block in left:
        for support, sums in zip(block.grams.support, block.grams.sums, strict=True):
            assert not sums[:, np.flatnonzero(np.isin(support, columns))].any()
