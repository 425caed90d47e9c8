# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Time series: what they refuse, keep, resample, slice and write."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from sysid_ros.errors import SysidError
from sysid_ros.sysid import SignalType, TimeSeries

finite = st.floats(-1e6, 1e6)


@st.composite
def series(draw):
    n, d = draw(st.integers(1, 12)), draw(st.integers(1, 4))
    steps = draw(npst.arrays(np.float64, n, elements=st.floats(1e-3, 10.0)))
    data = draw(npst.arrays(np.float64, (n, d), elements=st.one_of(finite, st.just(float("nan")))))
    methods = draw(st.none() | st.tuples(*[st.sampled_from(["linear", "cubic", "zoh"])] * d))
    mapping = {f"signal {i}": (SignalType.CustomObs, np.array([i])) for i in range(d)}
    if d > 1 and draw(st.booleans()):
        mapping = {"all": (SignalType.MjSensor, np.arange(d))}
    return TimeSeries(
        np.cumsum(steps) + draw(st.sampled_from([0.0, 1.7e9])), data, mapping, methods
    )


def same(a: TimeSeries, b: TimeSeries) -> bool:
    return (
        np.array_equal(a.times, b.times)
        and np.array_equal(a.data, b.data, equal_nan=True)
        and a.interpolation == b.interpolation
        and list(a.signal_mapping or {}) == list(b.signal_mapping or {})
        and all(
            entry[0] is (b.signal_mapping or {})[name][0]
            and np.array_equal(entry[1], (b.signal_mapping or {})[name][1])
            for name, entry in (a.signal_mapping or {}).items()
        )
    )


@given(series())
def test_files_give_back_what_was_written(tmp_path_factory, original):
    folder = tmp_path_factory.mktemp("series")
    original.save_to_disk(folder / "series.npz")
    original.save_to_csv(folder / "series.csv")
    assert same(TimeSeries.load_from_disk(folder / "series.npz"), original)
    assert same(TimeSeries.load_from_csv(folder / "series.csv"), original)


@given(st.floats(1e-4, 10.0), st.floats(0.0, 100.0), st.sampled_from([0.0, 12.5]))
def test_resampling_has_exactly_the_interval_asked_for(interval, duration, start):
    times = start + np.array([0.0, duration / 2 + 1e-6, duration + 1e-3])
    resampled = TimeSeries(times, np.arange(3.0)).resample(target_dt=interval)
    steps = np.arange(len(resampled))
    np.testing.assert_array_equal(resampled.times, times[0] + interval * steps)
    assert resampled.times[-1] <= times[-1] + 1e-6 * interval
    assert resampled.times[-1] + interval > times[-1]


@given(series(), st.floats(0.0, 1.0))
def test_linear_and_held_values_stay_between_the_neighbours(original, fraction):
    if len(original) < 2:
        return
    at = original.times[0] + fraction * (original.times[-1] - original.times[0])
    k = int(np.clip(np.searchsorted(original.times, at, "right") - 1, 0, len(original) - 2))
    low = np.minimum(original.data[k], original.data[k + 1])
    high = np.maximum(original.data[k], original.data[k + 1])
    for method in ("linear", "zoh"):
        value = original.interpolate(at, method)[0]
        known = ~np.isnan(value) & ~np.isnan(low)
        slack = 1e-9 * np.maximum(1.0, np.abs(high))
        assert np.all((value >= low - slack)[known] & (value <= high + slack)[known])


@given(series())
def test_every_method_passes_through_the_samples(original):
    for method in ("linear", "zoh"):
        values = original.interpolate(original.times, method)
        np.testing.assert_array_equal(values, original.data)


def test_cubic_reproduces_a_cubic_and_masks_what_is_missing():
    times = np.linspace(0.0, 2.0, 21)
    data = np.column_stack([times**3, times**3])
    data[10, 1] = np.nan
    ts = TimeSeries(times, data, interpolation=("cubic", "cubic"))
    at = np.linspace(0.0, 2.0, 97)
    values = ts.interpolate(at)
    np.testing.assert_allclose(values[:, 0], at**3, atol=1e-12)
    missing = np.isnan(values[:, 1])
    assert np.all(missing == ((at > times[9]) & (at < times[11])))
    np.testing.assert_allclose(values[~missing, 1], at[~missing] ** 3, atol=1e-12)


def test_each_column_has_its_own_behaviour():
    ts = TimeSeries(
        np.array([0.0, 1.0, 2.0]),
        np.array([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]]),
        interpolation=("zoh", "linear"),
    )
    np.testing.assert_array_equal(ts.interpolate(1.5), [[1.0, 1.5]])
    np.testing.assert_array_equal(ts.interpolate([-1.0, 9.0]), [[0.0, 0.0], [2.0, 2.0]])
    np.testing.assert_array_equal(ts.resample(target_dt=0.5).data[:, 0], [0, 0, 1, 1, 2])
    assert ts.resample(target_dt=0.5).interpolation == ("zoh", "linear")


def test_missing_samples_are_not_bridged():
    ts = TimeSeries(np.arange(4.0), np.array([[0.0], [np.nan], [2.0], [3.0]]))
    np.testing.assert_array_equal(
        np.isnan(ts.interpolate([0.0, 0.5, 1.0, 1.5, 2.0, 2.5]))[:, 0],
        [False, True, True, True, False, False],
    )


def test_nobody_can_change_a_series():
    data = np.zeros((3, 1))
    ts = TimeSeries(np.arange(3.0), data)
    data[0] = 7.0
    assert ts.data[0] == 0.0
    with pytest.raises(ValueError, match="read-only"):
        ts.data[0] = 1.0
    with pytest.raises(AttributeError):
        ts.data = data


@pytest.mark.parametrize(
    ("times", "data", "message"),
    [
        ([], [], "Empty arrays"),
        ([[0.0], [1.0]], [0.0, 1.0], "1D"),
        ([0.0, 1.0], [0.0], "Length of times"),
        ([0.0, np.nan], [0.0, 1.0], "not a finite number"),
        ([0.0, 0.0], [0.0, 1.0], r"strictly increasing: times\[0\] = 0 s"),
    ],
)
def test_what_is_no_series_is_refused(times, data, message):
    with pytest.raises(SysidError, match=message):
        TimeSeries(np.array(times), np.array(data))


def test_mappings_and_methods_must_fit_the_columns():
    times, data = np.arange(2.0), np.zeros((2, 2))
    with pytest.raises(ValueError, match="column 2, the data has 2"):
        TimeSeries(times, data, {"a": (SignalType.MjSensor, np.array([2]))})
    with pytest.raises(ValueError, match="1 interpolation methods for 2 columns"):
        TimeSeries(times, data, interpolation=("zoh",))
    with pytest.raises(ValueError, match="unknown interpolation 'cubik'; nearest: 'cubic'"):
        TimeSeries(times, data, interpolation=("zoh", "cubik"))


def model() -> mujoco.MjModel:
    return mujoco.MjModel.from_xml_string(
        '<mujoco><worldbody><body name="box"><freejoint name="loose"/><geom size=".1"/><body>'
        '<joint name="hinge"/><geom size=".1"/><site name="s"/><body><joint name="ball" '
        'type="ball"/><geom size=".1"/></body></body></body></worldbody><actuator>'
        '<motor name="m" joint="hinge"/><position name="p" joint="hinge" timeconst="1"/></actuator>'
        '<sensor><gyro name="gyro" site="s"/><jointpos name="hinge" joint="hinge"/></sensor>'
        "</mujoco>"
    )


def test_names_find_sensors_states_and_controls():
    names = [
        "gyro",
        ("loose", SignalType.MjStateQPos),
        "ball_qvel",
        ("hinge", SignalType.MjStateQVel),
        "p",
    ]
    ts = TimeSeries.from_names(np.arange(2.0), np.zeros((2, 3 + 7 + 3 + 1 + 1)), model(), names)
    mapping = ts.signal_mapping
    assert list(mapping) == ["gyro", "box_qpos", "ball_qvel", "hinge_qvel", "p_act"]
    assert [len(columns) for _, columns in mapping.values()] == [3, 7, 3, 1, 1]
    np.testing.assert_array_equal(mapping["ball_qvel"][1], [10, 11, 12])
    controls = TimeSeries.from_control_names(np.arange(2.0), np.zeros((2, 2)), model(), ["p", "m"])
    assert list(controls.signal_mapping) == ["p_ctrl", "m_ctrl"]


def test_a_bare_name_means_the_sensor_first():
    ts = TimeSeries.from_names(np.arange(2.0), np.zeros((2, 1)), model(), ["hinge"])
    assert ts.signal_mapping["hinge"][0] is SignalType.MjSensor


def test_unknown_names_and_wrong_widths_are_refused():
    times = np.arange(2.0)
    with pytest.raises(ValueError, match=r"Could not resolve signal 'giro'.*nearest: 'gyro'"):
        TimeSeries.from_names(times, np.zeros((2, 3)), model(), ["giro"])
    with pytest.raises(ValueError, match=r"\(2\) do not match the named signals' width \(3\)"):
        TimeSeries.from_names(times, np.zeros((2, 2)), model(), ["gyro"])
    with pytest.raises(ValueError, match="named twice"):
        TimeSeries.from_names(times, np.zeros((2, 2)), model(), ["hinge", "hinge"])
    with pytest.raises(ValueError, match="2-dimensional"):
        TimeSeries.from_names(times, np.zeros(2), model(), ["hinge"])


def test_slices_renumber_their_columns_and_keep_their_order():
    ts = TimeSeries(
        np.arange(2.0),
        np.arange(8.0).reshape(2, 4),
        {"a": (SignalType.MjSensor, np.array([0, 1])), "b": (SignalType.MjCtrl, np.array([3]))},
        ("zoh", "zoh", "linear", "cubic"),
    )
    part = TimeSeries.slice_by_name(ts, ["b", "a"])
    np.testing.assert_array_equal(part.data[0], [3.0, 0.0, 1.0])
    assert part.interpolation == ("cubic", "zoh", "zoh")
    np.testing.assert_array_equal(part.signal_mapping["a"][1], [1, 2])
    with pytest.raises(ValueError, match="unknown signal 'c'; valid: 'a', 'b'"):
        TimeSeries.slice_by_name(ts, ["c"])


def test_slices_in_time_and_the_beginning():
    ts = TimeSeries(np.arange(5.0) + 100.0, np.arange(5.0))
    np.testing.assert_array_equal(ts.slice_by_time(101.0, 103.0).data, [1, 2, 3])
    with pytest.raises(ValueError, match="from 100 s to 104 s"):
        ts.slice_by_time(0.0, 1.0)
    rest = ts.remove_from_beginning(1.5)
    np.testing.assert_array_equal(rest.times, [0.0, 1.0, 2.0])
    np.testing.assert_array_equal(rest.data, [2, 3, 4])
    with pytest.raises(ValueError, match="greater than the duration"):
        ts.remove_from_beginning(9.0)


def test_statistics_of_the_intervals():
    stats = TimeSeries(np.array([0.0, 1.0, 3.0]), np.zeros(3)).dt_statistics()
    assert stats == {"mean": 1.5, "median": 1.5, "std": 0.5, "min": 1.0, "max": 2.0}
    with pytest.raises(ValueError, match="at least two"):
        TimeSeries(np.array([0.0]), np.zeros(1)).dt_statistics()


def test_unreadable_files_are_named(tmp_path):
    with pytest.raises(SysidError, match=r"absent\.npz"):
        TimeSeries.load_from_disk(tmp_path / "absent.npz")
    (tmp_path / "text.npz").write_text("no archive")
    with pytest.raises(SysidError, match=r"text\.npz"):
        TimeSeries.load_from_disk(tmp_path / "text.npz")
    np.savez(tmp_path / "pickled.npz", times=np.array([{"a": 1}], dtype=object))
    with pytest.raises(SysidError, match=r"pickled\.npz"):
        TimeSeries.load_from_disk(tmp_path / "pickled.npz")
    (tmp_path / "words.csv").write_text("time,a\n0.0,x\n")
    with pytest.raises(SysidError, match=r"words.csv is not a table of numbers"):
        TimeSeries.load_from_csv(tmp_path / "words.csv")
