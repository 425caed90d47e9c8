"""Many simulations of any models and lengths, each native call running as many as it can."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any

import mujoco
import mujoco.rollout
import numpy as np
import numpy.typing as npt

from sysid_ros.sysid.mappings import SignalError
from sysid_ros.sysid.mujoco_warnings import collected_warnings
from sysid_ros.sysid.simulation_batch import SimulationBatch

FloatArray = npt.NDArray[np.float64]

_CONTROL = int(mujoco.mjtState.mjSTATE_CTRL.value)

# Rollouts of unequal length share a native call as long as padding adds no more than this.
_PADDING = 1.25


@dataclass(frozen=True)
class Rollout:
    """One simulation.

    Attributes:
      states: Full-physics states after each step, (n, nstate); column 0 is the time.
      sensordata: Sensors, (n, nsensordata); row i is their value *before* step i.
      valid: How many rows were simulated; fewer than n where the simulation diverged, and what
        follows is NaN, except for the times, which go on.
    """

    states: FloatArray
    sensordata: FloatArray
    valid: int

    @property
    def diverged(self) -> bool:
        """Whether the simulation broke off."""
        return self.valid < len(self.states)


class RolloutPool:
    """Runs simulations on threads that are kept between calls.

    :meth:`rollout` runs whole trajectories; :meth:`batch` makes simulations that are stepped.

    Attributes:
      n_threads: Number of threads.
      warnings: What MuJoCo warned about in the last call, such as a simulation that diverged.

    Usage::

        with RolloutPool() as pool:
            rollouts = pool.rollout(models, initial_states, controls)
    """

    def __init__(self, n_threads: int | None = None) -> None:
        """Start the threads.

        Args:
          n_threads: How many; ``None``: one per core that this process may use.
        """
        self.n_threads = n_threads or len(os.sched_getaffinity(0))
        self.warnings: list[str] = []
        # With one thread the pool would only add a handover; zero runs on the caller's.
        self._pool = mujoco.rollout.Rollout(nthread=self.n_threads if self.n_threads > 1 else 0)
        self._datas: dict[tuple[int, ...], list[Any]] = {}

    def __enter__(self) -> RolloutPool:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the threads; the pool cannot be used afterwards."""
        self._pool.close()

    def rollout(
        self,
        models: Sequence[Any],
        initial_states: Sequence[FloatArray],
        controls: Sequence[FloatArray],
        *,
        control_spec: int = _CONTROL,
        substeps: int = 1,
    ) -> list[Rollout]:
        """Simulate.

        Args:
          models: One MjModel per simulation.
          initial_states: One full-physics state per simulation, (nstate,).
          controls: One array per simulation, (number of steps, size of the control).
          control_spec: What the columns of the controls are, as for ``mujoco.rollout``: for
            example ``mjSTATE_CTRL | mjSTATE_XFRC_APPLIED`` for applied forces as well, or
            ``mjSTATE_MOCAP_POS | mjSTATE_MOCAP_QUAT``. Columns follow the bits' order.
          substeps: Time steps for which each row of a control is held.

        Returns:
          One result per simulation, in order, with one row per row of its control.

        Raises:
          SignalError: The lists differ in length, or a control in its width.
        """
        self._check(models, initial_states, controls, control_spec, substeps)
        self.warnings = []
        if substeps > 1:
            controls = [np.repeat(control, substeps, axis=0) for control in controls]
        results: list[Rollout | None] = [None] * len(models)
        groups: dict[tuple[int, ...], list[int]] = {}
        for i, model in enumerate(models):
            groups.setdefault(size_signature(model), []).append(i)
        for signature, members in groups.items():
            datas = self._datas.get(signature)
            if datas is None:
                datas = [mujoco.MjData(models[members[0]]) for _ in range(self.n_threads)]
                self._datas[signature] = datas
            for batch in _batches(members, [len(controls[i]) for i in members]):
                done = self._run(
                    [models[i] for i in batch],
                    datas,
                    [initial_states[i] for i in batch],
                    [controls[i] for i in batch],
                    control_spec,
                )
                for i, result in zip(batch, done, strict=True):
                    results[i] = result
        done_all = [result for result in results if result is not None]
        return done_all if substeps == 1 else [_every(result, substeps) for result in done_all]

    def batch(self, models: Any, count: int | None = None) -> SimulationBatch:
        """Simulations whose states are kept, read and set, and which are stepped together.

        Args:
          models: One MjModel to be simulated ``count`` times, or one per simulation, all of the
            same size.
          count: How many simulations of one model.

        Raises:
          SignalError: The models differ in size.
        """
        if isinstance(models, mujoco.MjModel):
            models = [models] * (1 if count is None else count)
        if len({size_signature(model) for model in models}) > 1:
            raise SignalError("the models of a batch must have the same elements")
        return SimulationBatch(self, models)

    @staticmethod
    def _check(
        models: Sequence[Any],
        initial_states: Sequence[FloatArray],
        controls: Sequence[FloatArray],
        control_spec: int,
        substeps: int,
    ) -> None:
        if not len(models) == len(initial_states) == len(controls):
            raise SignalError(
                f"{len(models)} models, {len(initial_states)} initial states and "
                f"{len(controls)} controls: one of each per simulation is needed"
            )
        if substeps < 1:
            raise SignalError(f"substeps must be at least 1, got {substeps}")
        for model, control in zip(models, controls, strict=True):
            width = mujoco.mj_stateSize(model, control_spec)
            if control.ndim != 2 or not len(control) or control.shape[1] != width:
                raise SignalError(
                    f"a control has shape {control.shape}, expected (steps, {width}) for control "
                    f"spec {control_spec}"
                )

    def _run(
        self,
        models: list[Any],
        datas: list[Any],
        initial_states: list[FloatArray],
        controls: list[FloatArray],
        control_spec: int,
    ) -> list[Rollout]:
        """Simulate models of one size for as long as the longest control."""
        lengths = [len(control) for control in controls]
        padded = np.zeros((len(controls), max(lengths), controls[0].shape[1]))
        for row, control in zip(padded, controls, strict=True):
            row[: len(control)] = control
            row[len(control) :] = control[-1:]
        with collected_warnings() as warnings:
            states, sensors = self._pool.rollout(
                models, datas, np.stack(initial_states), padded, control_spec=control_spec
            )
        self.warnings += warnings
        return [
            _checked(states[k, :length], sensors[k, :length], initial[0], model.opt.timestep)
            for k, (length, initial, model) in enumerate(
                zip(lengths, initial_states, models, strict=True)
            )
        ]


def _every(rollout: Rollout, substeps: int) -> Rollout:
    """One row per control: the state after its last substep, the sensors before its first."""
    return Rollout(
        rollout.states[substeps - 1 :: substeps],
        rollout.sensordata[::substeps],
        rollout.valid // substeps,
    )


def size_signature(model: Any) -> tuple[int, ...]:
    """What two models must have in common to be simulated with the same MjData."""
    return (
        model.nq, model.nv, model.na, model.nu, model.nbody, model.njnt, model.ngeom, model.nsite,
        model.nmocap, model.ntendon, model.neq, model.nsensor, model.nsensordata, model.nuserdata,
        model.npluginstate, model.nM, model.nB, model.nC, model.nD,
        mujoco.mj_stateSize(model, mujoco.mjtState.mjSTATE_INTEGRATION.value),
    )  # fmt: skip


def _batches(members: Sequence[int], lengths: Sequence[int]) -> list[list[int]]:
    """Split by length so that padding to the longest of a batch costs little."""
    batches: list[list[int]] = []
    longest = total = 0
    for length, member in sorted(zip(lengths, members, strict=True), reverse=True):
        if batches and longest * (len(batches[-1]) + 1) <= _PADDING * (total + length):
            batches[-1].append(member)
        else:
            batches.append([member])
            longest, total = length, 0
        total += length
    return batches


def _checked(states: FloatArray, sensors: FloatArray, start: float, timestep: float) -> Rollout:
    """Find where a simulation broke off: there MuJoCo repeats the state, or numbers overflow."""
    elapsed = timestep * np.arange(1, len(states) + 1)
    on_time = np.abs(states[:, 0] - start - elapsed) < 0.5 * timestep
    sound = on_time & np.isfinite(states).all(axis=1) & np.isfinite(sensors).all(axis=1)
    valid = len(states) if sound.all() else int(np.argmin(sound))
    if valid < len(states):
        states, sensors = states.copy(), sensors.copy()
        # Added up step by step, as MuJoCo does, so that times do not depend on the divergence.
        last = start if valid == 0 else states[valid - 1, 0]
        steps = np.full(len(states) - valid, timestep)
        states[valid:, 0] = np.cumsum(np.concatenate([[last], steps]))[1:]
        states[valid:, 1:] = np.nan
        sensors[valid:] = np.nan
    return Rollout(states, sensors, valid)
