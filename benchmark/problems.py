# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The problems, written once for both libraries, which have the same API.

Every problem is made from nothing but its name, a path for the Panda and the library's module, so
that each run can have a process of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import mujoco
import mujoco.rollout
import numpy as np

import benchmark.reference_corrections as corrections
from benchmark.models import ARM, QUADRUPED
from sysid_ros.arrays import FloatArray

Signals = Callable[[FloatArray, np.random.Generator], FloatArray]  # of times, (n, nu)

TORQUES = np.arange(5.0, 0.0, -1.0)  # of the arm, N m
FULL_PHYSICS = int(mujoco.mjtState.mjSTATE_FULLPHYSICS)


@dataclass(frozen=True)
class Problem:
    """Something to identify.

    Attributes:
      params: Where the search starts.
      sequences: The models with their recordings.
      steps: Simulation steps of all recordings.
    """

    params: Any
    sequences: list[Any]
    steps: int


Make = Callable[[Any, Path | None], Problem]


def arm(sysid: Any, _: Path | None = None) -> Problem:
    """The notebook's arm: five armatures, position noise of 0.6, its torques and its start."""
    spec = mujoco.MjSpec.from_string(ARM)
    params = sysid.ParameterDict()
    for i, truth in enumerate((0.5, 0.4, 0.3, 0.2, 0.1), start=1):
        modifier = _set("joint", f"joint{i}", "armature")
        _add(sysid, params, f"armature{i}", truth, 0.01, modifier, bounds=(0.01, 0.6))
    rates, phases = np.array([0.5, 0.7, 0.4, 0.9, 0.6]), np.arange(0.0, 2.5, 0.5)

    def torque(times: FloatArray, _: np.random.Generator) -> FloatArray:
        return TORQUES * np.sin(2.0 * np.pi * times[:, None] * rates + phases)

    return _recorded(sysid, spec, params, [2.0], noise=0.6, control=torque)


def panda(sysid: Any, path: Path | None, bodies: int) -> Problem:
    """A Panda under its servos: armature, damping, friction loss and some links' inertia.

    The servos move slowly enough to stay within their force limits, where a switch of one time step
    is a jump of the cost, and each library would stop at whichever jump it meets.
    """
    if path is None:
        raise SystemExit("the Panda problems need --panda PATH of panda_nohand.xml")
    spec = mujoco.MjSpec.from_file(str(path))
    spec.option.timestep = 0.002
    params = sysid.ParameterDict()
    for i in range(1, 8):
        joint = spec.joint(f"joint{i}")
        joint.frictionloss = 0.5
        spec.add_sensor(
            name=f"position{i}",
            type=mujoco.mjtSensor.mjSENS_JOINTPOS,
            objtype=mujoco.mjtObj.mjOBJ_JOINT,
            objname=joint.name,
        )
        for name, truth in (("armature", 0.1), ("damping", 1.0), ("frictionloss", 0.5)):
            modifier = _set("joint", joint.name, name)
            _add(sysid, params, f"{name}{i}", truth, truth * (1.3 + 0.05 * i), modifier)
    model = spec.copy().compile()
    for i in range(1, 8)[:bodies]:
        parameter = corrections.pseudo_inertia(sysid, spec.copy(), model, f"link{i}")
        parameter.value[:] = parameter.value + 0.05 * np.sin(np.arange(10) + i)
        params.add(parameter)
    home = model.key_ctrl[0]
    return _recorded(sysid, spec, params, [10.0], noise=1e-3, control=_around(home, 0.4, 0.6))


def contacts(sysid: Any, _: Path | None = None) -> Problem:
    """A quadruped that pushes against the floor: 36 parameters of its twelve joints.

    Its joints have springs instead of dry friction, its feet grip: each foot that sticks or slips
    one time step later is a jump of the cost, and each library would stop at another one.
    """
    spec = mujoco.MjSpec.from_string(QUADRUPED)
    params = sysid.ParameterDict()
    for leg in ("fl", "fr", "rl", "rr"):
        for part in ("hip", "thigh", "calf"):
            for name, truth in (("armature", 0.02), ("damping", 0.5), ("stiffness", 2.0)):
                modifier = _set("joint", f"{leg}_{part}", name)
                _add(sysid, params, f"{leg}_{part}_{name}", truth, 1.4 * truth, modifier)
    stand = spec.copy().compile().key_ctrl[0]
    return _recorded(sysid, spec, params, [1.0], noise=1e-3, control=_around(stand, 0.3, 1.5))


def arm_recordings(sysid: Any, durations: list[float]) -> Problem:
    """Recordings of the arm of these lengths [s], with its five armatures and dampings."""
    spec = mujoco.MjSpec.from_string(ARM)
    params = sysid.ParameterDict()
    for i, truth in enumerate((0.5, 0.4, 0.3, 0.2, 0.1), start=1):
        joint = f"joint{i}"
        _add(sysid, params, f"armature{i}", truth, 1.3 * truth, _set("joint", joint, "armature"))
        damping = 0.2 * (6 - i)
        _add(sysid, params, f"damping{i}", damping, 1.3 * damping, _set("joint", joint, "damping"))
    zero = np.zeros(len(TORQUES))
    return _recorded(
        sysid, spec, params, durations, noise=1e-2, control=_around(zero, TORQUES, 1.5)
    )


def sequences16(sysid: Any, _: Path | None = None) -> Problem:
    """Sixteen recordings of unequal length of the arm, with ten parameters."""
    return arm_recordings(sysid, [0.5 + 0.1 * k for k in range(16)])


def windows300(sysid: Any, _: Path | None = None) -> Problem:
    """As many recordings of 0.2 s of the arm, as windows of a long one would be."""
    return arm_recordings(sysid, [0.2] * 300)


PROBLEMS: dict[str, Make] = {
    "arm": arm,
    "panda21": lambda sysid, path: panda(sysid, path, 0),
    "panda41": lambda sysid, path: panda(sysid, path, 2),
    "panda91": lambda sysid, path: panda(sysid, path, 7),
    "contacts": contacts,
    "sequences16": sequences16,
    "windows300": windows300,
}


def _set(kind: str, name: str, attribute: str) -> Callable[[Any, Any], None]:
    """A modifier as a user of either library writes it."""

    def modify(spec: Any, parameter: Any) -> None:
        element, value = getattr(spec, kind)(name), float(parameter.value[0])
        current = getattr(element, attribute)
        if np.ndim(current):  # MuJoCo 4: linear and higher coefficients
            current[0] = value
        else:
            setattr(element, attribute, value)

    return modify


def _around(center: FloatArray, amplitude: FloatArray | float, fastest: float) -> Signals:
    """Sines around a center, each of a frequency drawn below the fastest [Hz]."""

    def signals(times: FloatArray, random: np.random.Generator) -> FloatArray:
        rates = random.uniform(0.2 * fastest, fastest, len(center))
        waves: FloatArray = center + amplitude * np.sin(2.0 * np.pi * times[:, None] * rates)
        return waves

    return signals


def _add(
    sysid: Any,
    params: Any,
    name: str,
    truth: float,
    start: float,
    modifier: Any,
    bounds: tuple[float, float] | None = None,
) -> None:
    """Add a parameter that starts away from the truth."""
    low, high = (0.05 * truth, 10.0 * truth) if bounds is None else bounds
    parameter = sysid.Parameter(
        name, nominal=truth, min_value=low, max_value=high, modifier=modifier
    )
    parameter.value[:] = start
    params.add(parameter)


def _recorded(
    sysid: Any, spec: Any, params: Any, durations: list[float], *, noise: float, control: Signals
) -> Problem:
    """Simulate recordings of the spec as it is, with noise; the spec is what both start from."""
    model = spec.copy().compile()
    names, starts, controls, measurements, steps = [], [], [], [], 0
    for k, duration in enumerate(durations):
        random = np.random.default_rng(k)
        data = mujoco.MjData(model)
        if model.nkey:
            mujoco.mj_resetDataKeyframe(model, data, 0)
        start = np.zeros(mujoco.mj_stateSize(model, FULL_PHYSICS))
        mujoco.mj_getState(model, data, start, FULL_PHYSICS)
        times = np.arange(round(duration / model.opt.timestep)) * model.opt.timestep
        told = control(times, random)
        states, sensors = mujoco.rollout.rollout(model, data, start[None], told[None, :-1])
        measured = sensors[0] + noise * random.normal(size=sensors[0].shape)
        names.append(f"recording{k}")
        starts.append(start)
        controls.append(sysid.TimeSeries(times, told))
        measurements.append(sysid.TimeSeries.from_names(states[0, :, 0], measured, model))
        steps += len(times) - 1
    sequences = sysid.ModelSequences("robot", spec, names, starts, controls, measurements)
    return Problem(params, [sequences], steps)
