# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A model that is wrong from the beginning is named while the robot moves; a right one is not."""

from __future__ import annotations

import numpy as np
import pytest
from torque_arm import JOINT_EXPERIMENT, moved, noisy, part_of, torque_sequences, true_spec

from sysid_ros.engine.estimation import FitSettings
from sysid_ros.engine.moving_horizon import HorizonSettings, TorqueHorizon
from sysid_ros.experiment import parse_experiment
from sysid_ros.robots import build_parameters

END, EVERY, PUSHED = 14.0, 0.5, 8.0  # s


@pytest.mark.parametrize(("body", "factor"), [("upper", 1.4), ("", 1.0)])
def test_a_wrong_mass_is_named_within_seconds_and_beside_a_push(body: str, factor: float):
    times, motion, torque = moved(true_spec().compile(), END)
    torque = torque + 0.1 * np.sign(motion.qvel) * np.exp(-np.abs(motion.qvel) / 0.1)
    swell = np.clip(np.sin(np.pi * (times - PUSHED)), 0.0, None) * (abs(times - PUSHED - 0.5) < 0.5)
    positions, torque = noisy(motion.qpos, torque + np.array([4.0, -3.0, 3.0]) * swell[:, None])
    spec = true_spec()
    if body:
        spec.body(body).mass *= factor
        spec.body(body).fullinertia = factor * np.array(spec.body(body).fullinertia)
    whole = torque_sequences(spec, times, positions, torque)
    params = build_parameters(parse_experiment(JOINT_EXPERIMENT), whole.spec)
    horizon = TorqueHorizon(params, FitSettings(method="inverse_dynamics"), HorizonSettings())
    said = {}
    for now in np.arange(2.5, END, EVERY):
        begin = horizon.needed_from
        found = horizon.update(part_of(whole, 0.0 if np.isnan(begin) else begin - 0.5, float(now)))
        if found is not None:
            said[float(now)] = found.wrong
    if not body:
        assert not any(said.values())
        return
    (named,) = {len(told) for now, told in said.items() if now > 7.0}
    assert named == 1
    assert all(f"a mass of {body!r}" in one for told in said.values() for one in told)
