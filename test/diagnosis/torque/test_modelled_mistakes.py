# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""One wrong signal of a leg whose bodies are the model's is told; other bodies tell nothing."""

from __future__ import annotations

from collections.abc import Sequence

import mujoco
import numpy as np
import pytest

from sysid_ros.diagnosis.evidence.changed_recordings import repaired
from sysid_ros.diagnosis.evidence.finding import Change, FindingKind
from sysid_ros.diagnosis.evidence.recorded import Recorded, Samples
from sysid_ros.diagnosis.torque import Dynamics, modelled_explanation, torque_explanations

_LEG = """<body pos="{k} 0 0"><joint name="roll{k}" axis="1 0 0"/>
  <geom type="sphere" pos=".03 .04 0" size=".04" mass="1"/>
  <body pos="0 .08 0"><joint name="hip{k}" axis="0 1 0"/>
    <geom type="capsule" fromto="0 0 0 0 0 -.3" size=".03" mass="1.5"/>
    <body pos="0 0 -.3"><joint name="knee{k}" axis="0 1 0"/>
      <geom type="capsule" fromto="0 0 0 .02 0 -.3" size=".02" mass=".8"/></body></body></body>"""
_JOINTS = tuple(f"{name}{k}" for k in (0, 1) for name in ("roll", "hip", "knee"))
_DRIVES = "".join(f'<motor joint="{name}"/>' for name in _JOINTS)


def _legs(masses: Sequence[float] = (1.0,) * 7) -> mujoco.MjModel:
    """Two legs on a trunk, bodies heavier by some factors."""
    spec = mujoco.MjSpec.from_string(
        f"<mujoco><worldbody>{_LEG.format(k=0)}{_LEG.format(k=1)}</worldbody>"
        f"<actuator>{_DRIVES}</actuator></mujoco>"
    )
    model = spec.compile()
    model.body_mass[:] *= masses
    model.body_inertia[:] *= np.array(masses)[:, None]
    return model


def _recorded(truth: mujoco.MjModel) -> Recorded:
    """Both legs swing as the truth does, with friction and noise, told of by the model."""
    data, times, random = mujoco.MjData(truth), np.arange(0.0, 5.0, 0.01), np.random.default_rng(3)
    motion = np.zeros((3, len(times), 6))
    for joint in range(6):
        for size, rate in ((0.4, 2.0 + 0.7 * joint), (0.2, 5.0 - 0.4 * joint)):
            angle = rate * times + joint
            motion[0, :, joint] += size * np.sin(angle)
            motion[1, :, joint] += size * rate * np.cos(angle)
            motion[2, :, joint] -= size * rate**2 * np.sin(angle)
    torque = np.empty((len(times), 6))
    for i in range(len(times)):
        data.qpos[:], data.qvel[:], data.qacc[:] = motion[:, i]
        mujoco.mj_inverse(truth, data)
        torque[i] = data.qfrc_inverse
    torque += 4.0 * motion[1] + 0.05 * random.standard_normal(torque.shape)
    signals = {f"q{j}": Samples(times, motion[0, :, j]) for j in range(6)}
    signals |= {f"u{j}": Samples(times, torque[:, j]) for j in range(6)}
    positions, efforts = ({j: f"{kind}{j}" for j in range(6)} for kind in "qu")
    return Recorded(_legs(), (signals,), ({},), positions, {}, efforts, {})


@pytest.fixture(scope="module")
def right() -> Recorded:
    return _recorded(_legs())


def _told(recorded: Recorded) -> Change | None:
    """What only the model's own bodies tell."""
    test = Dynamics.of(recorded)
    assert test is not None
    assert not torque_explanations(recorded, test)
    found = modelled_explanation(recorded, test)
    return None if found is None else found.change


def test_nothing_is_told_of_right_signals(right: Recorded) -> None:
    assert _told(right) is None


@pytest.mark.parametrize(
    ("planted", "label", "undone"),
    [
        (Change(FindingKind.SCALE, scale={"u4": 2.0}), "u4", 0.5),
        (Change(FindingKind.SCALE, scale={"u1": 0.5}), "u1", 2.0),
        (Change(FindingKind.SCALE, scale={"q1": 0.7}), "q1", 1.0 / 0.7),
        (Change(FindingKind.OFFSET, offset={"q2": 0.3}), "q2", -0.3),
    ],
)
def test_one_wrong_signal_is_told(
    right: Recorded, planted: Change, label: str, undone: float
) -> None:
    found = _told(repaired(right, planted))
    assert found is not None
    assert (found.kind, found.signals) == (planted.kind, (label,))
    size = found.scale if found.kind is FindingKind.SCALE else found.offset
    assert size[label] == pytest.approx(undone, rel=0.05)


@pytest.mark.parametrize(
    "masses",
    [
        (1.0, 1.0, 1.5, 1.0, 1.0, 1.0, 1.0),  # one body
        (1.0, 1.3, 0.7, 1.4, 1.0, 1.0, 1.0),  # three of one leg
        (1.0, 1.0, 1.5, 1.0, 1.0, 0.6, 1.0),  # one of each
        (1.0, 1.4, 1.4, 1.4, 1.0, 1.0, 1.0),  # a leg of one other factor
    ],
)
def test_other_masses_are_no_mistake_of_a_signal(masses: tuple[float, ...]) -> None:
    assert _told(_recorded(_legs(masses))) is None
