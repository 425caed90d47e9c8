# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Starts of windows: joint states read off the measurements, with their uncertainty.

A start is the state (qpos, qvel, act) at a window's first instant. Positions come from position
sensors, velocities from velocity sensors or from the derivative of the zero-phase filtered
position. What nothing measures follows from the model's equalities where they tie it to what is
measured; elsewhere it starts with a wide prior where a simulation of the recording has it
(:mod:`.unmeasured_joints`), or at the model's reference. Servos that integrate their command hold
what they drive (:mod:`.integrated_inputs`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

import mujoco
import numpy as np

from sysid_ros.arrays import BoolArray, FloatArray
from sysid_ros.engine.elements import FREE
from sysid_ros.engine.residuals import UNCHANGED, SignalSettings
from sysid_ros.engine.signals import Piecewise, SignalIntegral, TimeSeries, known_from
from sysid_ros.engine.windows.ball_poses import ball_poses
from sysid_ros.engine.windows.closed_loops import ClosedLoops
from sysid_ros.engine.windows.integrated_inputs import HeldPlaces, PlacesAlong
from sysid_ros.engine.windows.measured_joints import measured_joints
from sysid_ros.engine.windows.measured_twists import MeasuredTwist, measured_twists
from sysid_ros.engine.windows.spatial_starts import (
    MeasuredPose,
    angular_velocity_at,
    measured_poses,
    orientation_at,
)
from sysid_ros.engine.windows.unmeasured_joints import CarriedJoints, KnownMotion, carried_joints

# Far beyond what encoders err by, so that the prior of a start does not matter beside them.
_PLACE_SPREAD = 0.1  # rad or m
# Of what follows from measured joints: as much as those err by.
_TIED_PLACE_SPREAD = 2e-3  # rad or m
_TIED_RATE_SHARE = 0.1  # of how much measured velocities vary
_INSTANTS = 300  # of a recording, in which places that servos hold are read
_READINGS = 4  # instants at which readings are kept: windows that are simulated again
_LEAST_RATE_SPREAD = 1e-2  # rad/s or m/s, of a joint that hardly moves


class StartReader:
    """Reads start states off one sequence's measurements.

    Args:
      model: The compiled model that the sensor names refer to.
      sensordata: The measurements; NaN where a signal was not measured.
      base: ``mjSTATE_FULLPHYSICS`` state for everything that no sensor measures.
      velocity_filter: Cut-off of the zero-phase low-pass in front of the derivative, Hz.
    """

    def __init__(
        self,
        model: mujoco.MjModel,
        sensordata: TimeSeries,
        base: FloatArray,
        *,
        velocity_filter: float,
    ) -> None:
        self._model = model
        self._measured = sensordata
        self._base = base
        first = base[1 : 1 + int(model.nq)]
        self._joints = measured_joints(model, sensordata, velocity_filter, first)
        self._poses = measured_poses(model, sensordata, velocity_filter)
        self._poses |= ball_poses(model, sensordata, self._joints, self._poses, velocity_filter)
        self._twists = measured_twists(model, sensordata, self._poses, velocity_filter)
        self._loops = ClosedLoops.of(model, self._measured_dofs())
        self._carried: CarriedJoints | None = None
        self._held = HeldPlaces(model)
        self._read: dict[tuple[object, ...], FloatArray] = {}

    def carry(self, integrals: Sequence[SignalIntegral | None], span: tuple[float, float]) -> None:
        """Simulate the joints that nothing measures over a recording, to start there from now on.

        Over more of it than before it goes on from there.

        Args:
          integrals: Of each input's command.
          span: From when to when they and the measurements are known, s.
        """
        known = self._known_motion()
        if self._loops is not None:
            every = tuple(each for functions in known.places.values() for each in functions)
            tied = dict.fromkeys(self._loops.tied.tolist(), every)
            known = KnownMotion({**known.places, **tied}, known.rates)
        begun, self._carried = self._carried, None
        self._read.clear()
        self._carried = carried_joints(
            self._model, known, self._measured, self.states, integrals, span, begun
        )
        self._read.clear()

    def _known_motion(self) -> KnownMotion:
        """The motion that measurements tell; a free joint of which they tell nothing stays."""
        model, places, rates = self._model, dict[int, tuple[Piecewise, ...]](), {}
        for joint, motion in self._joints.items():
            places[int(model.jnt_dofadr[joint])] = motion.position, motion.velocity
        for joint, pose in self._poses.items():
            first = int(model.jnt_dofadr[joint])
            angular = first + (3 if int(model.jnt_type[joint]) == FREE else 0)
            for dof, part in ((first, pose.position), (angular, pose.orientation)):
                if part is not None:
                    places |= dict.fromkeys(range(dof, dof + 3), (part.values,))
        for joint, twist in self._twists.items():
            first = int(model.jnt_dofadr[joint])
            if twist.angular is None and first + 3 not in places:
                places = {**dict.fromkeys(range(first, first + 6), ()), **places}
            for dof, velocity in ((first, twist.linear), (first + 3, twist.angular)):
                if velocity is not None and dof not in places:
                    rates[dof] = velocity
        return KnownMotion(places, rates)

    @property
    def carried(self) -> BoolArray:
        """The unknowns of a start, (2 nv + na,), that a simulation of the recording tells."""
        found = np.zeros(2 * self._model.nv + self._model.na, dtype=np.bool_)
        if self._carried is not None:
            dofs = self._carried.rates - 1 - self._model.nq
            found[[*dofs, *(self._model.nv + dofs)]] = True
        return found

    @property
    def tells_all(self) -> bool:
        """True if measurements tell the motion of all joints, whatever drove them."""
        tied = [] if self._loops is None else self._loops.tied.tolist()
        return len({*self._measured_dofs(), *tied}) == int(self._model.nv)

    def _measured_dofs(self) -> set[int]:
        """The degrees of freedom of joints that are measured, if in part."""
        dofs = {int(self._model.jnt_dofadr[joint]) for joint in self._joints}
        for joint in self._poses:
            first = int(self._model.jnt_dofadr[joint])
            free = int(self._model.jnt_type[joint]) == FREE
            dofs.update(range(first, first + (6 if free else 3)))
        return dofs

    @cached_property
    def places_along(self) -> PlacesAlong:
        """The places that servos that integrate their command seem to hold along the recording."""
        times = np.asarray(self._measured.times)
        chosen = times[np.unique(np.linspace(0, len(times) - 1, _INSTANTS).astype(int))]
        chosen = chosen[[self.known_from(t) == t for t in chosen.tolist()]]
        return self._held.along(chosen, self.states(chosen, 0.0, {}))

    @cached_property
    def sensors(self) -> tuple[str, ...]:
        """The position and orientation sensors that starts are read from."""
        scalar = tuple(motion.sensor for motion in self._joints.values())
        return scalar + tuple(name for pose in self._poses.values() for name in pose.sensors)

    @cached_property
    def rate_sensors(self) -> tuple[str, ...]:
        """The sensor of each scalar joint that its velocity is read from."""
        return tuple(motion.rate_sensor for motion in self._joints.values())

    def state(
        self, t: float, velocity_offset: float, settings: Mapping[str, SignalSettings]
    ) -> FloatArray:
        """The state at one instant, (nstate,); see :meth:`states`."""
        found: FloatArray = self.states(np.array([t]), velocity_offset, settings)[0]
        return found

    def states(
        self, t: FloatArray, velocity_offset: float, settings: Mapping[str, SignalSettings]
    ) -> FloatArray:
        """The states at ``t``, velocities taken at ``t + velocity_offset``.

        Args:
          t: Instants, (w,) s.
          velocity_offset: Where velocities belong relative to positions, s.
          settings: How sensors differ from the model's, by name; undone here.

        Returns:
          ``mjSTATE_FULLPHYSICS`` vectors (time, qpos, qvel, act), shape (w, nstate); time is 0.
        """
        names = (*self.sensors, *self.rate_sensors)
        known = {name: settings.get(name, UNCHANGED) for name in names}
        states = self.readings(t, velocity_offset, {n: one.delay for n, one in known.items()})
        for name, rate, place in zip(self.sensors, self.rate_sensors, self.places, strict=False):
            undo(states, place, known[name], None if rate == name else known[rate])
        return states

    def readings(
        self, t: FloatArray, velocity_offset: float, delays: Mapping[str, float]
    ) -> FloatArray:
        """The states of :meth:`states` as the sensors show them, gain and bias included."""
        late = tuple(delays[name] for name in (*self.sensors, *self.rate_sensors))
        key = t.tobytes(), velocity_offset, late
        if (found := self._read.pop(key, None)) is None:
            found = self._read_off(t, velocity_offset, delays)
            if len(self._read) >= _READINGS:
                del self._read[next(iter(self._read))]
        self._read[key] = found  # the latest is the last to go
        return np.array(found)

    def _read_off(
        self, t: FloatArray, velocity_offset: float, delays: Mapping[str, float]
    ) -> FloatArray:
        states: FloatArray = np.tile(self._base, (len(t), 1))
        states[:, 0] = 0.0
        rest = iter([delays[name] for name in self.sensors])
        for (position, velocity), motion in zip(self.places, self._joints.values(), strict=True):
            states[:, position] = motion.position(t + next(rest))
            rated = t + delays[motion.rate_sensor]
            states[:, velocity] = motion.velocity(rated + velocity_offset)
        for joint, pose in self._poses.items():
            self._write_pose(states, joint, pose, t, velocity_offset, rest)
        if self._carried is not None:
            self._carried.write(states, t, velocity_offset)
        if self._loops is not None:
            self._loops.close(states)
        self._held.write(states)
        return states

    @cached_property
    def places(self) -> tuple[tuple[int, int], ...]:
        """The places in a state of the position and velocity of each scalar joint's sensor.

        Its sensors come first in :attr:`sensors`; those of poses have neither gain nor bias.
        """
        model, first = self._model, 1 + int(self._model.nq)
        return tuple(
            (1 + int(model.jnt_qposadr[joint]), first + int(model.jnt_dofadr[joint]))
            for joint in self._joints
        )

    def known_from(self, t: float) -> float:
        """The first instant from ``t`` on at which every measured joint is known, s.

        Infinity where there is none: a start is read off measurements, never across a gap.
        """
        functions = [motion.position for motion in self._joints.values()]
        for pose in self._poses.values():
            functions += [part.values for part in (pose.position, pose.orientation) if part]
        return known_from(functions, t)

    def _write_pose(
        self,
        states: FloatArray,
        joint: int,
        pose: MeasuredPose,
        t: FloatArray,
        velocity_offset: float,
        delays: Iterator[float],
    ) -> None:
        """Write a free or ball joint's poses and velocities at ``t`` into states."""
        model = self._model
        place = 1 + int(model.jnt_qposadr[joint])
        dof = 1 + model.nq + int(model.jnt_dofadr[joint])
        if pose.position is not None:
            shown = t + next(delays)
            states[:, place : place + 3] = pose.position.values(shown)
            states[:, dof : dof + 3] = pose.position.slope(shown + velocity_offset)
        if pose.orientation is not None:
            shown = t + next(delays)
            first = 3 if int(model.jnt_type[joint]) == FREE else 0
            turned = orientation_at(pose.orientation, shown)
            states[:, place + first : place + first + 4] = turned
            rate = angular_velocity_at(pose.orientation, shown + velocity_offset)
            states[:, dof + first : dof + first + 3] = rate
            if joint in self._twists:
                self._write_twist(states, self._twists[joint], dof, turned, t + velocity_offset)

    def _write_twist(
        self,
        states: FloatArray,
        twist: MeasuredTwist,
        dof: int,
        orientation: FloatArray,
        t: FloatArray,
    ) -> None:
        """Write a free joint's measured velocities: linear in the world, angular in the body."""
        if twist.linear is not None:
            states[:, dof : dof + 3] = twist.linear.in_world(t, orientation)
        if twist.angular is not None:
            states[:, dof + 3 : dof + 6] = twist.angular.in_body(t, orientation)

    @cached_property
    def spread(self) -> FloatArray:
        """Standard deviation of an uninformed prior on (dof positions, qvel, act).

        Returns:
          Shape (2 nv + na,): the range within which a start may be estimated without the prior
          mattering beside measurements.
        """
        nv = self._model.nv
        spread = np.ones(2 * nv + self._model.na)
        for joint, motion in self._joints.items():
            dof = self._model.jnt_dofadr[joint]
            spread[dof] = _PLACE_SPREAD
            spread[nv + dof] = max(motion.velocity_spread, _LEAST_RATE_SPREAD)
        for joint, pose in self._poses.items():
            dof = int(self._model.jnt_dofadr[joint])
            free = int(self._model.jnt_type[joint]) == FREE
            parts = (pose.position, pose.orientation) if free else (pose.orientation,)
            for i, part in enumerate(parts):
                if part is not None:
                    own = slice(dof + 3 * i, dof + 3 * i + 3)
                    spread[own] = _PLACE_SPREAD
                    rate = pose.spread[0 if part is pose.position else 1]
                    spread[nv:][own] = max(rate, _LEAST_RATE_SPREAD)
        if self._loops is not None:
            rates = [motion.velocity_spread for motion in self._joints.values()]
            spread[self._loops.tied] = _TIED_PLACE_SPREAD
            spread[nv + self._loops.tied] = max(
                _TIED_RATE_SHARE * max(rates, default=0.0), _LEAST_RATE_SPREAD
            )
        return spread


def undo(
    states: FloatArray,
    place: tuple[int, int],
    setting: SignalSettings,
    rate: SignalSettings | None,
) -> None:
    """Take sensors' gains and biases out of the positions and velocities that they show.

    Args:
      states: Changed in place, (w, nstate).
      place: Of the position and the velocity in them.
      setting: Of the position's sensor.
      rate: Of the velocity's; without one the velocity is the position's derivative.
    """
    undone, (position, velocity) = setting.inverse, place
    states[:, position] = undone.gain * states[:, position] + undone.bias
    derived = SignalSettings(gain=undone.gain) if rate is None else rate.inverse
    states[:, velocity] = derived.gain * states[:, velocity] + derived.bias
