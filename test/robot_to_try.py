# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A robot to try: its model, which recordings are made of it, and which values are hidden."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import mujoco
import numpy as np

from sysid_ros.engine.elements.joint_scales import joint_scales
from sysid_ros.rehearsal import (
    Controller,
    JointStates,
    Motion,
    Reading,
    RecordingPlan,
    Timing,
    TrueParameter,
)

DELAY = 0.008  # s
ENCODER = JointStates(
    position=Reading(noise=5e-5, quantum=1e-4), timing=Timing(rate=200.0, jitter=2e-4)
)


@dataclass(frozen=True)
class Robot:
    """A robot to try: its model, which recordings are made of it, and which values are hidden."""

    name: str
    model: Callable[[], mujoco.MjSpec]
    plan: RecordingPlan
    file: Path | None = None  # what its user has; the model as generated from if left out
    urdf: str = ""


def of_text(model: str) -> Callable[[], mujoco.MjSpec]:
    """A model's maker from its text."""
    return partial(mujoco.MjSpec.from_string, model)


def true_joint(joint: str, **values: float) -> tuple[TrueParameter, ...]:
    """Hidden values of a joint, by attribute."""
    return tuple(TrueParameter("joint", joint, name, value) for name, value in values.items())


# The truth's time step is the model's: what a longer step does to intervals is told elsewhere.
ARM_PLAN = RecordingPlan(
    controllers=(Controller(delay=DELAY),), sensors=(ENCODER,), duration=12.0, timestep=5e-4,
    motion=Motion(reach=0.7, speed=5.0, acceleration=60.0, highest=2.5),
)  # fmt: skip


PLAN = RecordingPlan(controllers=(Controller(delay=DELAY),), sensors=(ENCODER,), duration=20.0)
TORQUES = replace(
    PLAN, rate=200.0,
    sensors=(replace(ENCODER, velocity=Reading(noise=2e-3), effort=Reading(noise=0.02)),),
    controllers=(Controller(topic="/effort_controller/commands", delay=0.002),),
)  # fmt: skip


def hidden(model: mujoco.MjModel, seed: int) -> tuple[TrueParameter, ...]:
    """Friction, damping and armature of every driven joint, off from the model's."""
    random = np.random.default_rng(seed)
    scales = joint_scales(model)
    found = []
    for joint in sorted(driven(model)):
        name, freedom = str(model.joint(joint).name), int(model.jnt_dofadr[joint])
        for attribute, table in (
            ("frictionloss", model.dof_frictionloss),
            ("damping", model.dof_damping),
            ("armature", model.dof_armature),
        ):
            nominal = float(np.ravel(table[freedom])[0])
            usual = nominal if nominal > 0.0 else scales[name].typical(attribute)
            value = usual * random.uniform(0.6, 1.6)
            found.append(TrueParameter("joint", name, attribute, float(value)))
    return tuple(found)


def driven(model: mujoco.MjModel) -> set[int]:
    """Joints with an actuator of their own; all of them in a model without actuators."""
    kind = int(mujoco.mjtTrn.mjTRN_JOINT)
    joints = {
        int(model.actuator_trnid[a, 0])
        for a in range(model.nu)
        if int(model.actuator_trntype[a]) == kind
    }
    return joints if model.nu else set(range(model.njnt))
