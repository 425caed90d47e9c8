# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Many simulations that are stepped together and whose states can be read and set."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np
import numpy.typing as npt

from sysid_ros.arrays import BoolArray, FloatArray, IndexArray
from sysid_ros.engine.simulation.simulation import Rollout
from sysid_ros.errors import SignalError, unknown_name

Rows = slice | Sequence[int] | IndexArray | BoolArray | None

_FULL_PHYSICS = int(mujoco.mjtState.mjSTATE_FULLPHYSICS.value)
_CONTROL = int(mujoco.mjtState.mjSTATE_CTRL.value)


@dataclass(frozen=True)
class BatchState:
    """States of k simulations; copies, which may be changed at will."""

    time: FloatArray  # (k,), s
    qpos: FloatArray  # (k, nq)
    qvel: FloatArray  # (k, nv)
    act: FloatArray  # (k, na)


class SimulationBatch:
    """Simulations of models of one size; made by :meth:`RolloutPool.batch`.

    Every method takes ``rows``, the simulations it is about: a slice, indices, a mask, or ``None``
    for all of them.

    A step starts the constraint solver afresh, where ``mj_step`` would start it at the previous
    solution: results agree to the solver's tolerance.

    Attributes:
      models: One MjModel per simulation.
    """

    def __init__(self, rollout: Callable[..., list[Rollout]], models: Sequence[Any]) -> None:
        """Start every simulation at its model's reference configuration.

        Args:
          rollout: :meth:`RolloutPool.rollout` of the pool that simulates.
          models: One MjModel per simulation.
        """
        if not models:
            raise SignalError("a batch needs at least one model")
        self.models = list(models)
        self._rollout = rollout
        self._states = np.stack([_reset_state(model) for model in self.models])

    def __len__(self) -> int:
        return len(self.models)

    @property
    def diverged(self) -> BoolArray:
        """The simulations that broke off, (n,); their states are NaN until reset or set."""
        return np.asarray(np.isnan(self._states).any(axis=1))

    def get_state(self, rows: Rows = None) -> BatchState:
        """The states of some simulations."""
        states = self._states[self._indices(rows)]
        q, v, a = self._addresses()
        return BatchState(
            states[:, 0].copy(), states[:, q].copy(), states[:, v].copy(), states[:, a].copy()
        )

    def set_state(
        self,
        *,
        time: npt.ArrayLike | None = None,
        qpos: npt.ArrayLike | None = None,
        qvel: npt.ArrayLike | None = None,
        act: npt.ArrayLike | None = None,
        rows: Rows = None,
    ) -> None:
        """Set parts of the states; what is not given stays.

        Args:
          time: One value for all or one each, (k,), s.
          qpos: One configuration for all, (nq,), or one each, (k, nq).
          qvel: Likewise, (nv,) or (k, nv).
          act: Likewise, (na,) or (k, na).
          rows: Which simulations.

        Raises:
          SignalError: A shape does not fit.
        """
        chosen = self._indices(rows)
        q, v, a = self._addresses()
        for name, given, columns in (("qpos", qpos, q), ("qvel", qvel, v), ("act", act, a)):
            if given is not None:
                width = columns.stop - columns.start
                self._states[chosen, columns] = _fitting(name, given, (len(chosen), width))
        if time is not None:
            self._states[chosen, 0] = _fitting("time", time, (len(chosen),))

    def get_flattened(self, rows: Rows = None) -> FloatArray:
        """The states as ``mjSTATE_FULLPHYSICS`` vectors, (k, nstate)."""
        flattened: FloatArray = self._states[self._indices(rows)]
        return flattened

    def set_flattened(self, states: npt.ArrayLike, rows: Rows) -> None:
        """Set whole states from ``mjSTATE_FULLPHYSICS`` vectors, (nstate,) or (k, nstate).

        Raises:
          SignalError: The shape does not fit.
        """
        chosen = self._indices(rows)
        shape = (len(chosen), self._states.shape[1])
        self._states[chosen] = _fitting("states", states, shape)

    def reset(self, rows: Rows = None, *, keyframe: str | None = None) -> None:
        """Put simulations back to the reference configuration or to a keyframe of their model.

        Raises:
          SignalError: There is no such keyframe.
        """
        for i in self._indices(rows):
            self._states[i] = _reset_state(self.models[i], keyframe)

    def forward(
        self,
        controls: npt.ArrayLike | None = None,
        *,
        rows: Rows = None,
        control_spec: int = _CONTROL,
    ) -> FloatArray:
        """Sensors at the present states, which stay as they are.

        Args:
          controls: As for one :meth:`step`; ``None``: zero.
          rows: Which simulations.
          control_spec: As for :meth:`RolloutPool.rollout`.

        Returns:
          Sensor data, (k, nsensordata).
        """
        chosen = self._indices(rows)
        return self._advanced(chosen, controls, 1, control_spec)[1][:, 0]

    def step(
        self,
        controls: npt.ArrayLike | None = None,
        *,
        substeps: int = 1,
        rows: Rows = None,
        control_spec: int = _CONTROL,
    ) -> FloatArray:
        """Advance simulations, in parallel.

        Args:
          controls: One row for all, (nu,), one each, (k, nu), or several in turn, (k, n, nu);
            ``None``: zero, for one step.
          substeps: Time steps for which each control is held.
          rows: Which simulations.
          control_spec: As for :meth:`RolloutPool.rollout`.

        Returns:
          Sensor data before each control acted, (k, n, nsensordata); rows after a divergence are
          NaN.

        Raises:
          SignalError: The controls' shape does not fit.
        """
        chosen = self._indices(rows)
        states, sensors = self._advanced(chosen, controls, substeps, control_spec)
        self._states[chosen] = states
        return sensors

    def _advanced(
        self, chosen: IndexArray, controls: npt.ArrayLike | None, substeps: int, control_spec: int
    ) -> tuple[FloatArray, FloatArray]:
        """Last states (k, nstate) and sensor data (k, n, nsensordata)."""
        width = int(mujoco.mj_stateSize(self.models[0], control_spec))
        given = np.zeros(width) if controls is None else np.asarray(controls, dtype=np.float64)
        if given.ndim < 3:
            given = _fitting("controls", given, (len(chosen), width))[:, np.newaxis]
        given = _fitting("controls", given, (len(chosen), given.shape[1], width))
        if not len(chosen):
            return self._states[chosen], np.zeros((0, given.shape[1], self.models[0].nsensordata))
        rollouts = self._rollout(
            [self.models[i] for i in chosen],
            list(self._states[chosen]),
            list(given),
            control_spec=control_spec,
            substeps=substeps,
        )
        last = np.stack([rollout.states[-1] for rollout in rollouts])
        return last, np.stack([rollout.sensordata for rollout in rollouts])

    def _indices(self, rows: Rows) -> IndexArray:
        everything = np.arange(len(self.models))
        return everything if rows is None else np.atleast_1d(everything[rows])

    def _addresses(self) -> tuple[slice, slice, slice]:
        """Return the places of qpos, qvel and act in a state."""
        model = self.models[0]
        v, a = 1 + model.nq, 1 + model.nq + model.nv
        return slice(1, v), slice(v, a), slice(a, a + model.na)


def _fitting(name: str, given: npt.ArrayLike, shape: tuple[int, ...]) -> FloatArray:
    """``given``, one row for all or one each, in ``shape``."""
    values = np.asarray(given, dtype=np.float64)
    try:
        fitting: FloatArray = np.broadcast_to(values, shape)
    except ValueError:
        raise SignalError(f"{name} has shape {values.shape}, expected {shape}") from None
    return fitting


def _reset_state(model: Any, keyframe: str | None = None) -> FloatArray:
    data = mujoco.MjData(model)
    if keyframe is not None:
        names = [model.key(i).name for i in range(model.nkey)]
        if keyframe not in names:
            raise SignalError(unknown_name("keyframe", keyframe, names))
        mujoco.mj_resetDataKeyframe(model, data, names.index(keyframe))
    state: FloatArray = np.empty(mujoco.mj_stateSize(model, _FULL_PHYSICS))
    mujoco.mj_getState(model, data, state, _FULL_PHYSICS)
    return state
