# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Exact Jacobians for residual functions of the library: whole recordings, fixed starts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from sysid_ros.sysid.mappings import SignalType, sensor_mapping
from sysid_ros.sysid.modifiers import SignalModifier, StartModifier
from sysid_ros.sysid.parameter_dict import ParameterDict
from sysid_ros.sysid.sensitivity.compilation import compilable, entry_points
from sysid_ros.sysid.sensitivity.directions import ModelDirections, RolloutDirections
from sysid_ros.sysid.sensitivity.engine import CHECK_STEPS, MAX_CHECK_ERROR, TABLE_STEP
from sysid_ros.sysid.sensitivity.model_changes import FollowedModel, model_derivative
from sysid_ros.sysid.sensitivity.rollout import new_buffers
from sysid_ros.sysid.sensitivity.sensors import readings
from sysid_ros.sysid.sensitivity.tables import tables_of, unsupported
from sysid_ros.sysid.sensitivity.window_pass import MAX_VIOLATION
from sysid_ros.sysid.trajectory import SystemTrajectory

if TYPE_CHECKING:
    from sysid_ros.sysid.residual_function import Group, ResidualFunction

FloatArray = npt.NDArray[np.float64]

PLAIN_STEP = 1e-6  # relative to max(1, |x|), for differences of residuals
SMALLEST_SCALE = 1e-3  # of a parameter, for differences of compiled models


class ResidualJacobian:
    """Derivative of one residual function, kept honest by the checks of the pass.

    Once it has met something that it does not know, it says so for good.

    Args:
      function: The residual function, without callbacks.
    """

    def __init__(self, function: ResidualFunction) -> None:
        self._function = function
        self._gave_up = False
        self._checked = False
        self._followed: dict[int, bool] = {}

    def __call__(self, x: FloatArray, params: ParameterDict) -> FloatArray | None:
        """The Jacobian at ``x``, (m, p); ``None`` where it is not known."""
        if self._gave_up:
            return None
        jacobian = self._jacobian(np.asarray(x, dtype=np.float64), params)
        if jacobian is not None and not self._checked:
            self._checked = True
            if not self._agrees(jacobian, x, params):
                jacobian = None
        self._gave_up = jacobian is None
        return jacobian

    def _jacobian(self, x: FloatArray, params: ParameterDict) -> FloatArray | None:
        own = params.copy()
        own.update_from_vector(x)
        shaping = _shaping_components(own)
        blocks: list[FloatArray] = []
        for group, simulations in self._function.base_simulations(x, params):
            block = self._group_rows(x, own, shaping, group, simulations)
            if block is None:
                return None
            blocks += block
        prior = _prior_rows(own)
        jacobian = np.vstack([*blocks, prior]) if len(blocks) != 1 or len(prior) else blocks[0]
        plain = [j for j in range(len(x)) if not (shaping[j] and self._followed[j])]
        if plain:
            size = len(jacobian) - len(prior)
            jacobian[:size, plain] = self._plain_columns(x, params, plain)[:size]
        return jacobian

    def _group_rows(
        self,
        x: FloatArray,
        params: ParameterDict,
        shaping: npt.NDArray[np.bool_],
        group: Group,
        simulations: list[SystemTrajectory],
    ) -> list[FloatArray] | None:
        """One block of rows per recording, zero in columns that are not followed."""
        model = simulations[0].model
        sensors = _sensors(group.recordings, model)
        if sensors is None or unsupported(model, sensors) is not None:
            return None
        columns, changes = self._model_changes(x, params, shaping, group, model)
        blocks = []
        for recording, simulation in zip(group.recordings, simulations, strict=True):
            slope = self._function.slope(params, recording, simulation)
            derivatives = _derivatives(simulation, changes, sensors)
            if slope is None or derivatives is None:
                return None
            rows = np.empty((len(slope.rows), len(columns)))
            slots = np.searchsorted(np.asarray(model.sensor_adr)[sensors], slope.columns)
            entry_points().interpolate(derivatives, slope.rows, slope.weights, slots, rows)
            blocks.append(_spread(rows, columns, len(x)))
        return blocks

    def _model_changes(
        self,
        x: FloatArray,
        params: ParameterDict,
        shaping: npt.NDArray[np.bool_],
        group: Group,
        model: Any,
    ) -> tuple[list[int], ModelDirections]:
        """The components whose effect on the model is followed, and that effect."""
        steps = TABLE_STEP * np.maximum(SMALLEST_SCALE, np.abs(x))
        base, trial = FollowedModel(model), params.copy()
        columns, moved = [], []
        for j in np.flatnonzero(shaping).tolist():
            if not self._followed.get(j, True):
                continue
            point = x.copy()
            point[j] += steps[j]
            trial.update_from_vector(point)
            other = group.build(trial)
            if j not in self._followed:
                self._followed[j] = base.unfollowed_change(other) is None
            if self._followed[j]:
                columns.append(j)
                moved.append(other)
        return columns, model_derivative(model, moved, [steps[j] for j in columns])

    def _plain_columns(self, x: FloatArray, params: ParameterDict, which: list[int]) -> FloatArray:
        """Difference quotients of the residual, (m, len(which))."""
        steps = PLAIN_STEP * np.maximum(1.0, np.abs(x))
        # The simulation at x is remembered, so the first column costs nothing.
        points = x[:, None] + np.hstack([np.zeros((len(x), 1)), np.diag(steps)[:, which]])
        residual, moved = np.split(np.concatenate(self._function(points, params)[0]), [1], axis=1)
        quotients: FloatArray = (moved - residual) / steps[which]
        return quotients

    def _agrees(self, jacobian: FloatArray, x: FloatArray, params: ParameterDict) -> bool:
        """Whether one directional derivative is that of a simulation, to a percent."""
        _, high = params.get_bounds()
        direction = np.random.default_rng(0).uniform(0.5, 1.5, len(x))
        direction *= np.maximum(SMALLEST_SCALE, np.abs(x))
        direction[x + max(CHECK_STEPS) * direction > high] *= -1.0
        predicted = jacobian @ direction
        for step in CHECK_STEPS:
            # The simulation at x is remembered, so the first column costs nothing.
            points = x[:, None] + direction[:, None] * np.array([0.0, step])
            here, moved = np.concatenate(self._function(points, params)[0]).T
            difference = (moved - here) / step
            error = np.linalg.norm(predicted - difference)
            if error <= MAX_CHECK_ERROR * np.linalg.norm(difference):
                return True
        return False


def _spread(rows: FloatArray, columns: list[int], count: int) -> FloatArray:
    """Columns (m, k) in their places among ``count``, zeros in the others."""
    if columns == list(range(count)):
        return rows
    block = np.zeros((len(rows), count))
    block[:, columns] = rows
    return block


def _derivatives(
    simulation: SystemTrajectory, changes: ModelDirections, sensors: npt.NDArray[np.int64]
) -> FloatArray | None:
    """Derivatives of the sensors' rows, (steps, n_sensor, n); ``None`` where they are unknown."""
    if simulation.state is None or np.isnan(simulation.state.data).any():
        return None
    model, count = simulation.model, len(simulation.control)
    tables, n = tables_of(model), changes.dof_fields.shape[2]
    directions = RolloutDirections(
        np.zeros((2 * model.nv, n)),
        np.zeros(0, dtype=np.int64),
        np.zeros((count, 0, model.nu)),
    )
    derivatives = np.empty((count, len(sensors), n))
    violation = entry_points().differentiate_steps(
        tables,
        changes,
        readings(model, sensors),
        directions,
        np.vstack([simulation.initial_state[1:], simulation.state.data[:, 1:]]),
        compilable(simulation.control.data),
        new_buffers(tables, n),
        derivatives,
    )
    return derivatives if violation <= MAX_VIOLATION else None


def _sensors(recordings: list[SystemTrajectory] | Any, model: Any) -> npt.NDArray[np.int64] | None:
    """Ids of all measured sensors, sorted; ``None`` where something else was measured."""
    names: set[str] = set()
    for recording in recordings:
        mapping = recording.sensordata.signal_mapping or sensor_mapping(model)
        if any(kind is not SignalType.MjSensor for kind, _ in mapping.values()):
            return None
        names |= set(mapping)
    return np.array(sorted(model.sensor(name).id for name in names), dtype=np.int64)


def _shaping_components(params: ParameterDict) -> npt.NDArray[np.bool_]:
    """Which free components change the model, rather than a signal or something unknown."""
    return np.concatenate(
        [np.zeros(0, dtype=bool)]
        + [
            np.full(
                parameter.size,
                parameter.modifier is not None
                and not isinstance(parameter.modifier, (SignalModifier, StartModifier)),
            )
            for parameter in params.free()
        ]
    )


def _prior_rows(params: ParameterDict) -> FloatArray:
    """Derivative of the priors' residuals, (number of scalars with a prior, p)."""
    free = list(params.free())
    p = sum(parameter.size for parameter in free)
    rows, first = [np.zeros((0, p))], 0
    for parameter in free:
        if parameter.prior is not None:
            block = np.zeros((parameter.size, p))
            deviation = np.broadcast_to(np.ravel(parameter.prior[1]), parameter.size)
            block[:, first : first + parameter.size] = np.diag(1.0 / deviation)
            rows.append(block)
        first += parameter.size
    return np.vstack(rows)
