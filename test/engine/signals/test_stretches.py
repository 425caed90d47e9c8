# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Starts of windows are read off measurements, never across a gap of them."""

from __future__ import annotations

import math

import mujoco
import numpy as np
import pytest

from sysid_ros import sysid
from sysid_ros.engine.signals.splines import Line
from sysid_ros.engine.signals.stretches import known_from, piecewise, stretches
from sysid_ros.engine.windows.model_group import model_group
from sysid_ros.engine.windows.starts import StartReader

TIMES = np.concatenate([np.arange(0.0, 1.0, 0.01), np.arange(3.0, 4.0, 0.01)])
CUTOFF = 30.0


def test_long_intervals_cut_and_short_ones_do_not() -> None:
    assert stretches(TIMES, CUTOFF) == [slice(0, 100), slice(100, 200)]
    dropped = np.delete(TIMES[:100], [50, 51, 52])
    assert stretches(dropped, CUTOFF) == [slice(0, 97)], "0.04 s: less than five intervals"
    assert len(stretches(np.delete(TIMES[:100], range(50, 57)), CUTOFF)) == 2
    assert len(stretches(np.delete(TIMES[:100], range(50, 57)), 3.0)) == 1, "a slow filter"
    single = np.append(TIMES[:100], [2.0, 5.0])
    assert stretches(single, CUTOFF) == [slice(0, 100)], "too short to start from"


def test_neither_side_of_a_gap_shows_on_the_other() -> None:
    values = np.where(TIMES < 2.0, 1.0, 5.0 + TIMES)
    function = piecewise(TIMES, values, CUTOFF, Line)
    np.testing.assert_allclose(function(np.array([0.995, 1.2, 2.95, 3.5])), [1, 1, 7.95, 8.5])
    assert float(function(2.9)) == pytest.approx(7.9), "the nearer stretch, extended"


def test_the_next_instant_at_which_everything_is_known() -> None:
    first = piecewise(TIMES, TIMES, CUTOFF, Line)
    second = piecewise(TIMES + 0.5, TIMES, CUTOFF, Line)
    assert known_from([first], 0.3) == 0.3
    assert known_from([first], 1.2) == 3.0
    assert known_from([first, second], 0.0) == 0.5
    assert known_from([first, second], 1.2) == 3.5
    assert known_from([first, second], 4.2) == math.inf
    assert known_from([], 7.0) == 7.0


PENDULUM = """<mujoco><worldbody><body><joint name="hinge" axis="0 1 0"/>
<geom size=".05" pos="0 0 -.5"/></body></worldbody>
<sensor><jointpos name="angle" joint="hinge"/></sensor></mujoco>"""


@pytest.fixture
def interrupted() -> sysid.TimeSeries:
    """A pendulum at 100 Hz whose encoder was silent from 1 to 3 s, and had moved meanwhile."""
    values = np.where(TIMES < 2.0, np.sin(3 * TIMES), 2.0 + np.cos(3 * TIMES))
    return sysid.TimeSeries(
        TIMES, values[:, None], {"angle": (sysid.SignalType.MjSensor, np.array([0]))}
    )


def test_a_start_beside_a_gap_has_its_own_side_s_velocity(interrupted) -> None:
    model = mujoco.MjModel.from_xml_string(PENDULUM)
    reader = StartReader(model, interrupted, np.zeros(3), velocity_filter=CUTOFF)
    _, angle, rate = reader.state(3.0, 0.0, {})
    assert angle == pytest.approx(2.0 + np.cos(9.0), abs=1e-9)
    assert rate == pytest.approx(-3 * np.sin(9.0), abs=0.1)
    _, angle, rate = reader.state(0.99, 0.0, {})
    assert rate == pytest.approx(3 * np.cos(2.97), abs=0.1)


def test_windows_start_where_measurements_go_on(interrupted) -> None:
    spec = mujoco.MjSpec.from_string(PENDULUM)
    control = sysid.TimeSeries(np.array([0.0, 4.0]), np.zeros((2, 0)), {}, ())
    sequences = sysid.ModelSequences("p", spec, "run", np.zeros(3), control, interrupted)
    group = model_group(
        sequences, sysid.ParameterDict(), window_length=0.7, estimate_starts=False,
        velocity_filter=CUTOFF,
    )  # fmt: skip
    starts = [window.window.start for window in group.windows]
    assert starts == pytest.approx([0.0, 0.7, 3.0, 3.5])
    assert [window.n_samples for window in group.windows] == [69, 29, 49, 49], (
        "without those of the start"
    )
