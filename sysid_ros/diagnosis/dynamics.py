# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Check that a robot with the model's kinematics could have moved as recorded."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sysid_ros.arrays import BoolArray, FloatArray, IndexArray
from sysid_ros.diagnosis.filtered import Filtered, filtered, total_delays
from sysid_ros.diagnosis.finding import Change
from sysid_ros.diagnosis.fits import (
    Misfit,
    PointMasses,
    ancestors,
    bounded_fit,
    misfit_of,
    non_negative_fit,
    regressor,
)
from sysid_ros.diagnosis.recorded import Recorded, silent_joints, under_gravity
from sysid_ros.diagnosis.sampling_mistakes import moves
from sysid_ros.engine.elements import affine_force, joint_of

_COARSE = 150  # instants that a first look at a repair uses
_FEW = 50  # instants that tell which of a family's repairs is best
_LEAST_ROWS = 50
_KEPT_TABLES = 4  # of each tree
_CLEARLY = 0.3  # of the power, that the reversed sign of a torque leaves


@dataclass(frozen=True)
class _Table:
    """The regressor of one motion.

    A joint bears only what is behind it, so that most of a finger's row is zero.

    Attributes:
      used: By row the places of its k unknowns.
      columns: By row (n, k), such that all p columns are of equal size.
      grams: Their inner products, (k, k).
      size: p.
    """

    used: tuple[IndexArray, ...]
    columns: tuple[FloatArray, ...]
    grams: tuple[FloatArray, ...]
    size: int

    @staticmethod
    def of(columns: FloatArray) -> _Table:
        """The table of a regressor, (n, rows, p)."""
        size = np.sqrt(np.einsum("nrp,nrp->p", columns, columns))
        told = size > 1e-9 * max(float(size.max(initial=0.0)), 1e-300)
        scaled = (columns[:, :, told] / size[told]).transpose(1, 0, 2)
        used = tuple(np.flatnonzero(row.any(axis=0)) for row in scaled)
        rows = tuple(row[:, own] for row, own in zip(scaled, used, strict=True))
        grams = tuple(row.T @ row for row in rows)
        return _Table(used, rows, grams, int(np.count_nonzero(told)))

    def fit(self, torque: FloatArray, weight: FloatArray) -> FloatArray:
        """Fit non-negative unknowns; what they leave of torques (n, rows), weighted by row."""
        hessian, target = np.zeros((self.size, self.size)), np.zeros(self.size)
        for place, own in enumerate(self.used):
            squared = weight[place] ** 2
            hessian[np.ix_(own, own)] += squared * self.grams[place]
            target[own] += squared * (torque[:, place] @ self.columns[place])
        found = bounded_fit(hessian, target)
        explained = [row @ found[own] for row, own in zip(self.columns, self.used, strict=True)]
        return np.asarray(weight * (torque - np.column_stack(explained)))


@dataclass(frozen=True)
class _Tree:
    """A kinematic tree, as a leg on a trunk that stands still: what moves it moves no other.

    Attributes:
      dofs: Its degrees of freedom.
      rows: Places of those among the rows on which every force is known.
      labels: Signals that tell its positions and torques.
    """

    dofs: tuple[int, ...]
    rows: tuple[int, ...]
    labels: frozenset[str]


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
    """

    def __init__(self, recorded: Recorded, data: Filtered, rows: Sequence[int]) -> None:
        self.data = data
        self.silent = silent_joints(recorded)
        self._recorded = recorded
        self._rows = rows
        self._joints = recorded.all_positions
        self._trees = _trees(recorded, rows)
        self._coarse, self._few = data.thinned(_COARSE), data.thinned(_FEW)
        self._tables: dict[_Tree, dict[tuple[str, int], _Table]] = {t: {} for t in self._trees}
        self._points: dict[_Tree, PointMasses] = {}
        self._unchanged: dict[tuple[_Tree, int], tuple[FloatArray, FloatArray]] = {}

    @classmethod
    def of(cls, recorded: Recorded) -> Dynamics | None:
        """The test of recordings.

        ``None`` unless there is enough of them, and the model is a tree of measured hinges and
        slides, some of which move under known torques.
        """
        model = recorded.model
        on_joints = all(joint_of(model, actuator) is not None for actuator in range(model.nu))
        if not (recorded.is_open_chain and on_joints and recorded.efforts):
            return None
        # What holds a joint that rests may be friction, whatever its motor does.
        told = {*range(model.njnt)} - silent_joints(recorded)
        joints = {joint for joint in told if moves(recorded, joint)}
        rows = [dof for dof in _rows(recorded) if int(model.dof_jntid[dof]) in joints]
        labels = [*recorded.all_positions, *recorded.efforts.values()]
        data = filtered(recorded, labels, _LEAST_ROWS) if rows else None
        return None if data is None else cls(recorded, data, rows)

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
        return Dynamics(under_gravity(self._recorded, gravity), self.data, self._rows)

    def left_by_others(self, labels: Collection[str]) -> Misfit:
        """A glance at the least that any change of some signals can leave.

        Rows that the signals enter are taken to be explained: a torque its own, a position those
        of the joints before and behind its own. What is left of the others stays whatever the
        signals are, so that one fit tells of all their changes that they promise nothing.
        """
        data, torque = self._coarse, self._torque(self._coarse.value)
        weight = np.where(self._entered(labels), 0.0, 1.0 / _variation(torque))
        left = np.empty_like(torque)
        for tree in self._trees:
            left[:, tree.rows] = self._left(tree, data, (), torque[:, tree.rows], weight)
        return misfit_of(left, data.block)

    def _entered(self, labels: Collection[str]) -> BoolArray:
        """Tell which rows some signals enter, (rows,)."""
        recorded, model = self._recorded, self._recorded.model
        found = np.zeros(model.nv, dtype=np.bool_)
        for actuator, label in recorded.efforts.items():
            if label in labels:
                found[model.jnt_dofadr[recorded.joint_of(actuator)]] = True
        chains = [ancestors(model, int(body)) for body in model.dof_bodyid]
        for joint, label in enumerate(self._joints):
            if label in labels:
                own = int(model.jnt_dofadr[joint])
                found[chains[own]] = True
                found |= [own in chain for chain in chains]
        return np.asarray(found[self._rows])

    def shares(self) -> dict[int, float]:
        """Unexplained share of the torque on each joint, as recorded."""
        left = np.sqrt(np.mean(self._residual(self.data, ()) ** 2, axis=0))
        joints = [int(self._recorded.model.dof_jntid[dof]) for dof in self._rows]
        return dict(zip(joints, left.tolist(), strict=True))

    def reversed_joints(self) -> tuple[int, ...]:
        """Joints whose torque some robot explains by itself only with its sign reversed.

        Each row is fitted alone: friction resists motion and masses are positive, whatever the
        signs of the others.
        """
        torque, found = self._torque(self._coarse.value), []
        size = _variation(torque)
        for tree in self._trees:
            table = self._table(tree, (), self._coarse)
            for place, row in enumerate(tree.rows):
                weight = np.where(np.array(tree.rows) == row, 1.0 / size[row], 0.0)
                fits = [table.fit(s * torque[:, tree.rows], weight) for s in (1.0, -1.0)]
                left = [np.mean(fit[:, place] ** 2) for fit in fits]
                if left[1] < _CLEARLY * left[0]:
                    found.append(int(self._recorded.model.dof_jntid[self._rows[row]]))
        return tuple(sorted(found))

    @property
    def tested(self) -> int:
        """The number of degrees of freedom that are tested."""
        return len(self._rows)

    def fitted(
        self, columns: FloatArray, known: FloatArray | None = None, without: int | None = None
    ) -> tuple[Misfit, FloatArray]:
        """Fit a non-negative combination of torques and return what it leaves of the recordings.

        Args:
          columns: (n, nv, p).
          known: (n, nv) torque that is taken as given; none if left out.
          without: Which of the tested degrees of freedom is left out.

        Returns:
          The residual, and the combination (p,).
        """
        kept = [row for row in range(self.tested) if row != without]
        dofs = [self._rows[row] for row in kept]
        torque = self._torque(self.data.value)[:, kept]
        weight = 1.0 / _variation(torque)
        left = torque if known is None else torque - known[:, dofs]
        matrix = (columns[:, dofs] * weight[None, :, None]).reshape(-1, columns.shape[2])
        target = (left * weight).reshape(-1)
        found = non_negative_fit(matrix, target)
        residual = (target - matrix @ found).reshape(torque.shape)
        return misfit_of(residual, self.data.block), found

    def _residual(self, data: Filtered, changes: tuple[Change, ...]) -> FloatArray:
        """The remainder of the torques over their variation, (n, rows)."""
        data = data.delayed(total_delays(changes)).changed(changes)
        torque = self._torque(data.value)
        weight = 1.0 / _variation(torque)
        left = np.empty_like(torque)
        for tree in self._trees:
            own = tuple(change for change in changes if tree.labels & {*change.signals})
            left[:, tree.rows] = self._left(tree, data, own, torque[:, tree.rows], weight)
        return left

    def _left(
        self,
        tree: _Tree,
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

    def _table(self, tree: _Tree, changes: tuple[Change, ...], data: Filtered) -> _Table:
        """The regressor, which most changes leave as it was."""
        joints = tree.labels & {*self._joints}
        moved = [change for change in changes if joints & {*change.signals} and not change.delay]
        key, tables = (repr(moved), len(data.block)), self._tables[tree]
        if key not in tables:
            if len(tables) >= _KEPT_TABLES:
                tables.popitem()
            tables[key] = self._made(tree, data)
        return tables[key]

    def _made(self, tree: _Tree, data: Filtered) -> _Table:
        model, motion = self._recorded.model, data.motion(self._joints)
        if tree not in self._points:
            self._points[tree] = PointMasses.of(model, tree.dofs, self.silent)
        rows = [self._rows[row] for row in tree.rows]
        return _Table.of(regressor(model, *motion, self._points[tree], rows))

    def _torque(self, value: Mapping[str, FloatArray]) -> FloatArray:
        """Torque of the actuators on the tested joints, (n, rows)."""
        return _acting(self._recorded, value)[:, self._rows]


def _rows(recorded: Recorded) -> list[int]:
    """Degrees of freedom on which every force is known."""
    model = recorded.model
    acting: dict[int, list[int]] = {}
    for actuator in range(model.nu):
        acting.setdefault(recorded.joint_of(actuator), []).append(actuator)
    return [
        int(model.jnt_dofadr[joint])
        for joint in range(model.njnt)
        if all(actuator in recorded.efforts for actuator in acting.get(joint, ()))
    ]


def _acting(recorded: Recorded, value: Mapping[str, FloatArray]) -> FloatArray:
    """Torque of the actuators on all degrees of freedom, (n, nv)."""
    model = recorded.model
    torque: FloatArray = np.zeros((len(next(iter(value.values()))), model.nv))
    for actuator, label in recorded.efforts.items():
        dof = int(model.jnt_dofadr[recorded.joint_of(actuator)])
        force = affine_force(model, actuator, value[label])
        torque[:, dof] += model.actuator_gear[actuator, 0] * force
    return torque


def _trees(recorded: Recorded, rows: Sequence[int]) -> tuple[_Tree, ...]:
    """The kinematic trees on which some force is known."""
    model, found = recorded.model, []
    for tree in range(model.ntree):
        dofs = np.flatnonzero(model.dof_treeid == tree).tolist()
        joints = {int(model.dof_jntid[dof]) for dof in dofs}
        positions = {recorded.all_positions[joint] for joint in joints}
        torques = {one for a, one in recorded.efforts.items() if recorded.joint_of(a) in joints}
        own = tuple(place for place, dof in enumerate(rows) if dof in dofs)
        if own:
            found.append(_Tree(tuple(dofs), own, frozenset(positions | torques)))
    return tuple(found)


def _variation(torque: FloatArray) -> FloatArray:
    """Root mean square by joint; that of all for a joint without an actuator."""
    size = np.sqrt(np.mean(torque**2, axis=0))
    usual = float(size[size > 0.0].mean()) if np.any(size > 0.0) else 1.0
    return np.where(size > 0.0, size, usual)
