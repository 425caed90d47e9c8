# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Kinematic trees on which measured torques act, and the rows on which every force is known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import mujoco
import numpy as np

from sysid_ros.diagnosis.evidence import Recorded
from sysid_ros.diagnosis.fits import ancestors
from sysid_ros.engine.elements import FREE, joint_of, n_actuators


@dataclass(frozen=True)
class Tree:
    """A kinematic tree, as a leg on a trunk that stands still: what moves it moves no other."""

    dofs: tuple[int, ...]  # its degrees of freedom
    rows: tuple[int, ...]  # places of those among the rows on which every force is known
    labels: frozenset[str]  # signals that tell its positions and torques
    floats: bool  # whether it has a free base


def known_rows(recorded: Recorded) -> list[int]:
    """Degrees of freedom on which every force is known."""
    model = recorded.model
    unknown = [
        actuator for actuator in range(n_actuators(model)) if actuator not in recorded.efforts
    ]
    hidden = {dof for actuator in unknown for dof in moved_by(recorded, actuator)}
    return [dof for dof in range(model.nv) if dof not in hidden]


def moved_by(recorded: Recorded, actuator: int) -> list[int]:
    """Degrees of freedom that an actuator acts on; none where that is not known."""
    model, joint = recorded.model, recorded.joint_of(actuator)
    if joint_of(model, actuator) is not None:
        return [int(model.jnt_dofadr[joint])]
    if actuator not in recorded.efforts:
        return []
    return ancestors(model, int(model.site_bodyid[model.actuator_trnid[actuator, 0]]))


def trees_of(recorded: Recorded, rows: Sequence[int]) -> tuple[Tree, ...]:
    """The kinematic trees on which some force is known."""
    model, found = recorded.model, []
    for tree in range(model.ntree):
        dofs = np.flatnonzero(model.dof_treeid == tree).tolist()
        joints = {int(model.dof_jntid[dof]) for dof in dofs}
        positions = {label for joint, label in recorded.positions.items() if joint in joints}
        floats = bool(joints & {*recorded.poses})
        torques = {one for a, one in recorded.efforts.items() if recorded.joint_of(a) in joints}
        own = tuple(place for place, dof in enumerate(rows) if dof in dofs)
        if own and (torques or not floats):
            found.append(Tree(tuple(dofs), own, frozenset(positions | torques), floats))
    return tuple(found)


def pushed_forces(model: mujoco.MjModel, rows: Sequence[int]) -> list[list[int]]:
    """Places of the three forces on each free body among the degrees of freedom tested."""
    found: dict[int, list[int]] = {}
    for place, dof in enumerate(rows):
        joint = int(model.dof_jntid[dof])
        if int(model.jnt_type[joint]) == FREE and dof - int(model.jnt_dofadr[joint]) < 3:
            found.setdefault(joint, []).append(place)
    return list(found.values())
