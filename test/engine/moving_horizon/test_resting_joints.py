# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A joint that rests while filters are chosen is estimated once it moves."""

from __future__ import annotations

import copy
import math
from types import SimpleNamespace

import numpy as np
from torque_arm import JOINTS, moved, noisy, torque_sequences, true_spec

from sysid_ros.engine.estimation import FitSettings
from sysid_ros.engine.inverse_dynamics import Motion, mujoco_torque
from sysid_ros.engine.moving_horizon import HorizonEstimate, HorizonSettings, TorqueHorizon
from sysid_ros.engine.moving_horizon.growing_torque import GrowingTorque
from sysid_ros.engine.signals import ModelSequences, TimeSeries
from sysid_ros.experiment import parse_experiment
from sysid_ros.robots import build_parameters

RATE, BEGUN, END, EVERY = 125.0, 4.0, 8.0, 0.25  # Hz, s
EXPERIMENT = """
model: arm.xml
sequences: [bag]
signals: [{effort: a, topic: /joint_states, field: "effort[a]"}]
fit: {method: inverse_dynamics}
parameters: [{joint: "*", damping: {initial: 0.1, min: 0, max: 5}}]
"""
LATE = len(JOINTS) - 1


def _recorded(end: float = END, begun: float = BEGUN, place: float = 0.0) -> ModelSequences:
    """What was measured of an arm whose last joint begins to move after the others."""
    model = true_spec().compile()
    times, motion, _ = moved(model, end, RATE)
    later = np.clip(times - begun, 0.0, None)
    moves = np.where(later > 0.0, 1.0, 0.0)
    parts = [np.array(part) for part in motion]
    parts[0][:, LATE] = place + 0.5 * (1.0 - np.cos(3.0 * later))
    parts[1][:, LATE] = 1.5 * np.sin(3.0 * later)
    parts[2][:, LATE] = 4.5 * np.cos(3.0 * later) * moves
    torque = mujoco_torque(model, Motion(*parts))
    return torque_sequences(true_spec(), times, *noisy(parts[0], torque, RATE))


def _horizon() -> TorqueHorizon:
    params = build_parameters(parse_experiment(EXPERIMENT), true_spec())
    return TorqueHorizon(params, FitSettings(method="inverse_dynamics"), HorizonSettings())


def _followed(
    whole: ModelSequences, horizon: TorqueHorizon, end: float = END
) -> dict[float, HorizonEstimate]:
    found = {}
    for now in np.arange(EVERY, end, EVERY):
        first = horizon.needed_from
        part = copy.copy(whole)
        for kind in ("control", "sensordata"):
            (series,) = getattr(whole, kind)
            chosen = (series.times >= (0.0 if np.isnan(first) else first)) & (series.times <= now)
            data = series.times[chosen], series.data[chosen]
            setattr(part, kind, [TimeSeries(*data, series.signal_mapping)])
        made = horizon.update(part, float(now))
        if made is not None:
            found[float(now)] = made
    return found


def test_a_joint_that_rests_at_first_is_estimated_from_when_it_moves() -> None:
    found = _followed(_recorded(), _horizon())
    truth = {j.name: float(np.ravel(j.damping)[0]) for j in true_spec().joints}
    for now, made in found.items():
        late = {p.name: p for p in made.parameters}[f"{JOINTS[LATE]}_damping"]
        if now < BEGUN:
            assert late.value == 0.1 and late.interval() is None
    for one in found[max(found)].parameters:
        if one.name.endswith("_damping"):
            interval = one.interval()
            assert interval is not None
            true = truth[one.name.removesuffix("_damping")]
            assert abs(one.value - true) < 0.05 * true
            assert interval[1] - interval[0] < 0.1 * true
    assert all(made.changed is None for made in found.values())  # it is no load
    assert not any(made.unexplained for now, made in found.items() if now > BEGUN + 1.0)


def test_a_joint_that_was_put_elsewhere_between_recordings_rests() -> None:
    horizon, end = _horizon(), 3.5
    _followed(_recorded(end, math.inf), horizon, end)
    horizon.begin_anew()
    found = _followed(_recorded(end, math.inf, place=0.5), horizon, end)
    late = {p.name: p for p in found[max(found)].parameters}[f"{JOINTS[LATE]}_damping"]
    assert late.value == 0.1 and late.interval() is None


def test_on_another_time_axis_rows_are_soon_compared_again() -> None:
    """Until then no change of load is seen."""
    regular = SimpleNamespace(done=99.0)
    rows = GrowingTorque(regular, None, None, None, strange=100.0)  # type: ignore[arg-type]
    rows.begin_anew()
    assert rows.strange == 1.0 and math.isnan(regular.done)
    rows.begin_anew()  # again, before there are rows
    assert rows.strange == 1.0
