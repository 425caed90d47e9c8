# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Actuators with what their commands may be called and be."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import mujoco
import numpy as np

from sysid_ros.engine.elements import (
    is_effort,
    is_servo,
    joint_of,
    joints_of_tendon,
    n_actuators,
    takes_velocity,
)


@dataclass(frozen=True)
class Drive:
    """An actuator, with what its command may be called and be."""

    actuator: int  # its number
    name: str
    names: tuple[str, ...]  # its own name and that of what it moves
    quantity: str  # position, velocity or effort; empty where the model does not say
    # whether its force acts at a site, as a rotor's, which may be told by how fast that turns
    thrusts: bool = False


def drives_of(model: mujoco.MjModel) -> list[Drive]:
    """Every actuator that has a name, whatever it acts on."""
    found = []
    for actuator in range(n_actuators(model)):
        name = str(model.actuator(actuator).name)
        if name:
            names = tuple(dict.fromkeys([name, *_targets(model, actuator)]))
            thrusts = int(model.actuator_trntype[actuator]) == int(mujoco.mjtTrn.mjTRN_SITE)
            found.append(Drive(actuator, name, names, _quantity(model, actuator), thrusts))
    return found


def moved_by(model: mujoco.MjModel, actuator: int) -> set[str]:
    """Names of the joints that an actuator moves by itself or by a fixed tendon."""
    joint = joint_of(model, actuator)
    if joint is not None:
        return {str(model.joint(joint).name)}
    if int(model.actuator_trntype[actuator]) != int(mujoco.mjtTrn.mjTRN_TENDON):
        return set()
    tendon = int(model.actuator_trnid[actuator, 0])
    return {str(model.joint(joint).name) for joint in joints_of_tendon(model, tendon)}


def driven_joints(model: mujoco.MjModel) -> set[str]:
    """Names of the joints with an actuator; all where some actuator acts in another way."""
    moved = [moved_by(model, actuator) for actuator in range(n_actuators(model))]
    if moved and all(moved):
        return set().union(*moved)
    return {str(model.joint(joint).name) for joint in range(model.njnt)}


def tied_joints(model: mujoco.MjModel, joints: Collection[str]) -> dict[str, str]:
    """Those of some joints that equalities move with another one of them, and which that is.

    What is in one of them acts on the others as well, so that one stands for all: the one that has
    an actuator of its own, else the first.
    """
    groups: list[set[int]] = []
    for equality in range(model.neq):
        first, other = int(model.eq_obj1id[equality]), int(model.eq_obj2id[equality])
        is_tie = int(model.eq_type[equality]) == int(mujoco.mjtEq.mjEQ_JOINT) and other >= 0
        if is_tie and model.eq_active0[equality]:
            met = [group for group in groups if group & {first, other}]
            groups = [group for group in groups if group not in met]
            groups.append({first, other}.union(*met))
    own = {joint_of(model, actuator) for actuator in range(n_actuators(model))}
    found: dict[str, str] = {}
    for group in groups:
        ranked = sorted(group, key=lambda joint: (joint not in own, joint))
        names = [name for joint in ranked if (name := str(model.joint(joint).name)) in joints]
        found.update((name, names[0]) for name in names[1:])
    return found


def _targets(model: mujoco.MjModel, actuator: int) -> list[str]:
    """Names of what an actuator acts on."""
    kind, target = int(model.actuator_trntype[actuator]), int(model.actuator_trnid[actuator, 0])
    if target < 0:
        return []
    types = {
        int(mujoco.mjtTrn.mjTRN_JOINT): model.joint,
        int(mujoco.mjtTrn.mjTRN_JOINTINPARENT): model.joint,
        int(mujoco.mjtTrn.mjTRN_TENDON): model.tendon,
        int(mujoco.mjtTrn.mjTRN_SITE): model.site,
        int(mujoco.mjtTrn.mjTRN_SLIDERCRANK): model.site,
        int(mujoco.mjtTrn.mjTRN_BODY): model.body,
    }
    found = [str(types[kind](target).name)] if kind in types else []
    if kind == int(mujoco.mjtTrn.mjTRN_TENDON):
        found += [str(model.joint(joint).name) for joint in joints_of_tendon(model, target)]
    return [name for name in found if name]


def _quantity(model: mujoco.MjModel, actuator: int) -> str:
    if is_effort(model, actuator):
        return "effort"
    if is_servo(model, actuator):
        return "position"
    return "velocity" if takes_velocity(model, actuator) else ""


def undriven(spec: mujoco.MjSpec, joints: Sequence[str], driven: Collection[str]) -> list[str]:
    """Sentences about joints without an input that have drives, as their limits of effort say.

    Args:
      spec: The model.
      joints: Names of those that are measured and move.
      driven: Names of those that have an input; what mimics another is driven as that is.
    """
    tied = {one.name1 for one in spec.equalities}
    limited = {one.name for one in spec.joints if one.actfrclimited and np.ptp(one.actfrcrange)}
    return [
        f"joint {name!r} moves, has a limit of effort and no input, so that it is simulated as if "
        "nothing drove it; map what it was told, or leave its line out"
        for name in joints
        if name in limited and name not in driven and name not in tied
    ]
