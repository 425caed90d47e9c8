# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The beginning of a recording in which the commands that act are not known is left out."""

from __future__ import annotations

import importlib
import math
from dataclasses import replace

import mujoco
import mujoco.rollout
import numpy as np
import pendulum
import pytest

from sysid_ros.engine.estimation.fit import fit
from sysid_ros.engine.estimation.fit_settings import FitSettings
from sysid_ros.engine.parameters.modifiers import SignalModifier
from sysid_ros.engine.parameters.parameter import Parameter
from sysid_ros.engine.parameters.parameter_dict import ParameterDict
from sysid_ros.engine.signals.initial_state import create_initial_state
from sysid_ros.engine.signals.mappings import SignalType
from sysid_ros.engine.signals.timeseries import TimeSeries
from sysid_ros.engine.signals.trajectory import ModelSequences
from sysid_ros.engine.windows.model_group import WindowGroup, model_group, told_from

LATE = 0.08  # s
NOISE = 1e-4  # rad


def late_pendulum(begin: float, still: float = 0.0) -> ModelSequences:
    """A pendulum driven late, recorded from an instant on; it is told nothing at first."""
    times = pendulum.TIMESTEP * np.arange(round(8.0 / pendulum.TIMESTEP))

    def told(at: np.ndarray) -> np.ndarray:
        return np.where(at < still, 0.0, pendulum.torque(at) - pendulum.torque(np.array([still])))

    model = pendulum.spec(pendulum.TRUTH).compile()
    start = create_initial_state(model, np.zeros(1), np.zeros(1))
    _, angles = mujoco.rollout.rollout(
        model, mujoco.MjData(model), start[None], told(times - LATE)[None, :, None]
    )
    noisy = angles[0] + NOISE * np.random.default_rng(2).normal(size=angles[0].shape)
    kept = times >= begin
    command, sensor = (SignalType.MjCtrl, np.array([0])), (SignalType.MjSensor, np.array([0]))
    return pendulum.sequences(
        TimeSeries(times[kept], told(times)[kept, None], {"motor": command}),
        TimeSeries(times[kept], noisy[kept], {"angle": sensor}),
    )


def delay(most: float = 0.1) -> Parameter:
    return Parameter("delay", 0.02, 0.0, most, modifier=SignalModifier("motor", "delay"))


def test_what_was_recorded_in_motion_is_fitted_to_its_noise() -> None:
    params = pendulum.parameters()
    params.add(delay())
    result = fit([late_pendulum(4.0)], params, FitSettings())
    assert result["delay"].value == pytest.approx(LATE, abs=2e-4)
    assert result.noise["angle"] == pytest.approx(NOISE, rel=0.05)


def test_only_the_beginning_of_motion_is_left_out() -> None:
    params = pendulum.parameters()
    params.add(delay())
    assert first_told(late_pendulum(3.0), params) == pytest.approx(3.1)
    assert first_told(late_pendulum(0.0, still=0.5), params) == -math.inf
    assert first_told(late_pendulum(3.0), pendulum.parameters()) == -math.inf


def test_a_robot_that_begins_to_move_was_told_the_same_before() -> None:
    params = pendulum.parameters()
    params.add(delay())
    assert first_told(late_pendulum(0.0), params) == -math.inf


def first_told(recorded: ModelSequences, params: ParameterDict) -> float:
    model = recorded.spec.compile()
    return told_from(recorded.control[0], recorded.sensordata[0], model, params)


@pytest.mark.parametrize(
    ("most", "robot", "begin"), [(0.1, None, 3.1), (10.0, None, 3.5), (0.1, "another", 3.0)]
)
def test_half_of_the_first_window_is_left_at_least(
    most: float, robot: str | None, begin: float
) -> None:
    params = ParameterDict({"delay": delay(most)})
    params["delay"].robot = robot
    group = model_group(
        late_pendulum(3.0), params, window_length=1.0, estimate_starts=True, velocity_filter=30.0,
    )  # fmt: skip
    starts = [one.window.start for one in group.windows]
    assert starts[:2] == pytest.approx([begin, 4.0], abs=pendulum.TIMESTEP)


@pytest.mark.parametrize(("lost", "begin"), [(True, 5.1), (False, 5.0)])
def test_what_acts_after_a_gap_in_commands_was_told_in_it(lost: bool, begin: float) -> None:
    """Commands that go on while something else does not count tell what acts behind it."""
    whole, params = late_pendulum(0.0), pendulum.parameters()
    params.add(delay())
    control, measured = whole.control[0], whole.sensordata[0]
    again = float(control.times[np.searchsorted(control.times, 5.0 - 1e-9)])
    kept = (control.times <= 4.0) | (control.times >= again) | (not lost)
    control = replace(control, times=control.times[kept], data=control.data[kept])
    recorded = pendulum.sequences(control, measured).replaced(gaps=[((4.0, again),)])
    group = model_group(
        recorded, params, window_length=1.0, estimate_starts=True, velocity_filter=30.0
    )
    starts = [one.window.start for one in group.windows]
    assert starts[4:6] == pytest.approx([begin, 6.0], abs=pendulum.TIMESTEP)


def test_windows_at_another_time_step_are_those_that_are_cut_anew() -> None:
    params = pendulum.parameters()
    params.add(delay())
    recorded = late_pendulum(3.0)

    def cut(sequences: ModelSequences) -> WindowGroup:
        return model_group(
            sequences, params, window_length=1.0, estimate_starts=True, velocity_filter=30.0
        )

    fine = recorded.with_finer_step(3)
    (found,), (anew,) = cut(recorded).with_sequences(fine, params).batches, cut(fine).batches
    candidate = cut(fine).builder.build(params.as_vector())
    deviations = np.zeros((len(anew.windows), anew.n_start))
    assert found.steps.tolist() == anew.steps.tolist()
    assert np.array_equal(found.starts(candidate, deviations), anew.starts(candidate, deviations))
    assert np.array_equal(found.controls(candidate), anew.controls(candidate))
    readings = np.random.default_rng(0).normal(size=(int(anew.steps.sum()), 1))
    assert np.array_equal(found.residual(candidate, readings), anew.residual(candidate, readings))


def test_joints_are_read_off_a_recording_once_also_beside_an_orientation(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    spec = mujoco.MjSpec.from_string(
        """<mujoco><worldbody><body name="base"><freejoint/><geom size="0.1"/><body name="arm">
        <joint name="swing"/><geom size="0.1"/></body></body></worldbody><sensor>
        <jointpos name="angle" joint="swing"/>
        <framepos name="place" objtype="xbody" objname="base"/><framequat name="turn"
        objtype="xbody" objname="base"/></sensor></mujoco>"""
    )
    model, times = spec.compile(), 0.01 * np.arange(200)
    rest = np.tile([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0], (200, 1))
    measured = np.column_stack([np.sin(times), rest])
    recorded = ModelSequences(
        "robot", spec, "recording", create_initial_state(model, model.qpos0, np.zeros(model.nv)),
        TimeSeries(times, np.zeros((200, 0)), {}),
        TimeSeries.from_names(times, measured, model, ["angle", "place", "turn"]),
    )  # fmt: skip
    module = importlib.import_module("sysid_ros.engine.windows.measured_joints")
    read, right = [], module._read_off

    def counted(sensor: str, *arguments: object) -> object:
        read.append(sensor)
        return right(sensor, *arguments)

    monkeypatch.setattr(module, "_read_off", counted)
    for length in (0.5, 1.0):
        group = model_group(
            recorded, ParameterDict(), window_length=length, estimate_starts=True,
            velocity_filter=30.0,
        )  # fmt: skip
        assert len(group.windows) == round(2.0 / length)
        del group
    assert read == ["angle"]
