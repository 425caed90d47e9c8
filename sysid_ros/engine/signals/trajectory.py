# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Recorded and simulated trajectories, and what belongs to one model."""

from __future__ import annotations

import copy
import dataclasses
import logging
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np
import numpy.typing as npt

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.elements import compiled
from sysid_ros.engine.signals import mappings, timeseries_io
from sysid_ros.engine.signals.initial_state import FULL_PHYSICS, create_initial_state
from sysid_ros.engine.signals.mappings import SignalType
from sysid_ros.engine.signals.timeseries import TimeSeries
from sysid_ros.errors import SignalError, unknown_name
from sysid_ros.time_intervals import Intervals

__all__ = ["ModelSequences", "SystemTrajectory", "create_initial_state"]

_LOG = logging.getLogger(__name__)

_PER_RECORDING = ("sequence_name", "initial_state", "control", "sensordata", "gaps")
_SENSOR_GROUPS = {
    "joint_pos": mujoco.mjtSensor.mjSENS_JOINTPOS,
    "joint_vel": mujoco.mjtSensor.mjSENS_JOINTVEL,
    "joint_torque": mujoco.mjtSensor.mjSENS_JOINTACTFRC,
}


@dataclass(frozen=True, eq=False)
class SystemTrajectory:
    """Commands, measurements and, where simulated, states of one run."""

    model: Any  # the MjModel it belongs to
    control: TimeSeries  # commands, (n, nu), or fewer columns with names
    sensordata: TimeSeries  # measurements, (m, nsensordata), or other columns with names
    initial_state: FloatArray  # full-physics state at the start, (nstate,)
    state: TimeSeries | None = None  # full-physics states, (m, nstate), of a simulated run

    def __len__(self) -> int:
        return len(self.sensordata)

    @property
    def sensordim(self) -> int:
        """Number of scalar sensor readings of the model."""
        return int(self.model.nsensordata)

    def replace(self, **changes: Any) -> SystemTrajectory:
        """A copy with some fields replaced."""
        return dataclasses.replace(self, **changes)

    def get_sensordata_slice(self, sensor: str = "joint_pos") -> FloatArray:
        """Columns of all sensors of one type, in the model's order, (n, number of columns).

        Args:
          sensor: joint_pos, joint_vel or joint_torque.

        Raises:
          SignalError: The type is another, or the model has no such sensor.
        """
        if sensor not in _SENSOR_GROUPS:
            raise SignalError(unknown_name("type of sensor", sensor, _SENSOR_GROUPS))
        columns = [
            int(self.model.sensor_adr[i]) + k
            for i in range(self.model.nsensor)
            if int(self.model.sensor_type[i]) == int(_SENSOR_GROUPS[sensor])
            for k in range(self.model.sensor_dim[i])
        ]
        if not columns:
            raise SignalError(f"the model has no {sensor} sensor")
        return self.sensordata.data[:, columns]

    def check_compatible(self, allow_missing_sensors: bool = False) -> None:
        """Check that everything fits the model.

        Args:
          allow_missing_sensors: Whether measurements without names may be fewer or more than the
            model's sensors. Measurements with names are checked by name.

        Raises:
          SignalError: A name is unknown or a width differs.
        """
        _check_sensors(self.model, self.sensordata, allow_missing_sensors)
        _check_controls(self.model, self.control)
        size = mujoco.mj_stateSize(self.model, FULL_PHYSICS)
        if self.state is not None and self.state.data.shape[1] != size:
            raise SignalError(
                f"State dimension {self.state.data.shape[1]} does not match model state "
                f"dimension {size}"
            )
        if self.initial_state.shape != (size,):
            raise SignalError(
                f"Initial state dimension {self.initial_state.shape[0]} does not match model "
                f"state dimension {size}"
            )

    def split(self, chunk_size: int) -> list[SystemTrajectory]:
        """Cut a simulated run into consecutive pieces of ``chunk_size`` samples.

        Each piece starts at the state before its first sample; an incomplete rest is left out.

        Raises:
          SignalError: There are no states, or the size is not positive.
        """
        if self.state is None:
            raise SignalError("Cannot split rollout with missing state field.")
        if chunk_size < 1:
            raise SignalError(f"a piece needs at least one sample, got {chunk_size}")
        pieces = []
        for first in range(0, len(self) - chunk_size + 1, chunk_size):
            rows = slice(first, first + chunk_size)
            start = self.initial_state if first == 0 else self.state.data[first - 1]
            pieces.append(
                SystemTrajectory(
                    self.model,
                    _rows(self.control, rows),
                    _rows(self.sensordata, rows),
                    start,
                    _rows(self.state, rows),
                )
            )
        return pieces

    def save_to_disk(self, path: str | os.PathLike[str]) -> None:
        """Write everything but the model as npz (no pickle), atomically.

        Raises:
          OutputError: The file cannot be written.
        """
        arrays = {"initial_state": self.initial_state}
        for name, series in self._series().items():
            arrays.update(series.to_arrays(f"{name}_"))
        timeseries_io.save_npz(path, arrays)

    @classmethod
    def load_from_disk(
        cls, path: str | os.PathLike[str], model: Any, allow_missing_sensors: bool = False
    ) -> SystemTrajectory:
        """Read what :meth:`save_to_disk` wrote.

        Args:
          path: The npz file.
          model: The model it belongs to.
          allow_missing_sensors: As for :meth:`check_compatible`.

        Raises:
          SignalError: The file is missing, holds no trajectory, or does not fit the model.
        """
        arrays = timeseries_io.load_npz(path)
        if "initial_state" not in arrays:
            raise SignalError(f"{os.fspath(path)} holds no trajectory: initial_state is missing")
        series = {
            name: TimeSeries.from_arrays(arrays, os.fspath(path), f"{name}_")
            for name in ("control", "sensordata", "state")
            if name != "state" or "state_times" in arrays
        }
        trajectory = cls(
            model,
            series["control"],
            series["sensordata"],
            arrays["initial_state"],
            series.get("state"),
        )
        trajectory.check_compatible(allow_missing_sensors)
        return trajectory

    def render(
        self, height: int = 240, width: int = 320, camera: str | int = -1, fps: int = 30
    ) -> list[npt.NDArray[np.uint8]]:
        """Pictures of a simulated run, (height, width, 3) each.

        Raises:
          SignalError: There are no states.
        """
        from sysid_ros.engine.signals.rendering import render_rollout

        if self.state is None:
            raise SignalError("Cannot render rollout with missing state field.")
        return render_rollout(
            self.model,
            mujoco.MjData(self.model),
            self.state.data[np.newaxis],
            framerate=fps,
            camera=camera,
            width=width,
            height=height,
        )

    def _series(self) -> dict[str, TimeSeries]:
        series = {"control": self.control, "sensordata": self.sensordata}
        return series if self.state is None else {**series, "state": self.state}


class ModelSequences:
    """A model and the recordings that were made with it.

    Attributes:
      name: Of the model, also for its file.
      spec: The user's MjSpec, which is never changed.
      gt_model: The spec compiled as it is.
      sequence_name: One name per recording.
      initial_state: One full-physics state per recording.
      control: One series of commands per recording.
      sensordata: One series of measurements per recording.
      measured_rollout: The same, as one :class:`SystemTrajectory` per recording.
      allow_missing_sensors: As for :meth:`SystemTrajectory.check_compatible`.
      robot: Whose recordings they are, where several identical robots have parameters of their own.
      gaps: Per recording the stretches [s] that do not count, sorted: no window touches them, and
        torque is not known there.
    """

    def __init__(
        self,
        name: str,
        spec: Any,
        sequence_name: str | Sequence[str],
        initial_state: FloatArray | Sequence[FloatArray],
        control: TimeSeries | Sequence[TimeSeries],
        sensordata: TimeSeries | Sequence[TimeSeries],
        allow_missing_sensors: bool = False,
        robot: str | None = None,
        gaps: Sequence[Intervals] = (),
    ) -> None:
        """Bundle a model with one recording, or with several as lists of equal length.

        Without ``gaps`` all of every recording counts.

        Raises:
          ModelError: The model does not compile.
          SignalError: The lists differ in length, or a recording does not fit the model.
        """
        self.name = name
        self.spec = spec
        self.allow_missing_sensors = allow_missing_sensors
        self.robot = robot
        self.gt_model = compiled(spec)
        self.sequence_name = [sequence_name] if isinstance(sequence_name, str) else [*sequence_name]
        self.initial_state = [np.asarray(state) for state in np.atleast_2d(initial_state)]
        self.control = _as_list(control)
        self.sensordata = _as_list(sensordata)
        self.gaps = [*gaps] or [()] * len(self)
        self._bundle()

    def _bundle(self) -> None:
        """Join what belongs to each recording, once it fits the model."""
        self._check_counts()
        self.measured_rollout = [
            SystemTrajectory(self.gt_model, *parts)
            for parts in zip(self.control, self.sensordata, self.initial_state, strict=True)
        ]
        for trajectory in self.measured_rollout:
            trajectory.check_compatible(self.allow_missing_sensors)

    def __len__(self) -> int:
        return len(self.sequence_name)

    def __getitem__(self, key: int | slice) -> ModelSequences:
        rows = slice(key, key + 1 or None) if isinstance(key, int) else key
        if not self.sequence_name[rows]:
            raise IndexError(f"{self.name!r} has {len(self)} sequences, there is no {key}")
        return self.select(range(len(self))[rows])

    def select(self, places: Sequence[int]) -> ModelSequences:
        """Some of the recordings only, in this order."""
        own = {name: getattr(self, name) for name in _PER_RECORDING}
        return self.replaced(**{name: [each[k] for k in places] for name, each in own.items()})

    def replaced(self, **changes: Any) -> ModelSequences:
        """The same with some of what it is made of replaced, the model compiled with its spec only.

        Args:
          **changes: Arguments of the class; those of each recording as lists.
        """
        if changes.keys() <= {*_PER_RECORDING}:
            same = copy.copy(self)
            vars(same).update(changes)
            same._bundle()
            return same
        names = ("name", "spec", *_PER_RECORDING, "allow_missing_sensors", "robot")
        return ModelSequences(**{name: getattr(self, name) for name in names} | changes)

    def with_finer_step(self, times: int) -> ModelSequences:
        """The same recordings with a model whose time step is this many times smaller."""
        spec = self.spec.copy()
        spec.option.timestep /= times
        return self.replaced(spec=spec)

    def _check_counts(self) -> None:
        counts = {name: len(getattr(self, name)) for name in _PER_RECORDING}
        if len(set(counts.values())) > 1:
            listed = ", ".join(f"{count} {what}" for what, count in counts.items())
            raise SignalError(f"model {self.name!r} needs one of each per sequence, got {listed}")


def _as_list(series: TimeSeries | Iterable[TimeSeries]) -> list[TimeSeries]:
    return [series] if isinstance(series, TimeSeries) else list(series)


def _rows(series: TimeSeries, rows: slice) -> TimeSeries:
    return dataclasses.replace(series, times=series.times[rows], data=series.data[rows])


def _check_sensors(model: Any, sensordata: TimeSeries, allow_missing: bool) -> None:
    if sensordata.signal_mapping is None:
        columns = sensordata.data.shape[1]
        if columns != model.nsensordata:
            message = (
                f"Sensor data dimension {columns} does not match model sensor dimension "
                f"{model.nsensordata}"
            )
            if not allow_missing:
                raise SignalError(message)
            _LOG.warning("%s", message)
        return
    known = dict(mappings.sensor_mapping(model))
    for mapping in mappings.state_mappings(model):
        known.update(mapping)
    for name, (kind, columns) in sensordata.signal_mapping.items():
        if kind is SignalType.CustomObs:
            continue
        if name not in known or known[name][0] is not kind:
            valid = [each for each, entry in known.items() if entry[0] is kind]
            raise SignalError(unknown_name(f"measured signal ({kind.name})", name, valid))
        if len(columns) != len(known[name][1]):
            raise SignalError(
                f"measured signal {name!r} has {len(columns)} columns, the model's "
                f"{len(known[name][1])}"
            )


def _check_controls(model: Any, control: TimeSeries) -> None:
    if control.signal_mapping is None:
        if control.data.shape[1] != model.nu:
            raise SignalError(
                f"Control data dimension {control.data.shape[1]} does not match model control "
                f"dimension {model.nu}"
            )
        return
    known, inputs = mappings.control_mapping(model), mappings.control_names(model)
    for name, (_, columns) in control.signal_mapping.items():
        if name in inputs and len(columns) == 1:
            continue
        key = control_key(known, name)
        if len(columns) not in (1, len(known[key][1])):  # one is that of the first input
            raise SignalError(
                f"control {name!r} has {len(columns)} columns, the actuator takes "
                f"{len(known[key][1])}"
            )


def control_key(known: mappings.SignalMapping, name: str) -> str:
    """The mapping's name of a control that may lack its suffix.

    Raises:
      SignalError: There is no such actuator.
    """
    for key in (name, name + mappings.SUFFIXES[SignalType.MjCtrl]):
        if key in known:
            return key
    raise SignalError(unknown_name("control", name, known))


def control_column(control: TimeSeries, name: str) -> int | None:
    """The column of an actuator's command, named with its suffix or without; ``None`` for none."""
    known = control.signal_mapping or {}
    for key in (name, name + mappings.SUFFIXES[SignalType.MjCtrl]):
        if key in known:
            return int(known[key][1][0])
    return None
