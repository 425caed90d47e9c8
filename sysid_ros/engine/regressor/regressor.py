# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Joint torque per unit of every parameter, for any MuJoCo model.

Generalised forces of hinges, slides, balls and free joints are linear in the ten inertial
parameters of every body, in armature, damping, dry friction, springs, offsets and in what fixed
tendons add (Atkeson, An & Hollerbach, IJRR 5, 1986). What is not (fluids, spatial tendons, springs
of balls, transmissions) keeps the model's own values, see :meth:`Regressor.known_torque`.

What is compiled is imported where it is used: numba takes half a second of every program.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

import mujoco
import numpy as np

from sysid_ros.arrays import FloatArray, IndexArray
from sysid_ros.engine.elements import INERTIAL, SLIDE, fixed_tendons
from sysid_ros.engine.regressor.columns import DEFAULT_KINDS, DELAY, Columns, columns_of
from sysid_ros.engine.regressor.friction_laws import (
    LAW_KINDS,
    LOAD_KINDS,
    FrictionLaws,
    law_columns,
    loaded,
)
from sysid_ros.engine.regressor.regressor_tables import (
    SHARP,
    Friction,
    at_once,
    layout_of,
    tree_of,
    with_inertia,
)
from sysid_ros.engine.regressor.regressor_tables import friction_of as friction_table
from sysid_ros.errors import ModelError

_BITS = mujoco.mjtDisableBit
_ARMATURES = ("armature", "tendon_armature")
_COUNTS = ("nflex", "nmocap", "nplugin")


class Motion(NamedTuple):
    """Motion at n instants, in MuJoCo's coordinates."""

    qpos: FloatArray  # (n, nq): m, rad, unit quaternions
    qvel: FloatArray  # (n, nv): m/s, rad/s
    qacc: FloatArray  # (n, nv): m/s^2, rad/s^2


class Regressor:
    """The matrix R (n, nv, p) of tau = R theta + known torque.

    Dry friction acts as MuJoCo's own constraint does, whose sign is
    clip((qacc + b qvel) / width, -1, 1) with b and width from solreffriction and solimpfriction
    (its documentation, "Constraint model"), so that ``mj_inverse`` of a written model gives the
    predicted torque; or, with ``friction_velocity``, as tanh(qvel / friction_velocity).

    A joint that an equality constraint couples to another (``<equality><joint>``) hands its row to
    the joint that drives it, by the principle of virtual work, and moves as that one says: what
    noise of its own measurement adds would tell the two apart, which no motion does.

    Attributes:
      model: The compiled model.
      columns: Names and values of the p parameters.
      delay_columns: That of the delay of each degree of freedom's measured torque, -1 for none,
        (nv,). The matrix itself is zero there: the column is the torque's own slope.
      own_law: MuJoCo's own law of dry friction where another model says how soft it is, of which
        the matrix then is the derivative.
    """

    def __init__(
        self,
        model: mujoco.MjModel,
        *,
        kinds: Sequence[str] = DEFAULT_KINDS,
        friction_velocity: float | None = None,
        sharp_friction: bool = False,
        creep: Mapping[str, float] = SHARP,
        delays: Mapping[str, Collection[int]] | None = None,
        friction_of: mujoco.MjModel | None = None,
        laws: FrictionLaws | None = None,
        known: Collection[int] = (),
    ) -> None:
        """Prepare the tables of a model.

        Args:
          model: Compiled; only kinematics, gravity and friction's sharpness are read from it.
          kinds: What joints and tendons have besides the inertia of bodies.
          friction_velocity: rad/s or m/s; ``None`` for MuJoCo's law of dry friction.
          sharp_friction: Whether that law follows velocity as closely as MuJoCo allows, see
            :func:`~.regressor_tables.sharp_friction`, rather than with the model's own
            solreffriction.
          creep: By joint, rad/s or m/s from which on its friction is whole by the sharp law.
          delays: By name of an unknown delay of measured torque, the degrees of freedom that have
            it; see :mod:`.torque_delay`.
          friction_of: The model with the friction and the inertia that say how soft MuJoCo's own
            law is, and about which its torque is linearised; by default ``model``, whose law's
            share of the friction stays as it is.
          laws: Friction beyond viscous and dry, about whose values its columns are linearised;
            without them these columns are zero. Its sign is that of the velocity, unless
            ``friction_of`` says otherwise.
          known: Bodies without columns, whose torque is among what :meth:`known_torque` gives.

        Raises:
          ModelError: The model has parts to which inverse dynamics does not apply.
        """
        for count in _COUNTS:
            if getattr(model, count, 0):
                raise ModelError(
                    f"the model has {getattr(model, count)} {count[1:]} parts, of which inverse "
                    "dynamics by regression knows nothing; it takes rigid bodies with hinges, "
                    "slides, balls, free joints, tendons and couplings of joints"
                )
        self.model = model
        delays = delays or {}
        self.columns: Columns = columns_of(model, kinds, tuple(delays), known)
        self._known = known
        self.delay_columns: IndexArray = np.full(model.nv, -1, dtype=np.intp)
        for number, dofs in enumerate(delays.values()):
            self.delay_columns[list(dofs)] = self.columns.place[number, DELAY]
        self._tree = tree_of(model)
        self._layout = layout_of(model, self.columns)
        self._friction = friction_table(
            friction_of or model, friction_velocity, sharp_friction, creep
        )
        if laws is not None and friction_of is None and friction_velocity is None:
            self._friction = at_once(self._friction, list(laws.laws))
        from sysid_ros.engine.regressor import kernels

        self._law = kernels.MUJOCO_LAW if friction_velocity is None else kernels.VELOCITY_LAW
        self._laws = laws
        self._law_places = _law_places(model, self.columns) if laws is not None else ()
        self._slopes = self._friction
        self.own_law = None
        if friction_of is not None and friction_velocity is None and not sharp_friction:
            self.own_law = self._friction
            self._slopes = self._with_inertia(friction_of)

    def rows(self, motion: Motion, out: FloatArray | None = None) -> FloatArray:
        """The regressor of n instants, (n, nv, p); N m (N for slides) per unit of the parameter.

        Args:
          motion: The motion.
          out: (at least n, nv, p) where to write; the first n are returned.
        """
        from sysid_ros.engine.regressor import kernels

        motion = self.coupled(motion)
        q, v, a = (np.ascontiguousarray(part, dtype=np.float64) for part in motion)
        if out is None:
            out = np.empty((len(q), self.model.nv, len(self.columns)))
        out = out[: len(q)]
        kernels.fill(
            self._tree, self._layout, self._slopes, self._law,
            _writeable(q), _writeable(v), _writeable(a),
            kernels.new_room(self.model.nbody, self.model.nv), out,
        )  # fmt: skip
        for dof, column, values in self._law_values(motion):
            out[:, dof, column] = values
        return out

    def coupled(self, motion: Motion) -> Motion:
        """The motion in which joints that others drive follow them, as equality constraints say.

        Args:
          motion: n instants, of which coupled joints' own values do not count. It is given back
            where no joint drives another.
        """
        if not len(self._tree.coupling):
            return motion
        q, v, a = (np.array(part, dtype=np.float64) for part in motion)
        tree = self._tree
        for row in tree.coupling[::-1]:  # what drives others first
            to, of = int(row[0]), int(row[1])
            at = tree.jnt_qposadr[tree.dof_jntid[to]]
            law, here = np.polynomial.Polynomial(row[2:]), tree.jnt_qposadr[tree.dof_jntid[of]]
            x = q[:, here] - tree.qpos0[here] if of >= 0 else np.zeros(len(q))
            slope = law.deriv()(x) if of >= 0 else np.zeros(len(q))
            q[:, at] = tree.qpos0[at] + law(x)
            a[:, to] = slope * a[:, of] + law.deriv(2)(x) * v[:, of] ** 2 * (of >= 0)
            v[:, to] = slope * v[:, of]
        return Motion(q, v, a)

    def torques(self, motion: Motion, parts: FloatArray) -> FloatArray:
        """Torque of several sets of parameters, (sets, p), at n instants, (n, sets, nv)."""
        motion = self.coupled(motion)
        out = self._plain_torques(motion, parts)
        for dof, column, values in self._law_values(motion):
            out[:, :, dof] += values[:, None] * parts[:, column]
        return out

    def _with_inertia(self, model: mujoco.MjModel) -> Friction:
        """MuJoCo's own friction of a model, as a function of all columns."""
        nv, data = model.nv, mujoco.MjData(model)
        mujoco.mj_forward(model, data)
        pushed: FloatArray = np.empty((nv, nv))
        mujoco.mj_solveM(model, data, pushed, np.eye(nv))
        own = self._uncoupled(model)
        motion = np.vstack([np.zeros((1, nv)), pushed])
        rows = own.rows(Motion(np.tile(model.qpos0, (nv + 1, 1)), np.zeros_like(motion), motion))
        inertial = [kind in INERTIAL or kind in _ARMATURES for kind in own.columns.kinds]
        energy: FloatArray = np.zeros((nv, len(self.columns)))
        energy[:, : len(inertial)] = np.einsum("dj,djp->dp", pushed, rows[1:] - rows[0]) * inertial
        nominal = np.zeros(len(self.columns))
        nominal[: len(inertial)] = own.columns.nominal
        return with_inertia(self._friction, model, energy, nominal)

    def _plain_torques(self, motion: Motion, parts: FloatArray) -> FloatArray:
        """The same without the columns of friction laws."""
        from sysid_ros.engine.regressor import kernels

        q, v, a = (np.ascontiguousarray(part, dtype=np.float64) for part in motion)
        nv = self.model.nv
        out, rows = np.empty((len(q), len(parts), nv)), np.empty((nv, parts.shape[1]))
        kernels.torques(
            self._tree, self._layout, self._friction, self._law,
            _writeable(q), _writeable(v), _writeable(a),
            kernels.new_room(self.model.nbody, nv), np.ascontiguousarray(parts), rows, out,
        )  # fmt: skip
        return out

    def _law_values(self, motion: Motion) -> Iterator[tuple[int, int, FloatArray]]:
        """Degree of freedom, column and its values (n,) of friction laws."""
        if self._laws is None:
            return
        sign = self._signs(motion)
        tm, te = self._load(motion, sign)
        for dof, places in self._law_places:
            found = law_columns(
                self._laws.laws[dof], motion.qvel[:, dof], sign[:, dof], tm[:, dof], te[:, dof]
            )
            for kind, column in places:
                yield dof, column, found[kind]

    def _signs(self, motion: Motion) -> FloatArray:
        """Signs of dry friction of the joints, (n, nv)."""
        rate, width = (table[: self.model.nv] for table in self._friction[:2])
        if not rate.any():
            return np.tanh(motion.qvel / width)
        return np.clip((motion.qacc + rate * motion.qvel) / width, -1.0, 1.0)

    def _load(self, motion: Motion, sign: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Torque of motors and external torque, (n, nv) each; zero where no column asks for it."""
        laws = self._laws
        if laws is None or not any(kind in LOAD_KINDS for kind in self.columns.kinds):
            none = np.zeros_like(motion.qvel)
            return none, none
        kinds = self.columns.kinds
        plain = np.where([kind in LAW_KINDS for kind in kinds], 0.0, laws.theta)
        passive = np.where([k in INERTIAL or k in ("stiffness", "offset") for k in kinds], plain, 0)
        slow = motion._replace(qacc=np.zeros_like(motion.qacc))
        tm = self._plain_torques(motion, plain[None])[:, 0]
        te = -self._plain_torques(slow, passive[None])[:, 0]
        return loaded(laws, motion.qvel, sign, tm, te), te

    @cached_property
    def support(self) -> list[IndexArray]:
        """Columns that can differ from zero in the row of each degree of freedom."""
        tree, columns, nv = self._tree, self.columns, self.model.nv
        used = np.zeros((nv, len(columns)), dtype=np.bool_)
        for body in columns.bodies:
            dof = int(tree.body_lastdof[body])
            while dof >= 0:
                used[dof, columns.of_body(body)] = True
                dof = int(tree.dof_parentid[dof])
        for field in self._layout._fields[1:8]:
            for dof, column in enumerate(getattr(self._layout, field)):
                used[dof, column] |= column >= 0
        for field in self._layout._fields[8:]:
            for arms, column in zip(tree.tendon, getattr(self._layout, field), strict=True):
                used[arms != 0.0, column] |= column >= 0
        if self._slopes.inertia.size:
            used |= self._slopes.inertia != 0.0
        for dof, places in self._law_places:
            used[dof, [column for _, column in places]] = True
        for dependent, driving, *_ in tree.coupling:
            if driving >= 0:
                used[int(driving)] |= used[int(dependent)]
            used[int(dependent)] = False
        return [np.flatnonzero(row) for row in used]

    def known_torque(self, motion: Motion) -> FloatArray | None:
        """Torque of the model that is not linear in the columns' parameters, (n, nv).

        It is the difference between ``mj_inverse`` (without contacts, limits and equality
        constraints) and the regressor at the model's own values. ``None`` where the model has
        nothing of the kind.
        """
        if not (self._known or has_other_forces(self.model)):
            return None
        own = self._of_known_torque
        return mujoco_torque(self.model, motion) - own.rows(motion) @ own.columns.nominal

    @cached_property
    def _of_known_torque(self) -> Regressor:
        """The columns that known torque lacks, made once for all instants."""
        return self._uncoupled(self.model)

    def _uncoupled(self, model: mujoco.MjModel) -> Regressor:
        """The same of a model, without couplings and laws."""
        kinds = tuple(dict.fromkeys(self.columns.kinds))
        own = Regressor(model, kinds=kinds, known=self._known)
        own._tree = own._tree._replace(coupling=np.zeros((0, 7)))
        return own


def _law_places(
    model: mujoco.MjModel, columns: Columns
) -> tuple[tuple[int, tuple[tuple[str, int], ...]], ...]:
    """Of every joint with a friction law its degree of freedom, and its columns by kind."""
    found: dict[int, list[tuple[str, int]]] = {}
    for column, (kind, owner) in enumerate(zip(columns.kinds, columns.owners, strict=True)):
        if kind in LAW_KINDS:
            found.setdefault(int(model.jnt_dofadr[owner]), []).append((kind, column))
    return tuple((dof, tuple(places)) for dof, places in found.items())


def has_other_forces(model: mujoco.MjModel) -> bool:
    """True if a model has forces that are not linear in a regressor's parameters."""
    spatial = len(fixed_tendons(model)) < model.ntendon
    scalar = np.asarray(model.jnt_type) >= SLIDE
    names = (
        "tendon_stiffness", "tendon_stiffnesspoly", "tendon_dampingpoly", "jnt_stiffnesspoly",
        "dof_dampingpoly", "actuator_armature", "actuator_damping", "actuator_dampingpoly",
    )  # fmt: skip
    return bool(
        spatial
        or model.opt.density
        or model.opt.viscosity
        or np.any(np.asarray(model.jnt_stiffness)[~scalar])
        or any(np.any(getattr(model, name, 0.0)) for name in names)
    )


def mujoco_torque(model: mujoco.MjModel, motion: Motion) -> FloatArray:
    """``mj_inverse`` without contacts, limits and equality constraints, (n, nv)."""
    data = mujoco.MjData(model)
    flags = int(model.opt.disableflags)
    torque: FloatArray = np.empty((len(motion.qpos), model.nv))
    off = _BITS.mjDSBL_CONTACT | _BITS.mjDSBL_LIMIT | _BITS.mjDSBL_EQUALITY | _BITS.mjDSBL_SENSOR
    model.opt.disableflags = flags | int(off)
    try:
        for row, q, v, a in zip(torque, *motion, strict=True):
            data.qpos[:], data.qvel[:], data.qacc[:] = q, v, a
            mujoco.mj_inverse(model, data)
            row[:] = data.qfrc_inverse
    finally:
        model.opt.disableflags = flags
    return torque


def _writeable(array: FloatArray) -> FloatArray:
    # numba would compile again for arrays that may not be written
    return array if array.flags.writeable else array.copy()
