# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Servos that do nothing for a while are told from weak ones and from joints on their stops."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import mujoco
import numpy as np
import pytest

from sysid_ros.arrays import FloatArray
from sysid_ros.diagnosis.evidence import FindingKind
from sysid_ros.diagnosis.evidence.recorded import Recorded, Samples
from sysid_ros.diagnosis.unfollowed_commands import unfollowed_command_findings

MODEL = mujoco.MjModel.from_xml_string(
    """<mujoco><worldbody><body><joint name="a" axis="0 0 1"/><geom size=".1"/>
    <body><joint name="b" axis="0 0 1"/><geom size=".1"/></body></body></worldbody>
    <actuator><position name="ua" joint="a" kp="9"/><position name="ub" joint="b" kp="9" gear="2"/>
    </actuator></mujoco>"""
)
TIMES = np.arange(0.0, 16.0, 0.01)
ASKED = 0.5 * np.sin(1.9 * TIMES) + 0.3 * np.sin(3.1 * TIMES + 1.0)
LAG = 0.06  # s


def recording(done: Callable[[FloatArray, FloatArray], FloatArray]) -> Mapping[str, Samples]:
    """Two servos, the second behind a gear, each with a lag; what their joints do then."""
    late = np.interp(TIMES - LAG, TIMES, ASKED)
    moved = done(TIMES, late) + 1e-4 * np.random.default_rng(0).standard_normal(len(TIMES))
    return {
        "qa": Samples(TIMES, moved),
        "qb": Samples(TIMES, 0.01 + moved),  # an encoder that is off
        "ua": Samples(TIMES, ASKED, "zoh"),
        "ub": Samples(TIMES, 2.0 * ASKED, "zoh"),
    }


def recorded(*recordings: Mapping[str, Samples]) -> Recorded:
    beside = ({},) * len(recordings)
    return Recorded(MODEL, recordings, beside, {0: "qa", 1: "qb"}, {}, {}, {0: "ua", 1: "ub"})


FOLLOWS = recording(lambda _, late: late)
HELD = recording(lambda times, _: np.full_like(times, 0.05))


def test_joints_that_a_brake_holds_are_one_finding_with_its_times() -> None:
    stop = recording(lambda times, late: np.where(times < 9.0, late, np.interp(9.0, TIMES, late)))
    (found,) = unfollowed_command_findings(recorded(stop))
    assert (found.kind, found.signals) == (FindingKind.NO_CONTROL, ("ua", "ub"))
    assert found.evidence["begin"] == pytest.approx(9.0, abs=1.0)
    assert "s on: a joint is off by" in found.sentence


def test_one_recording_of_several_is_named() -> None:
    (found,) = unfollowed_command_findings(recorded(FOLLOWS, HELD, FOLLOWS))
    assert "of recording 2: a joint" in found.sentence


def test_of_recordings_that_are_held_out_only_theirs_is_told() -> None:
    (found,) = unfollowed_command_findings(recorded(FOLLOWS, FOLLOWS), recorded(HELD))
    assert "held out: a joint" in found.sentence
    assert unfollowed_command_findings(recorded(FOLLOWS, HELD, FOLLOWS), recorded(FOLLOWS)) == []


@pytest.mark.parametrize(
    "done",
    [
        lambda _, late: late,
        lambda _, late: 0.6 * late,  # a soft servo under a load
        lambda _, late: np.minimum(late, -0.1),  # on its stop, or at an object
        lambda times, _: np.zeros_like(times),  # nowhere: the topic is another's
    ],
)
def test_what_follows_or_is_asked_to_one_side_or_never_follows_is_no_brake(
    done: Callable[[FloatArray, FloatArray], FloatArray],
) -> None:
    assert unfollowed_command_findings(recorded(recording(done))) == []


@pytest.mark.parametrize(("rate", "left", "late"), [(2.5, 0.35, 0.12), (8.0, 0.05, 0.06)])
def test_what_is_too_fast_for_a_servo_is_no_brake(rate: float, left: float, late: float) -> None:
    times = np.arange(0.0, 20.0, 0.005)
    slow, fast = 0.5 * np.sin(2.0 * np.pi * 0.15 * times), 2.0 * np.pi * rate * (times - 12.0)
    asked = np.where(times < 12.0, slow, slow[2400] + 0.3 * np.sin(fast))
    done = np.where(times < 12.0, slow, slow[2400] + left * 0.3 * np.sin(fast - rate * late))
    done = done + 1e-4 * np.random.default_rng(0).standard_normal(len(times))
    one = {
        "qa": Samples(times, done), "qb": Samples(times, done),
        "ua": Samples(times, asked, "zoh"), "ub": Samples(times, 2.0 * asked, "zoh"),
    }  # fmt: skip
    assert unfollowed_command_findings(recorded(one)) == []


def test_jumps_to_and_fro_that_a_servo_is_too_weak_for_are_no_brake() -> None:
    """A hobby servo under a binary noise turns at most so fast, each way as it is told."""
    times = np.arange(0.0, 24.0, 0.02)
    random = np.random.default_rng(5)
    steps = np.repeat(random.uniform(-0.6, 0.6, size=24), 50)
    noise = np.repeat(np.where(random.uniform(size=200) < 0.5, -1.5, 1.5), 2)
    asked = np.where(times < 16.0, steps, 0.0)
    asked[800:1200] = noise
    turns = 0.05 + np.zeros(len(times))
    for k in range(4, len(times)):
        turns[k] = turns[k - 1] + np.clip(asked[k - 4] - turns[k - 1], -0.05, 0.05)
    still = np.where(times < 16.0, turns, turns[800])
    found = [
        unfollowed_command_findings(
            recorded({
                "qa": Samples(times, done), "qb": Samples(times, done),
                "ua": Samples(times, asked, "zoh"), "ub": Samples(times, 2.0 * asked, "zoh"),
            })
        )
        for done in (turns, still + 1e-4 * random.standard_normal(len(times)))
    ]  # fmt: skip
    assert (len(found[0]), len(found[1])) == (0, 1)
