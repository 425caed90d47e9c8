# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Torques that act at another time than they are stamped: intervals know, the report says so."""

from __future__ import annotations

import re
from dataclasses import replace

import mujoco
import numpy as np
import pendulum
import pytest
from scipy.signal import lfilter

from sysid_ros.engine.estimation import FitResult, FitSettings, fit, model_error_sentences
from sysid_ros.engine.estimation.shifts import LATE_INPUTS
from sysid_ros.engine.parameters import Parameter, SignalModifier, moves_with
from sysid_ros.engine.signals import ModelSequences, TimeSeries
from sysid_ros.engine.signals.initial_state import create_initial_state
from sysid_ros.engine.signals.mappings import SignalType

SETTINGS = FitSettings(window_length=1.0, threads=1)


def fitted(late: float, *, freed: bool = False) -> FitResult:
    """A fit whose torques act ``late`` s behind their stamps."""
    control, measured = pendulum.recording(noise=2e-4, duration=16.0)
    early: TimeSeries = replace(control, times=control.times - late)
    params = pendulum.parameters()
    if freed:
        modifier = SignalModifier("motor", "delay")
        params.add(Parameter("delay", 0.0, -0.02, 0.02, modifier=modifier))
    return fit([pendulum.sequences(early, measured)], params, SETTINGS)


def told(result: FitResult) -> list[str]:
    assert result.model_error is not None
    said = model_error_sentences(result.parameters, result.model_error)
    return [one for one in said if LATE_INPUTS in one]


def missed(result: FitResult, late: float) -> list[str]:
    true = pendulum.TRUTH | {"delay": late}
    found = []
    for one in result.parameters:
        interval = one.interval()
        assert interval is not None
        if not interval[0] <= true[one.name] <= interval[1]:
            found.append(one.name)
    return found


@pytest.mark.parametrize(("late", "way"), [(0.004, "later"), (-0.004, "earlier")])
def test_intervals_hold_of_torques_that_are_late_or_early(late: float, way: str) -> None:
    result = fitted(late)
    assert not missed(result, late)
    assert any(moves_with(LATE_INPUTS) in one.flags for one in result.parameters)
    [said] = told(result)
    found = re.search(rf"act ([\d.]+) ms {way}", said)
    assert found is not None
    assert float(found[1]) == pytest.approx(4.0, rel=0.15)


@pytest.mark.parametrize(("late", "freed"), [(0.0, False), (0.004, True)])
def test_nothing_is_said_of_torques_in_time_or_whose_delay_is_free(
    late: float, freed: bool
) -> None:
    result = fitted(late, freed=freed)
    assert not told(result)
    assert not missed(result, late)


def test_velocities_that_a_driver_filters_are_not_taken_for_late_inputs() -> None:
    """They lag by 8 ms, and what drives the pendulum is in time."""
    control, exact = pendulum.recording(duration=16.0)
    angle, step = exact.data[:, 0], pendulum.TIMESTEP
    share = step / (0.008 + step)
    rate = lfilter([share], [1.0, share - 1.0], np.gradient(angle, step))
    noise = np.random.default_rng(0).normal(size=(len(angle), 2)) * [2e-4, 5e-3]
    mapping = {
        name: (SignalType.MjSensor, np.array([k])) for k, name in enumerate(("angle", "rate"))
    }
    measured = TimeSeries(exact.times, np.column_stack([angle, rate]) + noise, mapping)
    spec = pendulum.spec()
    joint = {"objtype": mujoco.mjtObj.mjOBJ_JOINT, "objname": "hinge"}
    spec.add_sensor(name="rate", type=mujoco.mjtSensor.mjSENS_JOINTVEL, **joint)
    rest = create_initial_state(spec.compile(), np.zeros(1), np.zeros(1))
    one = ModelSequences("pendulum", spec, "recording", rest, control, measured)
    params = pendulum.parameters()
    result = fit([one], params, SETTINGS)
    assert not missed(result, 0.0)
    [said] = told(result)
    found = re.search(r"rate seems to lag all else, .*, by ([\d.]+) ms", said)
    assert found is not None
    assert float(found[1]) == pytest.approx(8.0, rel=0.2)
    modifier = SignalModifier("rate", "delay")
    params.add(Parameter("delay", 0.0, -0.02, 0.02, modifier=modifier))
    remedied = fit([one], params, SETTINGS)
    assert not told(remedied)
    assert remedied.parameters[-1].value == pytest.approx(0.008, rel=0.02)


def test_a_signal_that_never_moves_does_not_hide_late_inputs() -> None:
    """Its rates are zero, as those of a touch sensor in the air."""
    control, exact = pendulum.recording(noise=2e-4, duration=16.0)
    still = 1e-3 * np.random.default_rng(0).normal(size=len(exact.times))
    mapping = {
        name: (SignalType.MjSensor, np.array([k])) for k, name in enumerate(("angle", "still"))
    }
    measured = TimeSeries(exact.times, np.column_stack([exact.data[:, 0], still]), mapping)
    spec = pendulum.spec()
    spec.worldbody.add_site(name="pad")
    site = {"objtype": mujoco.mjtObj.mjOBJ_SITE, "objname": "pad"}
    spec.add_sensor(name="still", type=mujoco.mjtSensor.mjSENS_TOUCH, **site)
    rest = create_initial_state(spec.compile(), np.zeros(1), np.zeros(1))
    early: TimeSeries = replace(control, times=control.times - 0.004)
    one = ModelSequences("pendulum", spec, "recording", rest, early, measured)
    result = fit([one], pendulum.parameters(), SETTINGS)
    assert len(told(result)) == 1
    assert not missed(result, 0.004)
