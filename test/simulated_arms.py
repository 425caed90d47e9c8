# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A simulated arm with a known truth, for tests of inverse dynamics."""

from __future__ import annotations

from dataclasses import dataclass

import mujoco
import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]

FRICTION = 0.4  # N m
DAMPING = 0.5  # N m s
STEP = 2e-4  # s, of the truth

THREE_JOINTS = """
<mujoco>
  <option timestep="{step}" integrator="implicitfast">
    <flag contact="disable" limit="disable"/>
  </option>
  <worldbody>
    <body name="base" pos="0 0 0.3">
      <joint name="a" axis="0 0 1" armature="0.1" damping="{damping}" frictionloss="{friction}"
             solreffriction="{sharp} 1"/>
      <inertial mass="4" pos="0.01 0.02 0.1" fullinertia="0.05 0.045 0.03 0.002 -0.001 0.003"/>
      <body name="upper" pos="0 0 0.2">
        <joint name="b" axis="0 1 0" armature="0.1" damping="{damping}" frictionloss="{friction}"
               solreffriction="{sharp} 1"/>
        <inertial mass="3" pos="0.15 0.01 0.02" fullinertia="0.01 0.04 0.045 0.001 0.002 -0.001"/>
        <body name="fore" pos="0.35 0 0">
          <joint name="c" axis="0 1 0" armature="0.05" damping="{damping}" frictionloss="{friction}"
                 solreffriction="{sharp} 1"/>
          <inertial mass="1.5" pos="0.12 -0.01 0.02" fullinertia="0.004 0.015 0.016 0 0.001 0"/>
        </body>
      </body>
    </body>
  </worldbody>
</mujoco>
"""


def three_joint_xml(step: float = STEP) -> str:
    """An arm of three hinges whose dry friction follows velocity as closely as MuJoCo allows."""
    return THREE_JOINTS.format(step=step, sharp=2 * step, damping=DAMPING, friction=FRICTION)


@dataclass(frozen=True)
class Truth:
    """A simulated motion without noise, at the truth's time step."""

    model: mujoco.MjModel
    times: FloatArray
    qpos: FloatArray
    torque: FloatArray


def simulate(
    model: mujoco.MjModel, duration: float, seed: int = 0, amplitude: float = 1.0
) -> Truth:
    """Track a random sum of sines by computed torque and a PD, as an industrial arm does."""
    step, nv = float(model.opt.timestep), model.nv
    rng = np.random.default_rng(seed)
    times = step * np.arange(round(duration / step))
    wanted = np.zeros((3, len(times), nv))
    for k in range(1, 6):
        omega = 2.0 * np.pi * 0.15 * k
        size, phase = amplitude * rng.normal(size=nv) / 2.5, rng.uniform(0.0, 2.0 * np.pi, nv)
        angle = omega * times[:, None] + phase
        wanted += [
            size * np.sin(angle),
            size * omega * np.cos(angle),
            -size * omega**2 * np.sin(angle),
        ]
    data, plan = mujoco.MjData(model), mujoco.MjData(model)
    data.qpos[:], data.qvel[:] = wanted[0, 0], wanted[1, 0]
    qpos, torque = np.empty((len(times), nv)), np.empty((len(times), nv))
    for k in range(len(times)):
        plan.qpos[:], plan.qvel[:], plan.qacc[:] = wanted[:, k]
        mujoco.mj_inverse(model, plan)
        error, rate = wanted[0, k] - data.qpos, wanted[1, k] - data.qvel
        data.qfrc_applied[:] = plan.qfrc_inverse + 100.0 * error + 10.0 * rate
        qpos[k], torque[k] = data.qpos, data.qfrc_applied
        mujoco.mj_step(model, data)
    # The torque of a step belongs to its beginning: there is the second difference of positions
    # that a semi-implicit step makes of it.
    return Truth(model, times, qpos, torque)


def measured(
    truth: Truth, rate: float, rng: np.random.Generator, *, noise: float = 1e-5,
    quantum: float = 0.0, torque_noise: float = 0.1, colour: float = 0.02,
) -> tuple[FloatArray, FloatArray, FloatArray]:  # fmt: skip
    """Noisy, quantised positions and torque with coloured noise at a sampling rate.

    Args:
      truth: The motion.
      rate: Hz.
      rng: Of the noise.
      noise: Standard deviation of positions, rad.
      quantum: Step of the encoder, rad.
      torque_noise: Standard deviation, N m.
      colour: Time constant of the torque's noise, s.
    """
    every = round(1.0 / (rate * truth.model.opt.timestep))
    times, qpos = truth.times[1::every], truth.qpos[1::every]
    qpos = qpos + noise * rng.standard_normal(qpos.shape)
    if quantum:
        qpos = quantum * np.round(qpos / quantum)
    added = coloured(rng, qpos.shape, rate, torque_noise, colour)
    return times, qpos, truth.torque[1::every] + added


def coloured(
    rng: np.random.Generator, shape: tuple[int, int], rate: float, size: float, time: float
) -> FloatArray:
    """First-order noise with a standard deviation and a time constant [s]."""
    share = np.exp(-1.0 / (rate * time))
    steps = size * np.sqrt(1.0 - share**2) * rng.standard_normal(shape)
    out: FloatArray = np.empty(shape)
    state = size * rng.standard_normal(shape[1])
    for row, step in zip(out, steps, strict=True):
        state = share * state + step
        row[:] = state
    return out
