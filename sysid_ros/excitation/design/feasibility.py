# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Says which demand a motion breaks, when and by how much."""

from __future__ import annotations

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.excitation import ExcitationError
from sysid_ros.excitation.design.task import DesignTask
from sysid_ros.excitation.design.torque_information import JointMotion

_STEP = 5e-3  # s between the instants that are looked at
_SLACK = 1e-6


def refuse_infeasible(task: DesignTask, control: FloatArray, joints: tuple[str, ...]) -> None:
    """Look every 5 ms at the motion of control points (k, n).

    Raises:
      ExcitationError: The demand that is broken the most, the time, the value and the limit.
    """
    spline, limits = task.spline, task.demands.limits
    times = np.linspace(0.0, spline.duration, int(np.ceil(spline.duration / _STEP)) + 1)
    q, v, a, j = (spline.basis(times, order) @ control for order in range(4))
    motion = JointMotion(task.start + q, v, a)
    torque, effort = task.information.torque(motion), task.demands.effort
    checks = (
        (limits.lower - motion.position, motion.position, limits.lower, "goes below"),
        (motion.position - limits.upper, motion.position, limits.upper, "goes above"),
        (np.abs(v) - limits.velocity, v, limits.velocity, "moves faster than"),
        (np.abs(a) - limits.acceleration, a, limits.acceleration, "accelerates more than"),
        (np.abs(j) - task.demands.jerk, j, task.demands.jerk, "jerks more than"),
        (np.abs(torque) - effort, torque, effort, "needs more torque than"),
    )  # fmt: skip
    for excess, value, limit, words in checks:
        relative = excess / np.maximum(np.where(np.isfinite(limit), np.abs(limit), 1.0), 1e-9)
        row, column = np.unravel_index(int(np.argmax(relative)), relative.shape)
        if relative[row, column] > _SLACK:
            raise ExcitationError(
                f"joint {joints[column]!r} {words} {limit[column]:.4g} at {times[row]:.2f} s: it "
                f"would be {value[row, column]:.4g}"
            )
    _refuse_contact(task, times, motion)


def _refuse_contact(task: DesignTask, times: FloatArray, motion: JointMotion) -> None:
    near = task.clearance.near(motion.position, 0.0)
    if near.distance.size and near.distance.min() < task.clearance.least - _SLACK:
        worst = int(np.argmin(near.distance))
        raise ExcitationError(
            f"{task.clearance.describe(int(near.pair[worst]))} come within "
            f"{1e3 * near.distance[worst]:.1f} mm at {times[near.sample[worst]]:.2f} s; at least "
            f"{1e3 * task.clearance.least:g} mm are asked for"
        )
