# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Proposals for robots whose joint torque is measured: inverse dynamics instead of simulation."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from pathlib import Path
from typing import Any

import mujoco
import numpy as np

from sysid_ros.dataset import Dataset
from sysid_ros.diagnosis import Finding, not_tested, silent_joints, with_contradictions
from sysid_ros.diagnosis import recorded as motion_of
from sysid_ros.engine.elements import FREE, joints_above
from sysid_ros.engine.measured_torque import (
    Coupling,
    TorqueProblem,
    found_couplings,
    torque_problem,
)
from sysid_ros.errors import SysidError
from sysid_ros.experiment import Experiment, parse_experiment
from sysid_ros.proposal.experiment_text import Draft
from sysid_ros.proposal.set_points import drives_once_sampled
from sysid_ros.proposal.signals import Line, Mapping, RecordedSignals
from sysid_ros.robots import build_parameters

_MOST = 0.6  # of the joints with a position, whose torque must be known
_JOINT_ATTRIBUTES = ("armature", "damping", "frictionloss")
_LEAST = 0.1  # of the mass of all that moves as one, that a body of its own inertia has


def torque_is_measured(model: mujoco.MjModel, mapping: Mapping) -> bool:
    """True where torque of most joints is measured and no reference of a controller is known.

    A simulation driven by measured torque drifts from what was measured; regression does not. A
    robot with a free base is left to simulation: forces from the floor are in no torque.
    """
    inputs = [line for line in mapping.lines if line.input]
    if any(line.channel.command for line in inputs):
        return False
    if np.any(model.jnt_type == FREE):
        return False
    known = _known(model, mapping)
    return len(mapping.joints) > 1 and len(known) >= max(1.0, _MOST * len(mapping.joints))


def fitted_to_torque(
    draft: Draft,
    dataset: Dataset,
    recorded: RecordedSignals,
    findings: tuple[Finding, ...],
    output: Path,
    on_stage: Callable[[str], None],
) -> tuple[Draft, tuple[Finding, ...]]:
    """The proposal of a fit to measured torque, and the findings with what torque contradicts.

    Args:
      draft: The proposal without parameters.
      dataset: Its recordings.
      recorded: What they have.
      findings: What was found before.
      output: Where the file will be.
      on_stage: Told which joints' torque says nothing.
    """
    compiled, mapping = recorded.spec.copy().compile(), recorded.mapping
    silent = left_out_joints(dataset, on_stage)
    drives = drives_once_sampled(_lines(compiled, mapping), recorded.channels)
    draft = replace(draft, torque=torque_parameters(compiled, mapping, silent), drives=drives)
    experiment = parse_experiment(draft.text(), path=output)
    problem = read_torque(experiment, dataset)
    draft = replace(draft, couplings=coupled_joints(problem, silent))
    return draft, with_contradictions(experiment, dataset, findings, problem=problem)


def left_out_joints(dataset: Dataset, on_note: Callable[[str], None]) -> frozenset[int]:
    """Joints whose torque is below its noise, by their numbers in the model.

    Args:
      dataset: The recordings.
      on_note: Told which, if any.
    """
    motion = motion_of(dataset.training)
    if note := not_tested(motion):
        on_note(note)
    return silent_joints(motion)


def torque_parameters(
    model: mujoco.MjModel, mapping: Mapping, silent: Collection[int]
) -> tuple[dict[str, Any], ...]:
    """Entries of ``parameters``: the whole inertia of bodies, and what joints add to it.

    Of bodies that move as one, torque tells the sum: light ones (frames, fingers, a camera) keep
    what the model says.

    Args:
      model: The compiled model.
      mapping: Whose joints are measured.
      silent: Joints whose torque says nothing, by their numbers in the model.
    """
    found: list[dict[str, Any]] = []
    heard = {*mapping.joints} - {str(model.joint(joint).name) for joint in silent}
    known = _known(model, mapping) & heard
    moved = [_moved_by(model, body, heard) for body in range(model.nbody)]
    whole = np.bincount(moved, model.body_mass, model.nbody)
    for body in range(1, model.nbody):
        name = str(model.body(body).name)
        moments = np.sort(np.asarray(model.body_inertia[body]))
        solid = moments[0] > 0.0 and moments[2] < moments[0] + moments[1]
        heavy = model.body_mass[body] >= _LEAST * whole[moved[body]]
        if name and solid and heavy and known & _above(model, body):
            found.append({"body": name, "inertia": "pseudo"})
    for joint in mapping.joints:
        if joint in known:
            found.append({"joint": joint, **dict.fromkeys(_JOINT_ATTRIBUTES)})
            if np.any(model.jnt_stiffness[model.joint(joint).id]):
                found[-1] |= {"stiffness": None, "springref": None}
    return tuple(found)


def read_torque(experiment: Experiment, dataset: Dataset) -> TorqueProblem | None:
    """The recordings for inverse dynamics; ``None`` where they cannot be read so."""
    groups = dataset.training[:1]
    try:
        params = build_parameters(experiment, groups[0].spec)
        return torque_problem(groups, params)
    except SysidError:
        return None


def coupled_joints(problem: TorqueProblem | None, silent: Collection[int]) -> tuple[Coupling, ...]:
    """Motors of the recordings that turn with two joints; none where it cannot be told.

    Args:
      problem: From :func:`read_torque`.
      silent: Joints whose torque says nothing, by their numbers in the model.
    """
    try:
        return () if problem is None else found_couplings(problem.without(silent))
    except SysidError:
        return ()


def _known(model: mujoco.MjModel, mapping: Mapping) -> set[str]:
    """Joints of which both position and torque are measured."""
    return {_joint(model, line) for line in _efforts(mapping)} & set(mapping.joints)


def _efforts(mapping: Mapping) -> list[Line]:
    """Lines of measured efforts."""
    told = [line for line in mapping.lines if line.channel.quantity == "effort"]
    return [line for line in told if not line.channel.command]


def _lines(model: mujoco.MjModel, mapping: Mapping) -> dict[str, tuple[Line, Line]]:
    """Lines of position and of torque by joint."""
    placed = {_joint(model, line): line for line in mapping.lines if _tells_joint(model, line)}
    efforts = {_joint(model, line): line for line in _efforts(mapping)}
    return {name: (placed[name], line) for name, line in efforts.items() if name in placed}


def _tells_joint(model: mujoco.MjModel, line: Line) -> bool:
    """Tell whether a line is the position of a hinge or slide."""
    if line.placed:
        return line.placed[0] == "jointpos"
    if line.kind == "qpos":
        return True
    jointpos = mujoco.mjtSensor.mjSENS_JOINTPOS
    return line.kind == "sensor" and model.sensor(line.name).type.item() == int(jointpos)


def _joint(model: mujoco.MjModel, line: Line) -> str:
    if line.placed:
        return line.placed[1]
    if line.kind in ("effort", "qpos"):
        return line.name
    if line.kind == "sensor":
        return str(model.joint(int(model.sensor(line.name).objid[0])).name)
    return str(model.joint(int(model.actuator(line.name).trnid[0])).name)


def _moved_by(model: mujoco.MjModel, body: int, joints: Collection[str]) -> int:
    """The nearest body towards the root that one of the joints moves; 0 for none."""
    above = joints_above(model, body)
    return next((int(model.jnt_bodyid[j]) for j in above if model.joint(j).name in joints), 0)


def _above(model: mujoco.MjModel, body: int) -> set[str]:
    """Joints that move a body."""
    return {str(model.joint(joint).name) for joint in joints_above(model, body)}
