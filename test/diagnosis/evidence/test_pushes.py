# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Pushes against a resting arm are named; what rests and what moves is not."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest
from simulated_arms import three_joint_xml

from sysid_ros.diagnosis.evidence.pushes import push_findings, pushes
from sysid_ros.diagnosis.evidence.recorded import Recorded, Samples

TIMES = np.arange(0.0, 12.0, 0.01)


def arm_at(torque: np.ndarray, moved: np.ndarray) -> Recorded:
    spec = mujoco.MjSpec.from_string(three_joint_xml())
    for name in "abc":
        spec.add_actuator(name=name, trntype=mujoco.mjtTrn.mjTRN_JOINT, target=name)
    model = spec.compile()
    rng = np.random.default_rng(0)
    signals = {
        f"q{j}": Samples(TIMES, moved + 1e-5 * rng.normal(size=len(TIMES))) for j in range(3)
    }
    noise = 0.05 * rng.normal(size=(3, len(TIMES)))
    signals |= {f"u{j}": Samples(TIMES, torque[j] + noise[j]) for j in range(3)}
    names = range(3)
    positions, efforts = ({j: f"{kind}{j}" for j in names} for kind in "qu")
    return Recorded(model, (signals,), ({},), positions, {}, efforts, {})


HOLDING = np.array([0.0, 20.0, 8.0])[:, None] * np.ones(len(TIMES))
PUSHED = np.exp(-0.5 * ((TIMES - 5.0) / 0.5) ** 2)


def test_a_push_is_named_with_its_time_and_joints():
    pushed = HOLDING + np.array([0.0, 5.0, -3.0])[:, None] * PUSHED
    (found,) = pushes(arm_at(pushed, np.zeros(len(TIMES))))
    assert set(found.change) == {"u1", "u2"}
    assert found.begin == pytest.approx(4.4, abs=0.2)
    assert found.end == pytest.approx(5.6, abs=0.2)
    (told,) = push_findings(arm_at(pushed, np.zeros(len(TIMES))))
    assert "4.4 to 5.6 s" in told.sentence


@pytest.mark.parametrize(
    ("torque", "moved"),
    [
        (HOLDING, np.zeros(len(TIMES))),
        (HOLDING + np.array([3.0, 4.0, 2.0])[:, None] * np.exp(-TIMES / 6.0), 0.0 * TIMES),
        (HOLDING + np.array([0.0, 5.0, 0.0])[:, None] * PUSHED, np.zeros(len(TIMES))),
        (HOLDING + np.array([0.0, 5.0, 3.0])[:, None] * PUSHED, 0.1 * PUSHED),
    ],
    ids=["rest", "friction that relaxes", "one joint", "a motion"],
)
def test_nothing_else_is(torque, moved):
    assert not push_findings(arm_at(torque, moved))
