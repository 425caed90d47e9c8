# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Motion, and what is only noise."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest
import scipy.signal

from sysid_ros.diagnosis.evidence.filtered import (
    Filtered,
    _low_passed,
    _Stretch,
    filtered,
    motion_bandwidth,
)
from sysid_ros.diagnosis.evidence.recorded import Recorded, Samples

RATE = 200.0  # Hz


def encoder(reach: float) -> np.ndarray:
    """A joint that turns once a second by some radians, read with noise in steps of 1e-4."""
    times = np.arange(0.0, 4.0, 1.0 / RATE)
    noise = 5e-5 * np.random.default_rng(0).standard_normal(len(times))
    return 1e-4 * np.round((reach * np.sin(2.0 * np.pi * times) + noise) / 1e-4 + 0.2)


def test_noise_is_no_motion() -> None:
    assert motion_bandwidth(encoder(0.0), RATE) is None


def test_small_motion_is_told_from_noise() -> None:
    assert motion_bandwidth(encoder(1e-3), RATE) == pytest.approx(1.0, abs=0.3)


def test_a_low_pass_of_first_order_is_that_of_its_time_constant() -> None:
    """At eight instants per period: what lies between them counts, too."""
    step, constant = 0.05, 0.1
    times = np.arange(0.0, 8.0, step)
    speed = 2.0 * np.pi / (8.0 * step)
    stretch = _Stretch(
        step,
        {"command": np.sin(speed * times), "other": times},
        {"command": speed * np.cos(speed * times), "other": np.ones_like(times)},
        {"command": -(speed**2) * np.sin(speed * times), "other": np.zeros_like(times)},
        np.arange(40, 160),
    )
    own = Filtered({}, {}, {}, np.zeros(120, dtype=np.intp), 1.0, [stretch])
    passed = own.low_passed({"command": constant})
    late, less = np.arctan(speed * constant), 1.0 / np.hypot(1.0, speed * constant)
    wanted = less * np.sin(speed * times[40:] - late)
    np.testing.assert_allclose(passed.value["command"], wanted, atol=0.06 * less)
    np.testing.assert_allclose(
        passed.rate["command"], less * speed * np.cos(speed * times[40:] - late), atol=0.06 * speed
    )
    np.testing.assert_array_equal(passed.value["other"], times[40:])


def test_a_low_pass_begins_at_rest_and_does_what_scipy_does() -> None:
    values, kept = 1.0 + np.random.default_rng(1).standard_normal(50), np.exp(-0.3)
    least = (1.0 - kept) / 0.3
    law = [1.0 - least, least - kept], [1.0, -kept]
    rest = scipy.signal.lfilter_zi(*law) * values[0]
    wanted = scipy.signal.lfilter(*law, values, zi=rest)[0]
    np.testing.assert_allclose(_low_passed(values, 0.3), wanted, rtol=1e-12)
    assert _low_passed(values, 0.3)[0] == values[0]


def test_instants_of_several_topics_next_to_each_other_make_no_finer_grid() -> None:
    """Where three controllers are told within 0.1 ms, the grid was 200 times as fine."""
    model = mujoco.MjModel.from_xml_string(
        """<mujoco><worldbody><body><joint name="hinge"/><geom size=".1"/></body></worldbody>
        <actuator><position name="servo" joint="hinge"/></actuator></mujoco>"""
    )
    states, told = np.arange(0.0, 20.0, 0.01), np.arange(0.0, 20.0, 0.02)
    alone = Samples(told, np.sin(told), "zoh")
    together = np.concatenate([told, told + 5e-5, told + 1e-4])
    together = Samples(np.sort(together), np.repeat(alone.values, 3), "zoh")
    grids = []
    for commands in (alone, together):
        signals = {"hinge_qpos": Samples(states, np.sin(states)), "servo": commands}
        recorded = Recorded(model, (signals,), ({},), {0: "hinge_qpos"}, {}, {}, {0: "servo"})
        found = filtered(recorded, ["hinge_qpos", "servo"])
        assert found is not None
        grids.append(len(found.stretches[0].value["servo"]))
    assert grids[1] <= 2 * grids[0]
