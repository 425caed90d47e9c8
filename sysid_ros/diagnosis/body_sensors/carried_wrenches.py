# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Wrenches that are mapped as acting from outside, and tell the weight of the model's own tool.

A force-torque sensor in the wrist shows what it carries, whether anything is touched or not. As a
known external force that counts twice, as the model has the tool already; or is undone, where the
sensor tells what holds the tool rather than what the tool does.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import mujoco
import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.diagnosis.body_sensors.kinematic_sensors import smooth_motion
from sysid_ros.diagnosis.evidence import (
    ExperimentLines,
    Finding,
    FindingKind,
    Recorded,
    Samples,
    percent,
)
from sysid_ros.engine.elements import bodies_above, joints_above
from sysid_ros.engine.signals import wrench_inputs

_MOST = 0.5  # of the power that the force changes by
_ALIKE = 2.0  # times the mass that the model has there, or its reciprocal: what the sensor carries


@dataclass(frozen=True)
class Carried:
    """A load that moves with the site of a wrench, as the wrench shows it."""

    site: str
    mass: float  # kg; below zero where the sensor tells what the load does to the robot
    modelled: float  # kg, of the bodies beyond the site's own
    share: float  # of the power that the force changes by, that the load explains


def carried_findings(recorded: Recorded, lines: ExperimentLines) -> list[Finding]:
    """One finding for each wrench that tells of the tool that the model has."""
    return [
        Finding(
            FindingKind.CARRIED,
            (one.site,),
            {"mass": abs(one.mass), "modelled": one.modelled, "share": one.share},
            f"The wrench at {one.site!r} tells what the site carries, not what acts from outside: "
            f"{percent(one.share)} of the power that its force changes by is that of "
            f"{abs(one.mass):.3g} kg that move with it, and the model has {one.modelled:.3g} kg "
            "there, which count twice or are undone. Leave it out, or give the model a force "
            "sensor where it is; keep it if the driver takes the tool's weight out and that is of "
            "something else.",
            lines.removed(wrench_inputs(one.site)[0]).text,
            (),
        )
        for one in carried_loads(recorded)
    ]


def carried_loads(recorded: Recorded) -> Iterator[Carried]:
    """The wrenches of which most is a load about as heavy as what the model has beyond the site."""
    model = recorded.model
    for site in range(model.nsite):
        name, body = str(model.site(site).name), int(model.site_bodyid[site])
        told = [one for one in recorded.recordings if set(wrench_inputs(name)) <= one.keys()]
        beyond = [b for b in range(model.nbody) if b != body and body in bodies_above(model, b)]
        modelled = float(np.sum(np.asarray(model.body_mass)[beyond]))
        if not name or not told or not modelled:
            continue
        rows = [_rows(recorded, number, site) for number in range(len(recorded.recordings))]
        found = [one for one in rows if one is not None]
        if not found:
            continue
        table, force = (np.concatenate(parts) for parts in zip(*found, strict=True))
        table, force = table - table.mean(axis=0), force - force.mean(axis=0)  # nobody zeroed it
        mass, power = _load(table, force)
        share = power / max(float(np.sum(force**2)), 1e-300)
        if share > _MOST and modelled / _ALIKE < abs(mass) < modelled * _ALIKE:
            yield Carried(name, mass, modelled, share)


def _load(table: FloatArray, force: FloatArray) -> tuple[float, float]:
    """Least squares: the mass, and how much of the force's power the load explains."""
    columns = table.transpose(0, 2, 1).reshape(-1, table.shape[1])
    solution = np.linalg.lstsq(columns, force.ravel(), rcond=None)[0]
    left = force.ravel() - columns @ solution
    return float(solution[0]), float(np.sum(force**2) - np.sum(left**2))


def _rows(recorded: Recorded, number: int, site: int) -> tuple[FloatArray, FloatArray] | None:
    """The force at a site (n, 3), and what it is by mass and first moments of a load (n, 4, 3)."""
    model, signals = recorded.model, recorded.recordings[number]
    names = wrench_inputs(str(model.site(site).name))[:3]
    if not set(names) <= signals.keys():
        return None
    axes = [signals[name] for name in names]
    force = Samples(axes[0].times, np.stack([one.at(axes[0].times) for one in axes], axis=1))
    joints = joints_above(model, int(model.site_bodyid[site]))
    motion = smooth_motion(recorded, number, joints, [force])
    if motion is None:
        return None
    count = len(motion.times)
    twists, changes = np.empty((2, count, 6))  # of rotation and of translation, in the site's axes
    kind = int(mujoco.mjtObj.mjOBJ_SITE)
    for i, data in enumerate(motion.states(model)):
        mujoco.mj_rnePostConstraint(model, data)
        mujoco.mj_objectVelocity(model, data, kind, site, twists[i], 1)
        mujoco.mj_objectAcceleration(model, data, kind, site, changes[i], 1)
    turns, table = twists[:, :3], np.empty((count, 4, 3))
    table[:, 0] = changes[:, 3:]  # gravity among it
    for axis, arm in enumerate(np.eye(3)):
        swung = np.cross(turns, np.cross(turns, arm))
        table[:, 1 + axis] = np.cross(changes[:, :3], arm) + swung
    return table[motion.inside], motion.others[0][motion.inside]
