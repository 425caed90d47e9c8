# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Mapped recordings as time series and as files."""

from __future__ import annotations

import csv
from dataclasses import replace

import numpy as np
import pytest

from sysid_ros.engine.signals import value_at
from sysid_ros.engine.signals.mappings import SignalType
from sysid_ros.errors import OutputError
from sysid_ros.recording.mapping import (
    MappedRecording,
    MappedSignal,
    control_time_series,
    export,
    measured_time_series,
)
from sysid_ros.recording.mapping.mapping_settings import SignalKind


def signal(kind, name, times, values, *, held=False) -> MappedSignal:
    return MappedSignal(kind, name, np.array(times), np.array(values), held, None)


@pytest.fixture
def mapped() -> MappedRecording:
    return MappedRecording(
        name="run",
        start_ns=1_700_000_000_123_456_789,
        end=1.0,
        controls=(
            signal(SignalKind.ACTUATOR, "servo", [0.2, 0.6], [1.0, 3.0], held=True),
            signal(SignalKind.ACTUATOR, "motor", [0.0, 0.4, 1.0], [0.0, 4.0, 10.0]),
        ),
        measured=(
            signal(SignalKind.SENSOR, "servo", [0.0, 0.5, 1.0], [5.0, 6.0, 7.0]),
            signal(SignalKind.QPOS, "elbow", [0.1, 0.5], [8.0, 9.0]),
            signal(SignalKind.QVEL, "elbow", [0.5, 0.9], [1.5, 2.5]),
        ),
    )


def test_controls_are_complete_and_exact(mapped) -> None:
    series = control_time_series(mapped)
    assert series.times.tolist() == [0.0, 0.2, 0.4, 0.6, 1.0]
    assert series.data[:, 0].tolist() == [1.0, 1.0, 1.0, 3.0, 3.0]
    np.testing.assert_allclose(series.data[:, 1], [0.0, 2.0, 4.0, 6.0, 10.0])
    assert series.interpolation == ("zoh", "linear")
    assert series.signal_mapping["servo"] == (SignalType.MjCtrl, [0])


def test_measurements_are_nan_where_there_are_none(mapped) -> None:
    series = measured_time_series(mapped)
    assert series.times.tolist() == [0.0, 0.1, 0.5, 0.9, 1.0]
    nan = np.nan
    np.testing.assert_array_equal(series.data[:, 0], [5.0, nan, 6.0, nan, 7.0])
    np.testing.assert_array_equal(series.data[:, 1], [nan, 8.0, 9.0, nan, nan])
    np.testing.assert_array_equal(series.data[:, 2], [nan, nan, 1.5, 2.5, nan])
    assert list(series.signal_mapping) == ["servo", "elbow_qpos", "elbow_qvel"]
    kinds = [kind for kind, _ in series.signal_mapping.values()]
    assert kinds == [SignalType.MjSensor, SignalType.MjStateQPos, SignalType.MjStateQVel]


def test_recordings_without_controls(mapped) -> None:
    from dataclasses import replace

    series = control_time_series(replace(mapped, controls=()))
    assert series.data.shape == (2, 0)
    assert series.times.tolist() == [0.0, 1.0]


def test_export_as_arrays(mapped, tmp_path) -> None:
    path = tmp_path / "run.npz"
    export(mapped, path)
    with np.load(path, allow_pickle=False) as arrays:
        assert arrays["start_ns"] == 1_700_000_000_123_456_789
        np.testing.assert_array_equal(arrays["measured_data"], measured_time_series(mapped).data)
        np.testing.assert_array_equal(arrays["controls_times"], control_time_series(mapped).times)


def test_export_as_a_table(mapped, tmp_path) -> None:
    path = tmp_path / "run.csv"
    export(mapped, path)
    with path.open() as stream:
        rows = list(csv.DictReader(line for line in stream if not line.startswith("#")))
    assert list(rows[0]) == [
        "time",
        "servo_ctrl",
        "motor_ctrl",
        "servo",
        "elbow_qpos",
        "elbow_qvel",
    ]
    at = {float(row["time"]): row for row in rows}
    assert (at[0.5]["servo_ctrl"], at[0.5]["servo"]) == ("1.0", "6.0")
    assert at[0.6]["servo"] == "nan"


def test_export_refuses_other_formats(mapped, tmp_path) -> None:
    with pytest.raises(OutputError, match=r"run\.mat: its name must end in \.npz or \.csv"):
        export(mapped, tmp_path / "run.mat")
    with pytest.raises(OutputError):
        export(mapped, tmp_path / "nowhere" / "run.npz")
    assert list(tmp_path.iterdir()) == []


def test_a_spline_stays_itself_between_the_instants_of_other_topics() -> None:
    times = [0.1 * k for k in range(12)]
    sine = np.sin(5.0 * np.array(times))
    smooth = replace(signal(SignalKind.ACTUATOR, "servo", times, sine), smooth=True)
    lamp = signal(SignalKind.ACTUATOR, "lamp", [0.0, 0.31, 1.1], [0.0, 1.0, 3.0], held=True)
    alone, both = (
        control_time_series(MappedRecording("r", 0, 1.1, controls, ()))
        for controls in ((smooth,), (smooth, lamp))
    )
    fine = np.linspace(0.0, 1.1, 400)
    assert both.interpolation == ("cubic", "zoh")
    course = both.interpolate(fine)[:, 0]
    np.testing.assert_allclose(course, alone.interpolate(fine)[:, 0], atol=1e-12)
    assert np.abs(course - np.sin(5.0 * fine)).max() < 0.005
    assert np.abs(course - np.interp(fine, times, sine)).max() > 0.02


@pytest.mark.parametrize("others", [(), (0.5, 0.9, 1.05, 1.3)])
def test_a_spline_keeps_its_last_sample_where_a_recording_goes_on(
    others: tuple[float, ...],
) -> None:
    """It is cut in motion: at the recording's end there is a sample that nobody sent."""
    times = [0.02 * k for k in range(51)]
    sine = np.sin(2.0 * np.array(times))
    smooth = replace(signal(SignalKind.ACTUATOR, "servo", times, sine), smooth=True)
    lamp = signal(SignalKind.ACTUATOR, "lamp", others, others, held=True)
    controls = (smooth, lamp) if others else (smooth,)
    series = control_time_series(MappedRecording("r", 0, 1.5, controls, ()))
    fine = np.linspace(0.0, 1.5, 400)
    course = value_at(series.times, series.data[:, 0], fine, series.method_of(0))
    np.testing.assert_allclose(course, np.sin(2.0 * np.minimum(fine, 1.0)), atol=1e-6)
