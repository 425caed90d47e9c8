# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The motion that would determine what torque leaves open."""

from __future__ import annotations

import mujoco
import numpy as np

from sysid_ros.engine.elements import INERTIAL, joints_above
from sysid_ros.engine.inverse_dynamics import InverseDynamicsFit
from sysid_ros.engine.regressor import DELAY

_POOR = 30.0  # relative standard error in percent, above which a base parameter is open
_MOST = 6  # sentences

_MOTIONS = {
    "gravity": "hold {body} in more poses that gravity pulls at differently (a wider range of "
    "{joints})",
    "inertia": "accelerate {joints} more strongly and in both directions",
    "damping": "move {joints} at several constant speeds, slow and fast",
    "frictionloss": "reverse {joints} slowly and often",
    "offset": "move {joints} through the same poses in both directions",
    "stiffness": "move {joints} over a wider range",
}
_KINDS = {"mx": "gravity", "my": "gravity", "mz": "gravity", "m": "gravity",
          "armature": "inertia"}  # fmt: skip


def advice(model: mujoco.MjModel, fit: InverseDynamicsFit) -> tuple[str, ...]:
    """Sentences on what to record, for base parameters that are poorly determined."""
    wanted: dict[tuple[str, str], list[str]] = {}
    matrix = fit.free.matrix[fit.free.conditions[0]]
    for kept, name, relative in zip(
        fit.base.kept, fit.base.names, fit.base.relative_errors, strict=True
    ):
        if relative <= _POOR:
            continue
        column = int(np.flatnonzero(matrix[:, kept])[0])
        kind = fit.free.columns.kinds[column].removeprefix("tendon_")
        if kind == DELAY:
            continue
        motion = _KINDS.get(kind, "inertia" if kind.startswith("I") else kind.rstrip("23"))
        place = _place(model, fit, column)
        wanted.setdefault((motion, place), []).append(name.split(" ")[0])
    said = []
    for (motion, place), names in wanted.items():
        body, _, joints = place.partition("/")
        what = _MOTIONS.get(motion, _MOTIONS["inertia"]).format(body=body, joints=joints or body)
        said.append(f"{', '.join(names[:4])}{', ...' if len(names) > 4 else ''}: {what}.")
    return tuple(said[:_MOST])


def _place(model: mujoco.MjModel, fit: InverseDynamicsFit, column: int) -> str:
    """The body and the joints that a column belongs to, as "body/joint"."""
    kind, owner = fit.free.columns.kinds[column], fit.free.columns.owners[column]
    if kind.startswith("tendon"):
        return str(model.tendon(owner).name)
    if kind == "offset":
        joint = int(model.dof_jntid[owner])
        return f"{model.joint(joint).name}/{model.joint(joint).name}"
    if (owner, "m") not in fit.free.columns.place or kind not in INERTIAL:
        return f"{model.joint(owner).name}/{model.joint(owner).name}"
    joints = [str(model.joint(joint).name) for joint in joints_above(model, owner)[:2]]
    return f"{model.body(owner).name}/{' and '.join(joints)}"
