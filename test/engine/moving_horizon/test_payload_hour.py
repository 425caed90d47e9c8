# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A load that an arm holds for an hour is never said to change, though its friction warms up."""

from __future__ import annotations

import copy
from collections.abc import Iterator

import numpy as np
import pytest
from simulated_arms import coloured
from torque_arm import BODIES, OFFSETS, moved, torque_sequences, true_spec

from sysid_ros.engine.estimation import FitSettings
from sysid_ros.engine.inverse_dynamics import with_payload
from sysid_ros.engine.moving_horizon import HorizonEstimate, HorizonSettings, TorqueHorizon
from sysid_ros.engine.signals import TimeSeries
from sysid_ros.experiment import parse_experiment
from sysid_ros.robots import build_parameters

RATE, PASS, EVERY = 125.0, 20.0, 0.1  # Hz, s of a motion that repeats smoothly, s
HOUR = 3600.0  # s
MASS, CENTRE = 0.5, (0.25, 0.01, -0.02)  # kg, m
STRIBECK, SLOW = 0.04, 0.1  # N m that friction is more below so many rad/s
WARMS, SOON = 0.05, 1200.0  # N m s/rad by which damping falls, within so many s
EXPERIMENT = f"""
model: arm.xml
sequences: [bag]
signals: [{{effort: a, topic: /joint_states, field: "effort[a]"}}]
parameters: [{{joint: "*", damping: , frictionloss: }}]
payload: {{body: {BODIES[-1]}}}
fit: {{method: inverse_dynamics}}
"""


def _held(duration: float, seed: int) -> Iterator[tuple[float, HorizonEstimate]]:
    """Estimates by their instant."""
    spec, rng = true_spec(), np.random.default_rng(seed)
    heavy = spec.copy()
    body = heavy.body(BODIES[-1]).add_body(name="load")
    body.explicitinertial, body.mass, body.ipos = True, MASS, np.array(CENTRE)
    body.inertia = np.full(3, 1e-3)
    times, motion, torque = moved(heavy.compile(), PASS, RATE, seed=seed)
    slow = np.tanh(motion.qvel / 0.01) * np.exp(-((motion.qvel / SLOW) ** 2))
    torque = torque - OFFSETS + STRIBECK * slow
    whole = torque_sequences(with_payload(spec, BODIES[-1]), times, motion.qpos, torque)
    params = build_parameters(parse_experiment(EXPERIMENT), whole.spec)
    horizon = TorqueHorizon(params, FitSettings(method="inverse_dynamics"), HorizonSettings())
    count = round(duration * RATE)
    positions = 1e-5 * rng.standard_normal((count, 3))
    noise = coloured(rng, (count, 3), RATE, 0.05, 0.02)
    for now in np.arange(EVERY, duration, EVERY):
        first = 0.0 if np.isnan(horizon.needed_from) else max(horizon.needed_from, 0.0)
        numbers = np.arange(np.ceil(first * RATE), np.floor(now * RATE)).astype(np.intp)
        at = numbers % len(times)
        warm = 1.0 - np.exp(-numbers[:, None] / RATE / SOON)
        part, measured = copy.copy(whole), torque[at] - WARMS * warm * motion.qvel[at]
        for kind, data in (
            ("control", measured + noise[numbers]),
            ("sensordata", motion.qpos[at] + positions[numbers]),
        ):
            (series,) = getattr(whole, kind)
            setattr(part, kind, [TimeSeries(numbers / RATE, data, series.signal_mapping)])
        made = horizon.update(part, float(now))
        if made is not None:
            yield float(now), made


def _assert_none_is_reported(duration: float, seed: int) -> None:
    made = None
    for now, made in _held(duration, seed):
        assert made.changed is None, (now, made.changed)
        assert not made.unexplained, (now, made.unexplained)
    assert made is not None
    (mass,) = (one for one in made.parameters if one.name == "payload_mass")
    assert mass.value == pytest.approx(MASS, rel=0.05)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1])
def test_no_change_of_load_is_reported_in_an_hour(seed: int) -> None:
    _assert_none_is_reported(HOUR, seed)
