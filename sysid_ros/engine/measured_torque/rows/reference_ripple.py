# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The sawtooth that held references make of a servo's torque, and rows that allow for it.

A servo whose reference jumps every few milliseconds pushes hardest just behind each jump and least
just before the next. Samples that always meet the same part of this sawtooth have another mean than
the torque that moved the joint, by up to the gain times half a jump; as jumps are proportional to
the velocity, that looks like damping. The sawtooth is the gain times that of the reference, its
values less their slow course, and what servos answer as the joints give way to it, each with the
inertia of its pose and the others'.

How much of it there is depends on what stamps do not tell: whether a sample was taken just before
or behind a jump, whether a drive interpolates. So its share of the torque, one by the stamps, and
that of the last jump are estimated anew for every span (and eliminated, see :func:`reduced`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import mujoco
import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.inverse_dynamics import Recording
from sysid_ros.engine.measured_torque.rows.torque_signals import force_arm
from sysid_ros.engine.parameters import ParameterDict
from sysid_ros.engine.residuals import UNCHANGED, SignalSettings, signal_settings
from sysid_ros.engine.signals import (
    ModelSequences,
    SignalIntegral,
    TimeSeries,
    actuator_names,
    control_column,
    value_at,
)

_SHARE_SPREAD = 3.0  # of the sawtooth that stamps tell; a sample just before a jump has -1 of it
_SAME = 1e-6  # s, within which a sample meets a jump
_STEP = 1e-3  # s, at most, in which joints give way
_TOGETHER = 1024  # samples whose matrices are in memory at a time


def without_ripple(
    model: mujoco.MjModel,
    recordings: Sequence[Recording],
    groups: Sequence[ModelSequences],
    params: ParameterDict,
) -> tuple[list[Recording], list[Recording]]:
    """Recordings whose torque lacks the sawtooth, and others that lack its last jump.

    Args:
      model: The robot's, with the gains of its servos.
      recordings: Motion and torque.
      groups: The sequences that they come from, with the references.
      params: With the delays, gains and biases of references.
    """
    even, before, recorded = [], [], {one.name: one for one in recordings}
    for group in groups:
        settings = signal_settings(params.for_robot(group.robot))
        for name, control in zip(group.sequence_name, group.control, strict=True):
            own = recorded[name]
            ripple, jump = _ripple(model, own, control, settings)
            even.append(replace(own, torque=own.torque - ripple))
            before.append(replace(own, torque=own.torque - jump))
    return even, before


def reduced(sums: FloatArray, noise: float) -> FloatArray:
    """Sums of rows (R, tau) for the best shares of the sawtooth and of its jumps in each span.

    Args:
      sums: Of rows (R, tau without the sawtooth, tau without its last jump, tau as measured),
        (spans, s + 3, s + 3).
      noise: Standard deviation of the mean of a row's torque.

    Returns:
      Shape (spans, s + 1, s + 1).
    """
    change = np.eye(sums.shape[-1])
    change[-2:, -2], change[-3, -1] = (-1.0, 1.0), -1.0  # the jump and the sawtooth themselves
    sums = change.T @ sums @ change
    size = sums[:, -2:, -2:] + (noise / _SHARE_SPREAD) ** 2 * np.eye(2)
    own = sums[:, :-2, -2:]
    found: FloatArray = sums[:, :-2, :-2] - own @ np.linalg.solve(size, own.transpose(0, 2, 1))
    return found


def _ripple(
    model: mujoco.MjModel,
    own: Recording,
    control: TimeSeries,
    settings: Mapping[str, SignalSettings],
) -> tuple[FloatArray, FloatArray]:
    """The sawtooth just behind each sample, (n, nv) N m, and its jump there.

    Both are zero where references are not held.
    """
    times = own.times
    width, nv = float(np.median(np.diff(times))), model.nv
    behind, jump = np.zeros((2, len(times), nv))
    steps = math.ceil(width / _STEP - _SAME)
    push = np.zeros((len(times), steps, nv))
    spring, damper = np.zeros((nv, nv)), np.zeros((nv, nv))
    for actuator, name in enumerate(actuator_names(model)):
        column = control_column(control, name)
        plain = int(model.actuator_dyntype[actuator]) == int(mujoco.mjtDyn.mjDYN_NONE)
        if column is None or not plain or not control.holds(column):
            continue
        given = settings.get(name, UNCHANGED)
        known = np.isfinite(control.data[:, column])
        series = control.times[known] + given.delay, given.gain * control.data[known, column]
        arm, (_, stiff, slow, *_) = force_arm(model, actuator), model.actuator_biasprm[actuator]
        force = float(model.actuator_gainprm[actuator, 0]) * arm
        sharp, means = _sawtooth(series, times, width, steps)
        behind += sharp[:, None] * force
        ends = (value_at(*series, times + side * _SAME, "zoh") for side in (1.0, -1.0))
        jump += np.subtract(*ends)[:, None] * force
        push += means[:, :, None] * force
        spring -= float(stiff) * np.outer(arm, arm)
        damper -= float(slow) * np.outer(arm, arm)
    if push.any():
        behind += _answer(model, own, push, spring, damper)
    return behind, jump


def _answer(
    model: mujoco.MjModel, own: Recording, push: FloatArray, spring: FloatArray, damper: FloatArray
) -> FloatArray:
    """The answer of servos whose joints give way to a sawtooth, at each sample, (n, nv) N m.

    Args:
      model: The robot's.
      own: Its motion at n samples.
      push: Torque of the sawtooth if they did not, means of the steps to the next sample,
        (n, steps, nv).
      spring: Of the servos, N m/rad, (nv, nv).
      damper: Likewise, N m s/rad.
    """
    n, _, nv = push.shape
    state, found = np.zeros(2 * nv), np.zeros((n, 2 * nv))
    lengths = np.diff(own.times, append=own.times[-1])
    usual = np.median(lengths)
    for first in range(0, n, _TOGETHER):
        some = slice(first, first + _TOGETHER)
        masses = _inertias(model, own.qpos[some])
        kept, pushed = _transitions(
            masses, push[some], spring, damper + np.diag(model.dof_damping), lengths[some]
        )
        settled = lengths[some] > 2.0 * usual  # in a gap
        kept[settled], pushed[settled] = 0.0, 0.0
        for k, (turn, shift) in enumerate(zip(kept, pushed, strict=True), first):
            found[k] = state
            state = turn @ state + shift
    return np.asarray(-found @ np.hstack([spring, damper]).T)


def _inertias(model: mujoco.MjModel, qpos: FloatArray) -> FloatArray:
    """Mass matrices of n poses, (n, nv, nv)."""
    data, found = mujoco.MjData(model), np.zeros((len(qpos), model.nv, model.nv))
    for pose, inertia in zip(qpos, found, strict=True):
        data.qpos[:] = pose
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        mujoco.mj_tendon(model, data)
        mujoco.mj_makeM(model, data)
        mujoco.mj_fullM(model, data, inertia)
    return found


def _transitions(
    inertia: FloatArray, push: FloatArray, spring: FloatArray, loss: FloatArray, lengths: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """From each sample to the next by the trapezoidal rule, in steps of one length.

    Args:
      inertia: (n, nv, nv).
      push: (n, steps, nv) N m.
      spring: (nv, nv) N m/rad.
      loss: (nv, nv) N m s/rad.
      lengths: From each sample to the next, (n,) s.

    Returns:
      Factors (n, 2 nv, 2 nv) of positions and velocities, and what is added to them, (n, 2 nv).
    """
    _, steps, nv = push.shape
    h = (lengths / steps)[:, None, None]
    slowed = 0.5 * h * loss + 0.25 * h**2 * spring
    inverse = np.linalg.inv(inertia + slowed)
    kept, pulled = inverse @ (inertia - slowed), h * inverse @ spring
    one = np.concatenate(
        [
            np.concatenate([-0.5 * h * pulled, 0.5 * h * (np.eye(nv) + kept)], 2),
            np.concatenate([-pulled, kept], 2),
        ],
        1,
    )
    one[:, :nv, :nv] += np.eye(nv)
    faster = push @ (h * inverse).transpose(0, 2, 1)
    added = np.concatenate([0.5 * h * faster, faster], axis=2)
    total = np.zeros_like(added[:, 0])
    for part in added.transpose(1, 0, 2):
        total = np.einsum("nij,nj->ni", one, total) + part
    return np.linalg.matrix_power(one, steps), total


def _sawtooth(
    series: tuple[FloatArray, FloatArray], times: FloatArray, width: float, steps: int
) -> tuple[FloatArray, FloatArray]:
    """The share of a held signal beyond its slow course.

    The course is a mean over triangles, twice (Tukey's twicing), which leaves curvature as it is.

    Args:
      series: Instants and values of the signal.
      times: (n,) s.
      width: s between them.
      steps: Of which means are given, from each to the next.

    Returns:
      Just behind each instant, (n,); and means of steps, (n, steps).
    """
    integral, hold = SignalIntegral(*series, "zoh"), float(np.median(np.diff(series[0])))
    step = width / steps
    taps = max(1, round(hold * np.ceil(width / hold - _SAME) / step))
    edge = 4 * taps
    grid = times[0] + step * np.arange(-edge, round((times[-1] - times[0]) / step) + edge + steps)
    triangle = np.convolve(np.full(taps, 1.0 / taps), np.full(taps, 1.0 / taps))
    once = np.convolve(integral.mean(grid, step), triangle, mode="same")
    slow = 2.0 * once - np.convolve(once, triangle, mode="same")
    middle, fine = grid + 0.5 * step, times[:, None] + step * np.arange(steps)
    behind = value_at(*series, times + _SAME, "zoh") - np.interp(times, middle, slow)
    return behind, integral.mean(fine, step) - np.interp(fine + 0.5 * step, middle, slow)
