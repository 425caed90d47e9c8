# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The parameters that recordings determine, and the bounds to look for them in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import mujoco
import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.dataset import Dataset
from sysid_ros.diagnosis import is_servo
from sysid_ros.engine.attributes import lookup
from sysid_ros.engine.least_squares import eliminate_starts, loss_named
from sysid_ros.engine.problem import WindowedProblem
from sysid_ros.engine.simulation import RolloutPool, single_blas_thread
from sysid_ros.engine.uncertainty import bounds_width, first_noise
from sysid_ros.engine.windows import model_group
from sysid_ros.errors import SysidError
from sysid_ros.experiment import Experiment
from sysid_ros.robots import build_parameters

_JOINT_ATTRIBUTES = ("frictionloss", "damping", "armature")
_SERVO_ATTRIBUTES = ("kp", "kv", "force_limit", "time_constant")
_NEVER_ZERO = 0.02  # of the upper bound, where a search starts that the model starts at zero
_DETERMINED = 0.1  # standard error over the width of the bounds, at most
_OWN_SHARE = 0.02  # of a parameter's effect that no parameter before it has, at the least


@dataclass(frozen=True)
class Candidate:
    """A parameter that may be proposed.

    Attributes:
      element: joint, body, actuator or signal.
      name: Of the element.
      attribute: Of the element.
      initial: Where to start; ``None`` for the model's value.
      low: Lower bound.
      high: Upper bound.
      doubt: What a person should check; empty where nothing.
    """

    element: str
    name: str
    attribute: str
    initial: float | None
    low: float
    high: float
    doubt: str = ""

    def settings(self) -> dict[str, float]:
        """As in an experiment file."""
        start = {} if self.initial is None else {"initial": self.initial}
        return {**start, "min": self.low, "max": self.high}


def candidates(
    spec: mujoco.MjSpec,
    joints: Sequence[str],
    inputs: Mapping[str, bool],
    sensors: Mapping[str, str],
    *,
    free: bool = False,
) -> list[Candidate]:
    """Everything worth identifying, what matters most first.

    Args:
      spec: The model.
      joints: The joints whose positions are measured.
      inputs: The mapped inputs with whether they are commands (held) rather than measured.
      sensors: The label of each servo's measured position by the actuator's name.
      free: Whether the poses of free bodies are measured.
    """
    model = spec.copy().compile()
    servos = [
        name
        for name in inputs
        if (a := mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_ACTUATOR, name)) >= 0
        and is_servo(model, a)
    ]
    found = [
        _from_table(spec, "joint", joint, attribute)
        for attribute in _JOINT_ATTRIBUTES
        for joint in joints
    ]
    found += [
        _from_table(spec, "actuator", name, attribute)
        for attribute in _SERVO_ATTRIBUTES
        for name in servos
    ]
    found += [
        Candidate("signal", name, "delay", 0.01, 0.0, 0.1) for name, held in inputs.items() if held
    ]
    for name in servos:
        if name in sensors:
            doubt = "the zero of the sensor against that of the servo"
            found.append(Candidate("signal", sensors[name], "bias", None, -0.2, 0.2, doubt))
    if not servos:
        found += _masses(model, joints, free)
        found += [
            Candidate("signal", name, "gain", None, 0.5, 2.0, "the torque's scale")
            for name in list(inputs)[1:]
        ]
    return [candidate for candidate in found if candidate is not None]


def _from_table(spec: mujoco.MjSpec, element: str, name: str, attribute: str) -> Candidate | None:
    """A candidate with the attribute's own bounds; none where the model has no such thing."""
    row = lookup(element, attribute)
    try:
        nominal = row.read(spec, name)
    except SysidError:
        return None
    low, high = row.bounds(nominal)
    value = float(nominal[0])
    most = float(high[0])
    if element == "joint":
        most = _moderate(row.name, value, most)
    start = None if value > 0.0 else _round(_NEVER_ZERO * most)
    return Candidate(element, name, attribute, start, _round(float(low[0])), _round(most))


def _moderate(attribute: str, nominal: float, default: float) -> float:
    """An upper bound at most fifty times a nominal value that the model gives."""
    least = {"armature": 0.05, "damping": 0.5, "frictionloss": 0.5}[attribute]
    return default if nominal <= 0.0 else min(default, max(50.0 * nominal, least))


def _masses(model: mujoco.MjModel, joints: Sequence[str], free: bool) -> list[Candidate]:
    """Mass and the main coordinate of the centre of mass of every moving body, tip first."""
    found: list[Candidate | None] = []
    for body in range(model.nbody - 1, 0, -1):
        name = str(model.body(body).name)
        moved = model.body_weldid[body] != 0 and model.body_mass[body] > 0.0
        if not name or not moved or not _moved_by(model, body, joints, free):
            continue
        mass = float(model.body_mass[body])
        found.append(Candidate("body", name, "mass", None, _round(0.2 * mass), _round(4.0 * mass)))
        axis = int(np.argmax(np.abs(model.body_ipos[body])))
        centre = float(model.body_ipos[body, axis])
        if abs(centre) > 1e-3:
            low, high = sorted((0.2 * centre, 2.0 * centre))
            attribute = f"com_{'xyz'[axis]}"
            found.append(Candidate("body", name, attribute, None, _round(low), _round(high)))
    return [candidate for candidate in found if candidate is not None]


def _moved_by(model: mujoco.MjModel, body: int, joints: Sequence[str], free: bool) -> bool:
    while body:
        first = int(model.body_jntadr[body])
        for joint in range(first, first + int(model.body_jntnum[body])):
            floats = int(model.jnt_type[joint]) == int(mujoco.mjtJoint.mjJNT_FREE)
            if model.joint(joint).name in joints or (floats and free):
                return True
        body = int(model.body_parentid[body])
    return False


def determined(
    experiment: Experiment, dataset: Dataset, offered: Sequence[Candidate], window: float | None
) -> list[bool]:
    """Choose those of some parameters that the recordings determine, given those before.

    The information at the model's own values, from the same windows and sensors as a fit, is taken
    parameter by parameter: one is kept if what it does to the signals is its own and large beside
    a tenth of the signals' spread.

    Args:
      experiment: Has the candidates as its parameters, one scalar each, in order.
      dataset: Its recordings.
      offered: The candidates.
      window: Length of windows [s].

    Returns:
      One answer per candidate; all true where the nominal model cannot be simulated.
    """
    params = build_parameters(experiment, dataset.training.groups[0].spec)
    with RolloutPool(None) as rollouts, single_blas_thread():
        groups = [
            model_group(
                group,
                params,
                window_length=window,
                estimate_starts=True,
                velocity_filter=experiment.initial_state.velocity_filter,
                gaps=dataset.training.excluded,
            )
            for group in dataset.training.groups
        ]
        problem = WindowedProblem(
            groups, params, rollouts, loss=loss_named("linear"), noise=first_noise(groups, {})
        )
        system = eliminate_starts(problem.linearize(problem.initial_point()))
    width = bounds_width(problem)
    information = system.hessian * np.outer(width, width)
    if not np.all(np.isfinite(information)) or len(information) != len(offered):
        return [True] * len(offered)
    return _forward(information)


def _forward(information: FloatArray) -> list[bool]:
    """Keep each parameter that tells something beyond those kept before it."""
    kept: list[int] = []
    answers = []
    for i in range(len(information)):
        own = float(information[i, i])
        left = own
        if kept:
            block, cross = information[np.ix_(kept, kept)], information[kept, i]
            left -= float(cross @ np.linalg.solve(block, cross))
        good = left > _OWN_SHARE**2 * own and left > 1.0 / _DETERMINED**2
        if good:
            kept.append(i)
        answers.append(good)
    return answers


def _round(value: float) -> float:
    return float(f"{value:.3g}")
