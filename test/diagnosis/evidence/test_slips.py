# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Positions that jump are told from impacts, wild samples, repeats and whole turns."""

from __future__ import annotations

import math
from collections.abc import Callable

import mujoco
import numpy as np
import pytest

from sysid_ros.arrays import FloatArray
from sysid_ros.diagnosis.evidence import Recorded, Samples
from sysid_ros.diagnosis.evidence.slips import slip_findings

MODEL = """<mujoco><worldbody><body><joint name="elbow" axis="0 1 0"/><geom size=".1"/></body>
  </worldbody></mujoco>"""
SECOND = '<body><joint name="wrist" axis="0 1 0"/><geom size=".1"/></body>'
TIMES = 0.005 * np.arange(2000)


def recorded(
    change: Callable[[FloatArray], FloatArray], rate: FloatArray | None = None
) -> Recorded:
    """Some swings with an encoder's steps, changed; with a velocity if one is given."""
    noise = 5e-5 * np.random.default_rng(0).standard_normal(len(TIMES))
    swings = np.sin(3.0 * TIMES) + 0.3 * np.sin(11.0 * TIMES)
    values = 1e-4 * np.round((change(swings + noise)) / 1e-4)
    signals = {"q": Samples(TIMES, values)}
    if rate is not None:
        signals["v"] = Samples(TIMES, rate)
    model = mujoco.MjModel.from_xml_string(MODEL)
    rates = {} if rate is None else {0: "v"}
    return Recorded(model, (signals,), ({},), {0: "q"}, rates, {}, {})


def from_middle(values: FloatArray, size: float, until: int | None = None) -> FloatArray:
    """Values that are moved from the 1200th on, or from there to another."""
    changed = values.copy()
    changed[1200:until] += size
    return changed


@pytest.mark.parametrize("size", [0.06, -0.2])
@pytest.mark.parametrize("measured", [False, True])
def test_an_encoder_that_slips_is_told_with_time_and_size(size: float, measured: bool) -> None:
    rate = 3.0 * np.cos(3.0 * TIMES) + 3.3 * np.cos(11.0 * TIMES) if measured else None
    (found,) = slip_findings(recorded(lambda x: from_middle(x, size), rate))
    assert found.signals == ("q",)
    assert found.evidence["size"] == pytest.approx(size, abs=2e-3)
    assert found.evidence["time"] == pytest.approx(6.0)
    assert f"jumps by {found.evidence['size']:.3g} rad at 6.00 s," in found.sentence


@pytest.mark.parametrize(
    "change",
    [
        lambda x: x,
        lambda x: from_middle(x, 0.2, 1201),  # a wild sample
        lambda x: np.concatenate([x[:1200], x[1199:1200], x[1201:]]),  # one that is repeated
        lambda x: from_middle(x, 2.0 * math.pi),
        lambda x: np.abs(x),  # it runs into something and comes back
        lambda x: np.minimum(x, 0.5),
        lambda x: 0.05 * np.round(x / 0.05),  # a coarse encoder
    ],
)
def test_what_goes_as_fast_as_before_or_after_does_not_slip(
    change: Callable[[FloatArray], FloatArray],
) -> None:
    assert not slip_findings(recorded(change))


def test_a_velocity_that_goes_along_says_that_the_joint_was_as_fast() -> None:
    rate = 3.0 * np.cos(3.0 * TIMES)
    rate[1199:1201] = 0.06 / 0.005
    assert slip_findings(recorded(lambda x: from_middle(x, 0.06)))
    assert not slip_findings(recorded(lambda x: from_middle(x, 0.06), rate))


def test_joints_that_jump_together_are_those_of_a_simulation_that_begins_anew() -> None:
    one = recorded(lambda x: from_middle(x, 0.06))
    model = mujoco.MjModel.from_xml_string(MODEL.replace("</body>", f"{SECOND}</body>"))
    signals = {"q": one.recordings[0]["q"], "p": one.recordings[0]["q"]}
    assert not slip_findings(Recorded(model, (signals,), ({},), {0: "q", 1: "p"}, {}, {}, {}))


@pytest.mark.parametrize(("told", "slips"), [(6.0 - 0.02, 0), (4.0, 1), (None, 1)])
def test_a_joint_that_is_told_to_be_elsewhere_goes_there_in_a_sample(
    told: float | None, slips: int
) -> None:
    swings = recorded(lambda x: from_middle(x, 0.06)).recordings[0]["q"]
    text = MODEL.replace(
        "</mujoco>", '<actuator><position name="u" joint="elbow" gear="2"/></actuator></mujoco>'
    )
    commands: FloatArray = np.asarray(2.0 * np.sin(3.0 * TIMES))
    if told is not None:
        commands[told <= TIMES] += 2.0 * 0.06
    signals = {"q": swings, "u": Samples(TIMES[::2], commands[::2], "zoh")}
    model = mujoco.MjModel.from_xml_string(text)
    found = slip_findings(Recorded(model, (signals,), ({},), {0: "q"}, {}, {}, {0: "u"}))
    assert len(found) == slips


@pytest.mark.parametrize(("interval", "size", "slips"), [
    (0.02, 0.06, 0),  # 600 rad/s^2
    (0.02, 0.25, 1),  # 2500
    (0.005, 0.06, 1),
    (0.05, 0.25, 0),
])  # fmt: skip
def test_without_any_input_a_joint_may_have_moved_as_fast_as_motors_do(
    interval: float, size: float, slips: int
) -> None:
    """A move that begins and ends between two samples, of a joint without recorded commands."""
    times = interval * np.arange(1500)
    values = from_middle(0.2 * np.sin(times), size)
    values += 5e-5 * np.random.default_rng(1).standard_normal(len(times))
    model = mujoco.MjModel.from_xml_string(MODEL)
    one = Recorded(model, ({"q": Samples(times, values)},), ({},), {0: "q"}, {}, {}, {})
    assert len(slip_findings(one)) == slips


def test_a_position_that_hardly_changes_does_not_slip() -> None:
    assert not slip_findings(recorded(lambda x: 0.0 * x))
    assert not slip_findings(recorded(lambda x: from_middle(0.0 * x, 1e-3)))
