# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The recording that a robot under its own servos would make of a motion, without noise."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import mujoco
import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.elements import n_actuators, places_in_qpos
from sysid_ros.engine.least_squares import Point, loss_named
from sysid_ros.engine.parameters import ParameterDict
from sysid_ros.engine.problem import WindowedProblem
from sysid_ros.engine.signals import (
    ModelSequences,
    SignalType,
    TimeSeries,
    create_initial_state,
    joint_shown,
    sensor_mapping,
)
from sysid_ros.engine.simulation import CandidateBuilder, RolloutPool
from sysid_ros.engine.windows import WindowGroup, model_group
from sysid_ros.excitation.design.servos import NoServoError, servo_commands, servos_of, settled


@dataclass(frozen=True)
class Sampled:
    """The sampling of one sensor."""

    kind: SignalType  # of the signal
    rate: float  # Hz
    noise: float  # standard deviation in the sensor's unit


@dataclass(frozen=True, kw_only=True)
class SimulatedFit:
    """A fit by simulation whose recording is still to be made."""

    spec: mujoco.MjSpec  # the model with a sensor for every measured signal
    params: ParameterDict  # its parameters, with bounds and priors
    values: FloatArray  # where they are, (p,)
    sensors: Mapping[str, Sampled]  # what is measured, by sensor
    command_rate: float = 100.0  # commands per second
    # by actuator what it does between two of them, "zoh" or "linear"; "zoh" for others
    between: Mapping[str, str] = field(default_factory=dict)
    window_length: float | None = 1.0  # s, of the fit's windows; ``None`` for the whole recording
    estimate_starts: bool = True  # whether the fit estimates the state at the beginning of each
    velocity_filter: float = 30.0  # Hz, of the positions that starts are read off

    def noisier(self, factor: float) -> SimulatedFit:
        """The same fit with the noise of every sensor multiplied."""
        sensors = {
            name: replace(one, noise=factor * one.noise) for name, one in self.sensors.items()
        }
        return replace(self, sensors=sensors)


@dataclass(frozen=True)
class Response:
    """The effect of the parameters on a recording of a motion."""

    times: Mapping[str, FloatArray]  # by signal its instants, (m,) s
    # by signal the derivative of its values by the parameters, from a start that is known, in units
    # of noise, (m, p)
    slopes: Mapping[str, FloatArray]


class PlannedRecording:
    """Recordings of motions of some joints that position servos drive.

    Attributes:
      model: The robot at the fit's values.
      servos: The actuator of each joint, (n,).
      positions: The signal that shows the position of each joint.
      instants: Of the commands, (k,) s.
    """

    def __init__(
        self,
        fit: SimulatedFit,
        joints: tuple[str, ...],
        home: FloatArray,
        duration: float,
        rollouts: RolloutPool,
    ) -> None:
        """Let the robot settle in its first posture.

        Args:
          fit: What the recording is for.
          joints: n joints that move.
          home: Posture of the whole model, (nq,); the other joints are told to stay there.
          duration: s.
          rollouts: Where simulations run.

        Raises:
          NoServoError: A joint has no position servo, or its position is not measured.
        """
        self._fit, self._rollouts = fit, rollouts
        model = CandidateBuilder(fit.spec, fit.params).build(fit.values).model
        self.model, self.servos = model, servos_of(model, joints)
        self.positions = _positions(model, joints, fit.sensors)
        self._rest = home[places_in_qpos(model, joints)]
        self._slope, self._held = servo_commands(model, home)
        self._actuators = [str(model.actuator(a).name) for a in range(n_actuators(model))]
        rest = settled(model, home, self._held)
        self._start = create_initial_state(model, rest.qpos, rest.qvel, rest.act)
        self.instants = np.arange(0.0, duration, 1.0 / fit.command_rate)
        self._standing = _standing(rest, model, fit.sensors, duration)
        self._problems: dict[bool, WindowedProblem] = {}

    def recorded(self, commands: FloatArray) -> ModelSequences:
        """The recording of a motion.

        Args:
          commands: Positions of the joints at :attr:`instants`, (k, n).
        """
        group = self._group(self._sequences(commands, self._standing), whole=True)
        problem, point = self._problem(group, whole=True)
        (errors,) = problem.residuals(point)
        return self._measured(group, commands, errors)

    def response(self, commands: FloatArray) -> Response:
        """The recording of a motion with its derivatives, see :meth:`recorded`."""
        group = self._group(self._sequences(commands, self._standing), whole=True)
        problem, point = self._problem(group, whole=True)
        (rows,) = problem.window_rows(point)
        (window,) = group.windows
        samples, signals = window.window.samples, window.sequence.signals
        own = [samples.signals == number for number in range(len(signals))]
        return Response(
            {one.name: samples.times[at] for one, at in zip(signals, own, strict=True)},
            {one.name: rows[at, :-1] for one, at in zip(signals, own, strict=True)},
        )

    def problem(self, sequences: ModelSequences) -> tuple[WindowedProblem, Point]:
        """The fit's own windows of a recording, at the fit's values."""
        return self._problem(self._group(sequences, whole=False), whole=False)

    def _sequences(self, commands: FloatArray, measured: TimeSeries) -> ModelSequences:
        controls = np.tile(self._held, (len(commands), 1))
        controls[:, self.servos] += self._slope[self.servos] * (commands - self._rest)
        columns = {
            name: (SignalType.MjCtrl, np.array([i])) for i, name in enumerate(self._actuators)
        }
        between = tuple(self._fit.between.get(name, "zoh") for name in columns)
        series = TimeSeries(self.instants, controls, columns, between)
        return ModelSequences(
            "planned", self._fit.spec, "planned", self._start, series, measured,
            allow_missing_sensors=True,
        )  # fmt: skip

    def _measured(
        self, group: WindowGroup, commands: FloatArray, errors: FloatArray
    ) -> ModelSequences:
        """The recording whose differences from standing still are ``errors``, (m,)."""
        (window,) = group.windows
        samples, data = window.window.samples, np.array(self._standing.data)
        columns = np.array([one.measured_column for one in window.sequence.signals])
        data[samples.rows, columns[samples.signals]] += errors
        still = self._standing
        return self._sequences(commands, TimeSeries(still.times, data, still.signal_mapping))

    def _group(self, sequences: ModelSequences, *, whole: bool) -> WindowGroup:
        fit = self._fit
        return model_group(
            sequences,
            fit.params,
            window_length=None if whole else fit.window_length,
            estimate_starts=fit.estimate_starts and not whole,
            velocity_filter=fit.velocity_filter,
        )

    def _problem(self, group: WindowGroup, *, whole: bool) -> tuple[WindowedProblem, Point]:
        """The problem over some windows, whose derivatives are checked the first time only."""
        known = self._problems.get(whole)
        if known is None:
            noise = {
                signal.name: self._fit.sensors[signal.sensor].noise
                for signal in group.windows[0].sequence.signals
            }
            known = WindowedProblem(
                [group], self._fit.params, self._rollouts, loss=loss_named("linear"), noise=noise
            )
            known.check_derivatives(self._point(known))
            self._problems[whole] = known
        else:
            known = known.with_groups([group], "auto")
        return known, self._point(known)

    def _point(self, problem: WindowedProblem) -> Point:
        return Point(self._fit.values, problem.initial_point().starts)


def _positions(
    model: mujoco.MjModel, joints: tuple[str, ...], sensors: Mapping[str, Sampled]
) -> tuple[str, ...]:
    """The measured signal that shows each joint's position.

    Raises:
      NoServoError: There is none.
    """
    position = int(mujoco.mjtSensor.mjSENS_JOINTPOS)
    shown = {
        joint_shown(model, int(model.sensor(name).id)): name
        for name in sensors
        if int(model.sensor(name).type[0]) == position
    }
    missing = [name for name in joints if name not in shown]
    if missing:
        raise NoServoError(f"no signal shows the position of {', '.join(missing)} (--joints)")
    return tuple(shown[name] for name in joints)


def _standing(
    data: mujoco.MjData, model: mujoco.MjModel, sensors: Mapping[str, Sampled], duration: float
) -> TimeSeries:
    """Measurements of a robot that stands still."""
    known = sensor_mapping(model)
    parts = [
        (own, np.arange(0.0, duration, 1.0 / own.rate), data.sensordata[known[name][1]])
        for name, own in sensors.items()
    ]
    instants = np.unique(np.concatenate([times for _, times, _ in parts]))
    table = np.full((len(instants), sum(len(value) for _, _, value in parts)), np.nan)
    mapping, first = {}, 0
    for name, (own, times, value) in zip(sensors, parts, strict=True):
        columns = first + np.arange(len(value))
        first += len(value)
        table[np.ix_(np.searchsorted(instants, times), columns)] = value
        mapping[name] = (own.kind, columns)
    return TimeSeries(instants, table, mapping)
