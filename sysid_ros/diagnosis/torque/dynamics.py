# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Check that a robot with the model's kinematics could have moved as recorded."""

from __future__ import annotations

import copy
from collections.abc import Collection, Sequence
from dataclasses import replace

import numpy as np

from sysid_ros.arrays import BoolArray, FloatArray
from sysid_ros.diagnosis.evidence import (
    Change,
    Filtered,
    Recorded,
    filtered,
    moves,
    silent_joints,
    total_delays,
)
from sysid_ros.diagnosis.fits import (
    Bodies,
    BodyMotion,
    Misfit,
    PointMasses,
    TorqueTable,
    ancestors,
    beside_contacts,
    body_motion,
    joint_motion,
    misfit_of,
    moment_arms,
    non_negative_fit,
    regressor,
)
from sysid_ros.diagnosis.torque.trees import Tree, known_rows, moved_by, pushed_forces, trees_of
from sysid_ros.engine.elements import affine_force, joint_of, n_actuators

_COARSE = 150  # instants that a first look at a repair uses
_FEW = 50  # instants that tell which of a family's repairs is best
_LEAST_ROWS = 50
_KEPT_TABLES = 4  # of each tree
_WEAK = 0.05  # of the largest force on a free body, that others count as at the least
_CLEARLY = 0.3  # of the power, that the reversed sign of a torque leaves


class Dynamics:
    """Scores repairs by how well some robot explains the repaired recordings.

    Trees are fitted one by one, and those that a repair leaves as they are but once: a repair of
    one leg of four costs a quarter, and its fit, with a quarter of the unknowns, far less.

    Args:
      recorded: What was recorded.
      data: The same as it is tested.
      rows: Degrees of freedom of joints that move, and on which every force is known.

    Attributes:
      data: The recordings as they are tested.
      silent: Joints whose torque says nothing, as it is below its noise.
      trees: The kinematic trees that are tested.
    """

    def __init__(self, recorded: Recorded, data: Filtered, rows: Sequence[int]) -> None:
        self.data = data
        self.silent = silent_joints(recorded)
        self._recorded = recorded
        self._rows = rows
        self._coordinates = recorded.coordinates
        self.trees = trees_of(recorded, rows)
        self._coarse, self._few = data.thinned(_COARSE), data.thinned(_FEW)
        self._tables: dict[Tree, dict[tuple[str, int], TorqueTable]] = {t: {} for t in self.trees}
        self._bodies: dict[Tree, Bodies] = {}
        self._motions: dict[int, BodyMotion] = {}  # as the model's gravity has them
        self._more: FloatArray = np.zeros(3)  # gravity beside the model's
        self._unchanged: dict[tuple[Tree, int], tuple[FloatArray, FloatArray]] = {}
        self._arms: dict[tuple[str, int], FloatArray] = {}
        self._pushed = pushed_forces(recorded.model, rows)
        self._size = self._variation(self._torque(data))

    @classmethod
    def of(cls, recorded: Recorded) -> Dynamics | None:
        """The test of recordings.

        ``None`` unless there is enough of them, and the model is a tree of measured hinges, slides
        and free joints, some of which move under known torques, and not all held by contacts.
        """
        model = recorded.model
        known = all(moved_by(recorded, actuator) for actuator in range(n_actuators(model)))
        if not (recorded.coordinates and known and recorded.efforts) or np.any(model.eq_active0):
            return None
        # What holds a joint that rests may be friction, whatever its motor does.
        told = {*range(model.njnt)} - silent_joints(recorded)
        joints = {one for one in told if one in recorded.poses or moves(recorded, one)}
        rows = [dof for dof in known_rows(recorded) if int(model.dof_jntid[dof]) in joints]
        rows = [rows[i] for i in sorted(i for tree in trees_of(recorded, rows) for i in tree.rows)]
        labels = [*recorded.coordinates, *recorded.efforts.values()]
        data = filtered(recorded, labels, _LEAST_ROWS) if rows else None
        if data is None:
            return None
        test = cls(recorded, data, rows)
        floating = [tree for tree in test.trees if tree.floats]
        blind = any(test._table(tree, (), test._coarse).is_blind for tree in floating)
        return test if test.trees and not blind else None

    def misfit(self, *changes: Change) -> Misfit:
        """The residual after some repairs, applied in order."""
        return misfit_of(self._residual(self.data, changes), self.data.block)

    def glance(self, *changes: Change) -> Misfit:
        """The same from few instants, ten times as fast."""
        return misfit_of(self._residual(self._coarse, changes), self._coarse.block)

    def peek(self, *changes: Change) -> Misfit:
        """The same from so few that only repairs of one kind should be compared by it."""
        return misfit_of(self._residual(self._few, changes), self._few.block)

    def under(self, gravity: FloatArray) -> Dynamics:
        """The same test with another gravity, (3,) m/s^2."""
        other = copy.copy(self)
        other._more = gravity - self._recorded.model.opt.gravity
        other._tables, other._unchanged = {tree: {} for tree in self.trees}, {}
        return other

    def of_tree(self, tree: Tree, bodies: Bodies | None = None) -> Dynamics:
        """The same test of one tree alone, of certain bodies where they are given."""
        other = copy.copy(self)
        other.trees = (tree,)
        if bodies is not None:
            other._bodies, other._tables, other._unchanged = {tree: bodies}, {tree: {}}, {}
        return other

    def any_bodies(self, tree: Tree) -> PointMasses:
        """All bodies that a tree could have."""
        return PointMasses.of(self._recorded.model, tree.dofs, self.silent)

    def left_by_others(self, labels: Collection[str]) -> Misfit:
        """A glance at the least that any change of some signals can leave.

        Rows that the signals enter are taken to be explained: a torque its own, a position those
        of the joints before and behind its own. What is left of the others stays whatever the
        signals are, so that one fit tells of all their changes that they promise nothing.

        A free base bears whatever a robot does. There forces are taken to have any factor and to
        be late by little, and nothing is promised by positions, as each moves the contacts.
        """
        data, torque = self._coarse, self._torque(self._coarse)
        usual = 1.0 / self._variation(torque)
        weight = np.where(self._entered(labels), 0.0, usual)
        parts = ({k: v if k in labels else 0.0 * v for k, v in part.items()}
                 for part in (data.value, data.rate))  # fmt: skip
        free = np.stack([self._torque(replace(data, value=part)) for part in parts], axis=2)
        left = np.zeros_like(torque)
        for tree in self.trees:
            rows = [*tree.rows]
            if tree.floats and np.any(free[:, rows]):
                table = self._table(tree, (), data)
                left[:, rows] = table.fit(torque[:, rows], usual[rows], free[:, rows])
            else:
                wanted = usual if tree.floats else weight
                left[:, rows] = self._left(tree, data, (), torque[:, rows], wanted)
        return misfit_of(left, data.block)

    def _entered(self, labels: Collection[str]) -> BoolArray:
        """Tell which rows some signals enter, (rows,)."""
        recorded, model = self._recorded, self._recorded.model
        found = np.zeros(model.nv, dtype=np.bool_)
        for actuator, label in recorded.efforts.items():
            if label in labels:
                found[moved_by(recorded, actuator)] = True
        chains = [ancestors(model, int(body)) for body in model.dof_bodyid]
        for joint, label in recorded.positions.items():
            if label in labels:
                own = int(model.jnt_dofadr[joint])
                found[chains[own]] = True
                found |= [own in chain for chain in chains]
        return np.asarray(found[self._rows])

    def shares(self) -> dict[int, float]:
        """Unexplained share of the torque on each joint, as recorded."""
        left = np.sqrt(np.mean(self._residual(self.data, ()) ** 2, axis=0))
        found: dict[int, float] = {}
        for dof, share in zip(self._rows, left.tolist(), strict=True):
            joint = int(self._recorded.model.dof_jntid[dof])
            found[joint] = max(share, found.get(joint, 0.0))
        return found

    def reversed_joints(self) -> tuple[int, ...]:
        """Joints whose torque some robot explains by itself only with its sign reversed.

        Each row is fitted alone: friction resists motion and masses are positive, whatever the
        signs of the others.
        """
        torque, found = self._torque(self._coarse), []
        size = self._variation(torque)
        for tree in self.trees:
            table = self._table(tree, (), self._coarse)
            if tree.floats:
                continue  # no row is there alone
            for place, row in enumerate(tree.rows):
                weight = np.where(np.array(tree.rows) == row, 1.0 / size[row], 0.0)
                fits = [table.fit(s * torque[:, tree.rows], weight) for s in (1.0, -1.0)]
                left = [np.mean(fit[:, place] ** 2) for fit in fits]
                if left[1] < _CLEARLY * left[0]:
                    found.append(int(self._recorded.model.dof_jntid[self._rows[row]]))
        return tuple(sorted(found))

    @property
    def flies(self) -> bool:
        """True if what is tested has free bases, and none touches anything."""
        tables = [self._table(tree, (), self._coarse) for tree in self.trees if tree.floats]
        return bool(tables) and all(one.beside is None for one in tables)

    @property
    def told(self) -> tuple[int, ...]:
        """Places of the degrees of freedom that a measured torque acts on.

        Others may be pushed by somebody, as the hip of an exoskeleton that is worn.
        """
        driven = {d for a in self._recorded.efforts for d in moved_by(self._recorded, a)}
        return tuple(row for row, dof in enumerate(self._rows) if dof in driven)

    def fitted(
        self, columns: FloatArray, known: FloatArray | None = None, without: int | None = None
    ) -> tuple[Misfit, FloatArray]:
        """Fit a non-negative combination of torques and return what it leaves of those measured.

        Args:
          columns: (n, nv, p).
          known: (n, nv) torque that is taken as given; none if left out.
          without: Which of those ``told`` is left out.

        Returns:
          The residual, and the combination (p,).
        """
        kept = [row for row in self.told if row != without]
        dofs = [self._rows[row] for row in kept]
        torque = self._torque(self.data)
        weight, torque = 1.0 / self._variation(torque)[kept], torque[:, kept]
        left = torque if known is None else torque - known[:, dofs]
        matrix = (columns[:, dofs] * weight[None, :, None]).reshape(-1, columns.shape[2])
        target = (left * weight).reshape(-1)
        found = non_negative_fit(matrix, target)
        residual = (target - matrix @ found).reshape(torque.shape)
        return misfit_of(residual, self.data.block), found

    def _residual(self, data: Filtered, changes: tuple[Change, ...]) -> FloatArray:
        """The remainder of the torques over their variation, (n, rows)."""
        data = data.delayed(total_delays(changes)).changed(changes)
        torque = self._torque(data, changes)
        weight = 1.0 / self._variation(torque)
        left: FloatArray = np.zeros_like(torque)
        for tree in self.trees:
            own = tuple(change for change in changes if tree.labels & {*change.signals})
            left[:, tree.rows] = self._left(tree, data, own, torque[:, tree.rows], weight)
        return left

    def _left(
        self,
        tree: Tree,
        data: Filtered,
        changes: tuple[Change, ...],
        torque: FloatArray,
        weight: FloatArray,
    ) -> FloatArray:
        """The remainder of a tree's torque after the changes that concern it, (n, its rows)."""
        own, key = weight[[*tree.rows]], (tree, len(data.block))
        if not np.any(own):
            return np.zeros_like(torque)
        if not changes and key in self._unchanged and np.array_equal(self._unchanged[key][0], own):
            return self._unchanged[key][1]
        left = self._table(tree, changes, data).fit(torque, own)
        if not changes and np.all(own > 0.0):
            self._unchanged[key] = own, left
        return left

    def _table(self, tree: Tree, changes: tuple[Change, ...], data: Filtered) -> TorqueTable:
        """The regressor, which most changes leave as it was."""
        moving = self._moving(changes, tree.labels)
        key, tables = (repr(moving), len(data.block)), self._tables[tree]
        if key not in tables:
            if len(tables) >= _KEPT_TABLES:
                tables.popitem()
            tables[key] = self._made(tree, moving, data)
        return tables[key]

    def _motion(self, changes: tuple[Change, ...], data: Filtered) -> BodyMotion:
        """The motion of all bodies; as recorded it is one for all trees and gravities."""
        model, count = self._recorded.model, len(data.block)

        def moved(one: Filtered) -> BodyMotion:
            return body_motion(model, *joint_motion(model, *one.motion(self._coordinates)))

        if changes:
            return moved(data).under(self._more, model)
        if count not in self._motions:
            own = next(x for x in (self.data, self._coarse, self._few) if len(x.block) == count)
            self._motions[count] = moved(own)
        return self._motions[count].under(self._more, model)

    def _made(self, tree: Tree, changes: tuple[Change, ...], data: Filtered) -> TorqueTable:
        model, motion = self._recorded.model, self._motion(changes, data)
        if tree not in self._bodies:
            self._bodies[tree] = self.any_bodies(tree)
        rows = [self._rows[row] for row in tree.rows]
        weight = 1.0 / self._size[[*tree.rows]]
        qpos = motion.joints[0]
        beside = beside_contacts(model, qpos, rows, weight) if tree.floats else None
        return TorqueTable.of(regressor(model, motion, self._bodies[tree], rows), beside)

    def _moving(self, changes: Sequence[Change], labels: Collection[str]) -> tuple[Change, ...]:
        """The changes that change the motion of some joints."""
        joints = {*labels} & {*self._recorded.positions.values()}
        return tuple(one for one in changes if joints & {*one.signals} and not one.delay)

    def _torque(self, data: Filtered, changes: Sequence[Change] = ()) -> FloatArray:
        """Torque of the actuators on the tested joints, (n, rows)."""
        recorded, model = self._recorded, self._recorded.model
        torque: FloatArray = np.zeros((len(data.block), model.nv))
        for actuator, label in recorded.efforts.items():
            force = affine_force(model, actuator, data.value[label])
            if joint_of(model, actuator) is None:
                torque += force[:, None] * self._moments(data, changes)[:, actuator]
            else:
                dof = int(model.jnt_dofadr[recorded.joint_of(actuator)])
                torque[:, dof] += model.actuator_gear[actuator, 0] * force
        return torque[:, self._rows]

    def _variation(self, torque: FloatArray) -> FloatArray:
        """Root mean square by row, (rows,); that of all for a joint without an actuator.

        Along an axis on which next to nothing pushes a free body, what is left is noise of motion.
        """
        size = np.sqrt(np.mean(torque**2, axis=0))
        usual = float(size[size > 0.0].mean()) if np.any(size > 0.0) else 1.0
        size = np.where(size > 0.0, size, usual)
        for forces in self._pushed:
            size[forces] = np.maximum(size[forces], _WEAK * size[forces].max())
        return size

    def _moments(self, data: Filtered, changes: Sequence[Change]) -> FloatArray:
        """Generalized force per unit of each actuator's, (n, nu, nv)."""
        key = repr(self._moving(changes, self._coordinates)), len(data.block)
        if key not in self._arms:
            motion = joint_motion(self._recorded.model, *data.motion(self._coordinates))
            self._arms[key] = moment_arms(self._recorded.model, motion[0])
        return self._arms[key]
