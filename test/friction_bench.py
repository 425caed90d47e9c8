# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A synthetic test bench with known friction: a weight on an arm, moved through gears."""

from __future__ import annotations

from collections.abc import Sequence

import mujoco
import numpy as np

from sysid_ros.engine.friction import FrictionParameters, apply_friction_to_spec, friction_callback
from sysid_ros.engine.friction.models import COEFFICIENTS, MODELS
from sysid_ros.engine.parameters.modifiers import AttributeModifier
from sysid_ros.engine.parameters.parameter import Parameter
from sysid_ros.engine.parameters.parameter_dict import ParameterDict
from sysid_ros.engine.signals.initial_state import create_initial_state
from sysid_ros.engine.signals.timeseries import TimeSeries
from sysid_ros.engine.signals.trajectory import ModelSequences

BENCH = """
<mujoco>
  <option timestep="0.01" integrator="implicitfast"><flag contact="disable"/></option>
  <worldbody>
    <body name="arm">
      <joint name="gear" axis="0 1 0" armature="0.01"/>
      <inertial pos="0 0 -0.2" mass="1" diaginertia="0.002 0.002 0.002"/>
    </body>
  </worldbody>
  <actuator>
    <position name="servo" joint="gear" kp="{kp}" forcerange="-6 6"/>
  </actuator>
  <sensor><jointpos name="angle" joint="gear"/></sensor>
</mujoco>
"""
GAINS = (6.0, 12.0)  # N m/rad, as a servo's settings are varied on a test bench
RATE = 100  # Hz
NOISE = 2e-4  # rad


def true_frictions() -> dict[str, FrictionParameters]:
    """A gear for each model.

    Gravity and the motor load it with up to 2 and 6 N m; every effect moves the budget by 0.2 N m
    or more in a recording, which moves the arm by a hundred times the noise.
    """
    p = FrictionParameters
    stribeck = {"friction_stribeck": 0.25, "dtheta_stribeck": 0.5, "alpha": 1.3}
    load = {
        "load_friction_motor": 0.18, "load_friction_external": 0.06,
        "load_friction_motor_stribeck": 0.02, "load_friction_external_stribeck": 0.12,
    }  # fmt: skip
    return {
        "m1": p(0.10, 0.15),
        "m2": p(0.10, 0.10, **stribeck),
        "m3": p(0.10, 0.10, load_friction_base=0.12),
        "m4": p(0.10, 0.05, **stribeck, load_friction_base=0.08, load_friction_stribeck=0.12),
        "m5": p(0.10, 0.05, **stribeck, **load),
        "m6": p(
            0.10, 0.05, **stribeck, **load,
            load_friction_motor_quad=0.15, load_friction_external_quad=0.2,
        ),
    }  # fmt: skip


def bench_spec(kp: float) -> mujoco.MjSpec:
    """The bench without friction."""
    return mujoco.MjSpec.from_string(BENCH.format(kp=kp))


def record(
    friction: FrictionParameters, seeds: Sequence[int], *, duration: float = 4.0
) -> list[ModelSequences]:
    """Recordings of the bench, half of them with each gain.

    Args:
      friction: The gear's.
      seeds: One recording each: its command and its noise.
      duration: Of each, s.
    """
    sets = []
    for k, kp in enumerate(GAINS):
        spec = bench_spec(kp)
        true = spec.copy()
        apply_friction_to_spec(true, "gear", friction)
        model = true.compile()
        runs = [_run(model, seed, duration) for seed in seeds[k :: len(GAINS)]]
        if runs:
            names = [f"kp{kp:g}_{seed}" for seed in seeds[k :: len(GAINS)]]
            starts = [create_initial_state(model, 0.0, 0.0) for _ in runs]
            sets.append(
                ModelSequences(
                    f"kp{kp:g}", spec, names, starts, [r[0] for r in runs], [r[1] for r in runs]
                )
            )
    return sets


def command(seed: int, times: np.ndarray) -> np.ndarray:
    """Moves and holds, and slow and fast sines, up to 2 rad from hanging; smooth throughout."""
    rng = np.random.default_rng(seed)
    ends = np.cumsum(rng.uniform(0.4, 1.2, 40))
    levels = np.concatenate([[0.0], rng.uniform(-1.2, 1.2, 40)])
    k = np.minimum(np.searchsorted(ends, times, side="right"), 40)
    since = np.clip((times - np.concatenate([[0.0], ends])[k]) / 0.15, 0.0, 1.0)
    before = levels[np.maximum(k - 1, 0)]
    moves = before + (levels[k] - before) * 0.5 * (1.0 - np.cos(np.pi * since))
    wave = sum(
        rng.uniform(0.1, 0.4) * np.sin(2 * np.pi * f * times + rng.uniform(0, 6))
        for f in (0.25, 0.7, 1.6)
    )
    begin = 0.5 * (1.0 - np.cos(np.pi * np.minimum(times / 0.5, 1.0)))  # from rest
    return np.asarray(begin * (moves + wave))


def _run(model: mujoco.MjModel, seed: int, duration: float) -> tuple[TimeSeries, TimeSeries]:
    """The command, and the angle with noise."""
    h = model.opt.timestep
    times = h * np.arange(int(duration / h))
    control = command(seed, times)
    # What a step holds is the mean of the command, linear between samples, around its instant.
    before, after = np.append(control[0], control[:-1]), np.append(control[1:], control[-1])
    held = 0.75 * control + 0.125 * (before + after)
    data = mujoco.MjData(model)
    angles = np.empty(times.size)
    with friction_callback():
        for k, value in enumerate(held):
            data.ctrl[0] = value
            angles[k] = data.qpos[0]
            mujoco.mj_step(model, data)
    stamps = np.arange(0.0, times[-1], 1.0 / RATE)
    noise = np.random.default_rng([seed, 1]).normal(0.0, NOISE, stamps.size)
    measured = np.interp(stamps, times, angles) + noise
    return (
        TimeSeries.from_control_names(times, control[:, None], model, ["servo"]),
        TimeSeries.from_names(stamps, measured[:, None], model, ["angle"]),
    )


def parameters(model: str, **frozen: float) -> ParameterDict:
    """What a friction model asks for, and the armature.

    Args:
      model: m1 to m6.
      **frozen: Values that are known.
    """
    params = ParameterDict()
    params.add(_parameter("armature", 0.02, 0.0, 0.1, frozen))
    for name in MODELS[model]:
        known = COEFFICIENTS[name]
        params.add(_parameter(name, known.initial, known.lower, known.upper, frozen))
    return params


def _parameter(
    name: str, start: float, lower: float, upper: float, frozen: dict[str, float]
) -> Parameter:
    modifier = AttributeModifier("joint", "gear", name)
    return Parameter(
        name, frozen.get(name, start), lower, upper, frozen=name in frozen, modifier=modifier
    )
