# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Mistakes of torques compete: of several that explain, the one that explains most is told."""

from __future__ import annotations

import mujoco
import numpy as np

from sysid_ros.diagnosis.evidence import FindingKind, Recorded, Samples
from sysid_ros.diagnosis.torque import Dynamics, torque_explanations

_COUNT = 6  # thrusts around a hull
_APART = 0.2  # s, from each thrust's command to the next one's
_STEP = 0.01  # s, between samples
_MOTOR = '<motor site="t{k}" gear="0 0 1 0 0 .1"/>'
_ROTORS = "".join(
    f'<site name="t{k}" pos="{np.cos(k * np.pi / 3):.4f} {np.sin(k * np.pi / 3):.4f} 0.05" '
    f'euler="{20 * (-1) ** k} 10 {60 * k}"/>'
    for k in range(_COUNT)
)
FLYER = f"""<mujoco><option gravity="0 0 0" timestep="{_STEP}" integrator="RK4"/><worldbody>
  <body name="hull"><freejoint/><geom type="box" size=".3 .2 .1" mass="2"/>{_ROTORS}</body>
  </worldbody><actuator>{"".join(_MOTOR.format(k=k) for k in range(_COUNT))}
  </actuator></mujoco>"""


def _told(time: float) -> list[float]:
    """Commands of thrusts: one course, of which each is further behind."""
    behind = time - _APART * np.arange(_COUNT)
    course = [np.sin(rate * behind + rate**2) for rate in (1.7, 2.9, 4.3, 5.9, 7.7, 9.1, 11.3)]
    return [float(one) for one in 0.3 * np.sum(course, axis=0)]


def _flight(late: float) -> Recorded:
    """A flight whose thrusts act later than they are told."""
    model = mujoco.MjModel.from_xml_string(FLYER)
    data, rows = mujoco.MjData(model), []
    for _ in range(900):
        data.ctrl[:] = _told(data.time - late)
        rows.append(np.concatenate([data.qpos, _told(data.time)]))
        mujoco.mj_step(model, data)
    pose, efforts = [f"p{i}" for i in range(7)], {k: f"u{k}" for k in range(_COUNT)}
    columns = zip((*pose, *efforts.values()), np.array(rows).T, strict=True)
    times = _STEP * np.arange(len(rows))
    signals = {label: Samples(times, values) for label, values in columns}
    return Recorded(model, (signals,), ({},), {}, {}, efforts, {}, poses={0: tuple(pose)})


def test_thrusts_that_are_all_late_are_not_exchanged() -> None:
    """Each acts as the next one is told, so that an order explains most of it."""
    test = Dynamics.of(seen := _flight(late=_APART))
    assert test is not None
    (lag,) = torque_explanations(seen, test)
    assert lag.change.kind is FindingKind.LAG
    assert abs(lag.size - _APART) < _STEP
