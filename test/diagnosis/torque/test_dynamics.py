# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Legs on a trunk that stands still are explained one by one, as all together would be."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import mujoco
import numpy as np
import pytest

from sysid_ros.diagnosis.evidence.changed_recordings import repaired, under_gravity
from sysid_ros.diagnosis.evidence.finding import Change, FindingKind
from sysid_ros.diagnosis.evidence.hypotheses import Suspects, families
from sysid_ros.diagnosis.evidence.recorded import Recorded, Samples
from sysid_ros.diagnosis.evidence.sampling_mistakes import not_tested
from sysid_ros.diagnosis.fits import (
    PointMasses,
    body_motion,
    misfit_of,
    non_negative_fit,
    regressor,
)
from sysid_ros.diagnosis.torque import Dynamics, dynamics, torque_explanations
from sysid_ros.diagnosis.torque_checks import torque_unit

_LEG = """<body pos="{place} 0 0"><joint name="hip{k}" axis="0 1 0"/>
  <geom type="capsule" fromto="0 0 0 0 0 -.3" size=".03" mass="2"/>
  <body pos="0 0 -.3"><joint name="knee{k}" axis="0 1 0"/>
    <geom type="capsule" fromto="0 0 0 .02 0 -.3" size=".02" mass="1"/></body></body>"""
_DRIVES = "".join(f'<motor joint="{name}{k}"/>' for k in (0, 1) for name in ("hip", "knee"))
TWO_LEGS = f"""<mujoco><worldbody>{"".join(_LEG.format(k=k, place=k) for k in (0, 1))}</worldbody>
  <actuator>{_DRIVES}</actuator></mujoco>"""


@pytest.fixture(scope="module")
def legs() -> Recorded:
    """Both legs swing; the second hip's torque is recorded with the wrong sign."""
    model = mujoco.MjModel.from_xml_string(TWO_LEGS)
    data, times = mujoco.MjData(model), np.arange(0.0, 8.0, 0.01)
    motion = np.zeros((3, len(times), 4))
    for joint in range(4):
        for size, rate in ((0.4, 2.0 + 0.7 * joint), (0.2, 5.0 - 0.4 * joint)):
            angle = rate * times + joint
            motion[0, :, joint] += size * np.sin(angle)
            motion[1, :, joint] += size * rate * np.cos(angle)
            motion[2, :, joint] -= size * rate**2 * np.sin(angle)
    torque = np.empty((len(times), 4))
    for i in range(len(times)):
        data.qpos[:], data.qvel[:], data.qacc[:] = motion[:, i]
        mujoco.mj_inverse(model, data)
        torque[i] = data.qfrc_inverse
    torque[:, 2] *= -1.0
    signals = {f"q{j}": Samples(times, motion[0, :, j]) for j in range(4)}
    signals |= {f"u{j}": Samples(times, torque[:, j]) for j in range(4)}
    positions, efforts = ({j: f"{kind}{j}" for j in range(4)} for kind in "qu")
    return Recorded(model, (signals,), ({},), positions, {}, efforts, {})


def test_trees_explain_as_much_as_the_whole(legs: Recorded) -> None:
    test = Dynamics.of(legs)
    assert test is not None
    motion = test.data.motion(legs.all_positions)
    columns = regressor(legs.model, body_motion(legs.model, *motion))
    torque = np.column_stack([test.data.value[f"u{j}"] for j in range(4)])
    weight = 1.0 / np.sqrt(np.mean(torque**2, axis=0))
    matrix = (columns * weight[:, None]).reshape(-1, columns.shape[2])
    target = (torque * weight).reshape(-1)
    left = target - matrix @ non_negative_fit(matrix, target)
    whole = misfit_of(left.reshape(torque.shape), test.data.block)
    assert test.misfit().share == pytest.approx(whole.share, rel=1e-3)
    assert whole.share > 0.1  # the sign
    assert test.misfit(Change(FindingKind.SIGN, scale={"u2": -1.0})).share < 0.01
    assert test.reversed_joints() == (2,)


def test_what_holds_a_joint_that_rests_says_nothing(legs: Recorded) -> None:
    (signals,) = legs.recordings
    times, random = signals["q3"].times, np.random.default_rng(0)
    resting = {
        "q3": Samples(times, 0.3 + 1e-4 * random.standard_normal(len(times))),
        "u3": Samples(times, random.standard_normal(len(times))),
    }
    test = Dynamics.of(replace(legs, recordings=({**signals, **resting},)))
    assert test is not None
    assert set(test.shares()) == {0, 1, 2}
    # The hip's torque is still that of a knee that swings.
    assert test.misfit(Change(FindingKind.SIGN, scale={"u2": -1.0})).share < 0.1


def test_torque_below_its_noise_is_left_out_and_said(legs: Recorded) -> None:
    (signals,) = legs.recordings
    random = np.random.default_rng(0)
    times, size = signals["u3"].times, len(signals["u3"].times)
    weak = Samples(times, 0.005 * signals["u3"].values + random.standard_normal(size))
    seen = replace(legs, recordings=({**signals, "u3": weak},))
    test = Dynamics.of(seen)
    assert test is not None
    assert set(test.shares()) == {0, 1, 2}
    assert "knee1" in not_tested(seen)
    suspects = Suspects((2, 0, 1), test.shares(), test.silent)
    asked = {label for family in families(seen, suspects) for label in family.labels}
    assert "q3" not in asked
    assert {"q2", "u2"} <= asked
    noisy = Samples(times, signals["u3"].values + 0.02 * random.standard_normal(size))
    heard = replace(legs, recordings=({**signals, "u3": noisy},))
    assert not_tested(heard) == ""
    # What a silent joint moves is as good as welded: its body has no unknowns of its own.
    whole, few = (PointMasses.of(legs.model, (2, 3), silent) for silent in ((), (3,)))
    assert (len(whole.moments), len(few.moments)) == (2, 1)
    assert few.moved.shape[1] < whole.moved.shape[1]


def test_kinematics_are_those_of_all_legs_and_gravities(
    legs: Recorded, monkeypatch: pytest.MonkeyPatch
) -> None:
    test, asked = Dynamics.of(legs), []
    leaning = np.array([3.0, 0.0, -9.0])
    fresh = Dynamics.of(under_gravity(legs, leaning))
    assert test is not None and fresh is not None

    def counted(*motion: Any) -> Any:
        asked.append(len(motion[1]))
        return body_motion(*motion)

    monkeypatch.setattr(dynamics, "body_motion", counted)
    looks = [test.glance(), test.under(leaning).glance(), test.under(2.0 * leaning).glance()]
    assert len(asked) == 1
    assert looks[1].share == pytest.approx(fresh.glance().share, rel=1e-9)
    assert looks[2].share != pytest.approx(looks[1].share, rel=1e-3)


def test_a_repair_of_one_leg_leaves_the_other_alone(
    legs: Recorded, monkeypatch: pytest.MonkeyPatch
) -> None:
    test, asked = Dynamics.of(legs), []
    assert test is not None

    def counted(model: mujoco.MjModel, *motion: Any) -> Any:
        asked.append(motion[-2].dofs)
        return regressor(model, *motion)

    monkeypatch.setattr(dynamics, "regressor", counted)
    test.glance()
    assert asked == [(0, 1), (2, 3)]
    test.glance(Change(FindingKind.OFFSET, offset={"q1": 0.3}))
    assert asked[2:] == [(0, 1)]
    test.glance(Change(FindingKind.SIGN, scale={"u3": -1.0}))
    assert len(asked) == 3  # no position changed


def test_no_change_leaves_less_than_the_rows_that_it_does_not_enter(legs: Recorded) -> None:
    test = Dynamics.of(legs)
    assert test is not None
    before = test.glance()
    for label in (*legs.positions.values(), *legs.efforts.values()):
        bound = test.left_by_others([label])
        for change in (
            Change(FindingKind.SIGN, scale={label: -1.0}),
            Change(FindingKind.OFFSET, offset={label: 0.3}),
            Change(FindingKind.SCALE, scale={label: 2.0}),
        ):
            assert test.glance(change).share >= 0.999 * bound.share
        of_the_wrong_leg = label[1] in "23"
        assert (bound.ratio(before) < 0.8) == of_the_wrong_leg


WORN = """<mujoco><worldbody><body><joint name="lift" type="slide" axis="0 0 1"/>
  <geom size=".1" mass="6"/><body><joint name="hip" axis="0 1 0" damping=".5"/>
  <geom type="capsule" fromto="0 0 0 0 0 -.3" size=".03" mass="2"/></body></body></worldbody>
  <actuator><motor joint="hip"/></actuator></mujoco>"""


@pytest.mark.parametrize("factor", [1.0, 1000.0])
def test_what_pushes_a_joint_without_a_motor_is_no_unit_of_the_torques(factor: float) -> None:
    """Somebody who wears a leg lifts its hip, by forces that nothing measures."""
    model = mujoco.MjModel.from_xml_string(WORN)
    data, times = mujoco.MjData(model), np.arange(0.0, 8.0, 0.01)
    motion = np.zeros((3, len(times), 2))
    for joint, (size, rate) in enumerate(((0.05, 4.0), (0.5, 3.1))):
        for order in range(3):
            motion[order, :, joint] = size * rate**order * np.sin(rate * times + order * np.pi / 2)
    torque = np.empty(len(times))
    for i in range(len(times)):
        data.qpos[:], data.qvel[:], data.qacc[:] = motion[:, i]
        mujoco.mj_inverse(model, data)
        torque[i] = data.qfrc_inverse[1]
    signals = {f"q{j}": Samples(times, motion[0, :, j]) for j in (0, 1)}
    signals["u"] = Samples(times, factor * torque)
    whole = Recorded(model, (signals,), ({},), {0: "q0", 1: "q1"}, {}, {0: "u"}, {})
    found = torque_unit(whole, Dynamics.of(whole))
    assert (found is None) == (factor == 1.0)
    assert found is None or found.size == 1.0 / factor


@pytest.mark.parametrize(
    ("flipped", "wrong"), [(("q0",), {"q0", "u2"}), (("q0", "q2", "u2"), {"q0", "q2"})]
)
def test_reversed_positions_are_told_among_several_signs(
    legs: Recorded, flipped: tuple[str, ...], wrong: set[str]
) -> None:
    """What hangs on a hip contradicts that its torque is the wrong one."""
    both = repaired(legs, Change(FindingKind.SIGN, scale=dict.fromkeys(flipped, -1.0)))
    test = Dynamics.of(both)
    assert test is not None
    (told,) = torque_explanations(both, test)
    assert {*told.change.signals} == wrong
