# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Check that a robot with the model's kinematics could have moved as recorded."""

from __future__ import annotations

from collections.abc import Mapping

import mujoco
import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.diagnosis.filtered import Filtered, filtered, total_delays
from sysid_ros.diagnosis.finding import Change
from sysid_ros.diagnosis.misfit import Misfit, misfit_of
from sysid_ros.diagnosis.point_mass_regressor import non_negative_fit, regressor
from sysid_ros.diagnosis.recorded import Recorded


class Dynamics:
    """Scores repairs by how well some robot explains the repaired recordings.

    Args:
      recorded: What was recorded; see :func:`can_be_tested`.
    """

    def __init__(self, recorded: Recorded) -> None:
        self._recorded = recorded
        model = recorded.model
        self._rows = _rows(recorded)
        self._efforts = recorded.efforts
        self._joints = [recorded.positions[joint] for joint in range(model.njnt)]
        self._labels = [*self._joints, *self._efforts.values()]
        self._plain = filtered(recorded, self._labels)
        self._tables: dict[str, FloatArray] = {}

    @property
    def usable(self) -> bool:
        """True if there is enough data."""
        return self._plain is not None and len(self._plain.block) >= 50

    @property
    def data(self) -> Filtered:
        """The recordings as they are tested.

        Raises:
          ValueError: There is too little of them.
        """
        if self._plain is None:
            raise ValueError("the recordings are too short")
        return self._plain

    def misfit(self, *changes: Change) -> Misfit:
        """The residual after some repairs, applied in order."""
        data = self.data.delayed(total_delays(changes)).changed(changes)
        return self._fitted(self._table(changes, data), self._torque(data.value))[0]

    def motion(self, data: Filtered) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Positions, velocities and accelerations of all joints, (n, nv) each."""
        value, rate, second = (
            np.column_stack([part[label] for label in self._joints])
            for part in (data.value, data.rate, data.second)
        )
        return value, rate, second

    def fitted(
        self, columns: FloatArray, known: FloatArray | None = None
    ) -> tuple[Misfit, FloatArray]:
        """Fit a non-negative combination of torques and return what it leaves of the recordings.

        Args:
          columns: (n, nv, p).
          known: (n, nv) torque that is taken as given; none if left out.

        Returns:
          The residual, and the combination (p,).
        """
        torque = self._torque(self.data.value)
        given = None if known is None else known[:, self._rows]
        return self._fitted(columns[:, self._rows], torque, given)

    def _fitted(
        self, table: FloatArray, torque: FloatArray, known: FloatArray | None = None
    ) -> tuple[Misfit, FloatArray]:
        weight = 1.0 / _variation(torque)
        matrix = (table * weight[None, :, None]).reshape(-1, table.shape[2])
        target = ((torque if known is None else torque - known) * weight).reshape(-1)
        found = non_negative_fit(matrix, target)
        residual = target - matrix @ found
        return misfit_of(residual.reshape(torque.shape), self.data.block), found

    def _table(self, changes: tuple[Change, ...], data: Filtered) -> FloatArray:
        """The regressor, which most changes leave as it was."""
        joints = set(self._joints)
        moved = [change for change in changes if joints & {*change.signals} and not change.delay]
        key = repr(moved)
        if key not in self._tables:
            if len(self._tables) > 2:
                self._tables.popitem()
            self._tables[key] = regressor(self._recorded.model, *self.motion(data))[:, self._rows]
        return self._tables[key]

    def _torque(self, value: Mapping[str, FloatArray]) -> FloatArray:
        """Torque of the actuators on the tested joints, (n, rows)."""
        model = self._recorded.model
        torque: FloatArray = np.zeros((len(self.data.block), model.nv))
        for actuator, label in self._efforts.items():
            dof = int(model.jnt_dofadr[self._recorded.joint_of(actuator)])
            factor = model.actuator_gainprm[actuator, 0] * model.actuator_gear[actuator, 0]
            torque[:, dof] += factor * value[label]
        return torque[:, self._rows]


def can_be_tested(recorded: Recorded) -> bool:
    """Tell whether the model is a tree of measured scalar joints, some with known torques."""
    model = recorded.model
    scalar = model.nq == model.nv == model.njnt and model.njnt > 0
    measured = all(joint in recorded.positions for joint in range(model.njnt))
    free = model.neq == 0 or not np.any(model.eq_active0)
    simple = all(
        int(kind) == int(mujoco.mjtTrn.mjTRN_JOINT) for kind in np.asarray(model.actuator_trntype)
    )
    return bool(scalar and measured and free and simple and recorded.efforts and _rows(recorded))


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


def _variation(torque: FloatArray) -> FloatArray:
    """Root mean square by joint; that of all for a joint without an actuator."""
    size = np.sqrt(np.mean(torque**2, axis=0))
    usual = float(size[size > 0.0].mean()) if np.any(size > 0.0) else 1.0
    return np.where(size > 0.0, size, usual)
