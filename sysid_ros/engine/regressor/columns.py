# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The parameters in which inverse dynamics is linear: names, units and the model's own values."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

import mujoco
import numpy as np

from sysid_ros.arrays import FloatArray, IndexArray
from sysid_ros.engine.elements import INERTIAL, SCALAR, fixed_tendons, inertial_parameters
from sysid_ros.engine.friction import COEFFICIENTS, SHAPE, frictions_by_joint
from sysid_ros.engine.regressor.friction_laws import LAW_KINDS

JOINT_KINDS = ("armature", "damping", "damping2", "damping3", "frictionloss", "stiffness")
TENDON_KINDS = ("tendon_armature", "tendon_damping", "tendon_frictionloss")
DEFAULT_KINDS = ("armature", "damping", "frictionloss", "stiffness", "offset", *TENDON_KINDS)
DELAY = "delay"  # the kind of a delay of measured torque, owned by its number
_POLYNOMIAL = {"damping2": 0, "damping3": 1}
_UNITS = {
    "m": "kg", "armature": "kg m^2", "damping": "N m s", "damping2": "N m s^2",
    "damping3": "N m s^3", "frictionloss": "N m", "stiffness": "N m", "offset": "N m",
    DELAY: "s",
}  # fmt: skip


@dataclass(frozen=True)
class Columns:
    """Columns of a regressor."""

    names: tuple[str, ...]  # "link_1.Ixx", "joint_2.damping", "wrist.armature", ... (p,)
    kinds: tuple[str, ...]  # "m", "mx", ..., "Ixx", ..., "armature", ... (p,)
    # id of the body, joint, degree of freedom (offset) or tendon, number of a delay
    owners: tuple[int, ...]
    # the model's own values, (p,): kg, kg m, kg m^2, and N m per unit for hinges
    nominal: FloatArray
    place: dict[tuple[int, str], int] = field(repr=False)  # the column of an owner and a kind

    def __len__(self) -> int:
        """The number of columns p."""
        return len(self.names)

    @property
    def bodies(self) -> tuple[int, ...]:
        """Bodies whose ten inertial parameters are columns."""
        return tuple(o for o, kind in zip(self.owners, self.kinds, strict=True) if kind == "m")

    def of_body(self, body: int) -> IndexArray:
        """The ten columns of a body."""
        first = self.place[body, "m"]
        return np.arange(first, first + len(INERTIAL))

    def indices(self, names: Sequence[str]) -> IndexArray:
        """Columns by name.

        Raises:
          KeyError: A name is not among the columns.
        """
        known = {name: i for i, name in enumerate(self.names)}
        return np.array([known[name] for name in names], dtype=np.intp)

    def unit(self, column: int) -> str:
        """The unit of a column's parameter (of hinges; N in place of N m for slides)."""
        kind = self.kinds[column].removeprefix("tendon_")
        if kind in LAW_KINDS:
            return COEFFICIENTS[kind].unit
        return _UNITS.get(kind, "kg m" if kind in INERTIAL[1:4] else "kg m^2")


def columns_of(
    model: mujoco.MjModel,
    kinds: Sequence[str] = DEFAULT_KINDS,
    delays: Sequence[str] = (),
    known: Collection[int] = (),
) -> Columns:
    """Every parameter of a model that inverse dynamics is linear in.

    Args:
      model: Bodies that nothing can move are left out.
      kinds: What joints and tendons have besides the inertia of their bodies.
      delays: Names of delays of measured torque, the last columns.
      known: Bodies that have no columns.
    """
    found: list[tuple[str, str, int, float]] = []
    inertial = inertial_parameters(model)
    for body in range(1, model.nbody):
        if int(model.body_weldid[body]) != 0 and body not in known:
            name = _name(model.body(body).name, "body", body)
            found += [
                (f"{name}.{kind}", kind, body, float(value))
                for kind, value in zip(INERTIAL, inertial[body], strict=True)
            ]
    for kind in kinds:
        found += _of_joints(model, kind) if kind in JOINT_KINDS else []
        found += _of_laws(model, kind) if kind in LAW_KINDS else []
    if "offset" in kinds:
        found += [
            (f"{_dof_name(model, dof)}.offset", "offset", dof, 0.0) for dof in range(model.nv)
        ]
    for kind in kinds:
        found += _of_tendons(model, kind) if kind in TENDON_KINDS else []
    found += [(name, DELAY, number, 0.0) for number, name in enumerate(delays)]
    names, labels, owners, values = zip(*found, strict=True) if found else ((), (), (), ())
    place = {(o, k): i for i, (o, k) in enumerate(zip(owners, labels, strict=True))}
    return Columns(names, labels, owners, np.array(values, dtype=np.float64), place)


def _of_joints(model: mujoco.MjModel, kind: str) -> list[tuple[str, str, int, float]]:
    found = []
    for joint in range(model.njnt):
        if kind == "stiffness" and int(model.jnt_type[joint]) not in SCALAR:
            continue
        value = _joint_value(model, joint, kind)
        found.append(
            (f"{_name(model.joint(joint).name, 'joint', joint)}.{kind}", kind, joint, value)
        )
    return found


def _joint_value(model: mujoco.MjModel, joint: int, kind: str) -> float:
    dof, disabled = int(model.jnt_dofadr[joint]), int(model.opt.disableflags)
    bits = mujoco.mjtDisableBit
    if kind in _POLYNOMIAL:
        table = getattr(model, "dof_dampingpoly", np.zeros((model.nv, 2)))
        off = disabled & int(bits.mjDSBL_DAMPER)
        return 0.0 if off else float(table[dof, _POLYNOMIAL[kind]])
    if kind == "stiffness":
        off = disabled & int(bits.mjDSBL_SPRING)
        return 0.0 if off else float(model.jnt_stiffness[joint])
    if kind == "damping" and disabled & int(bits.mjDSBL_DAMPER):
        return 0.0
    if kind == "frictionloss" and disabled & int(bits.mjDSBL_FRICTIONLOSS):
        return 0.0
    return float(getattr(model, f"dof_{kind}")[dof])


def _of_laws(model: mujoco.MjModel, kind: str) -> list[tuple[str, str, int, float]]:
    """Coefficients of friction laws; those of their shape are steps, see :mod:`.friction_laws`."""
    found = []
    for joint, law in frictions_by_joint(model).items():
        name = f"{_name(model.joint(joint).name, 'joint', joint)}.{kind}"
        found.append((name, kind, joint, 0.0 if kind in SHAPE else float(getattr(law, kind))))
    return found


def _of_tendons(model: mujoco.MjModel, kind: str) -> list[tuple[str, str, int, float]]:
    found = []
    for t in fixed_tendons(model):
        name = f"{_name(model.tendon(t).name, 'tendon', t)}.{kind.removeprefix('tendon_')}"
        found.append((name, kind, t, float(getattr(model, kind)[t])))
    return found


def _dof_name(model: mujoco.MjModel, dof: int) -> str:
    joint = int(model.dof_jntid[dof])
    name = _name(model.joint(joint).name, "joint", joint)
    if int(model.jnt_type[joint]) in SCALAR:
        return name
    return f"{name}[{dof - int(model.jnt_dofadr[joint])}]"


def _name(name: str, what: str, number: int) -> str:
    return name or f"{what}_{number}"
