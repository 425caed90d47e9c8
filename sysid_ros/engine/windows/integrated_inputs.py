# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Servos that integrate a commanded velocity: the place that they hold when a window starts.

Nothing measures that place, and commands tell its changes only: it is their integral and a constant
of the recording. At every instant the servo holds about the place at which it exerts what the
measured motion asks for; friction and acceleration, which are not known, hardly count in the mean
over the recording, which the constant is taken from. Near a dead point of a linkage a small torque
is a large force, so that instants count by the square of the servo's lever there. At an end of its
range the integral stops.
Where commands do not tell the servo's motion, the place is read off each instant by itself. The
rest is estimated with the start.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import mujoco
import numpy as np

from sysid_ros.arrays import BoolArray, FloatArray, IndexArray
from sysid_ros.engine.elements import FREE, actuator_moments, is_velocity_servo, takes_velocity
from sysid_ros.engine.residuals import SignalSettings
from sysid_ros.engine.signals import SignalIntegral, input_actuators
from sysid_ros.engine.windows.closed_loops import free_directions

_FINE = 0.01  # s, between instants at which an integral is held within its range
_ROUNDS = 5  # in which a place that comes to an end of its range finds where it began
_LEAST = 1e-12  # of the squares of levers, where a servo has none anywhere
_FOLLOWS = 0.5  # of a place's variation, up to which the integral may leave it unexplained


@dataclass(frozen=True)
class IntegratedInput:
    """An input that its actuator integrates to the place that it holds."""

    input: int  # its column of the controls
    actuator: int  # its number
    address: int  # of the place in an ``mjSTATE_FULLPHYSICS`` vector


def integrated_inputs(model: mujoco.MjModel) -> tuple[IntegratedInput, ...]:
    """All inputs of a model that are integrated so."""
    first = 1 + int(model.nq) + int(model.nv)
    return tuple(
        IntegratedInput(column, int(actuator), first + int(model.actuator_actadr[actuator]))
        for column, actuator in enumerate(input_actuators(model))
        if takes_velocity(model, actuator)
        and not is_velocity_servo(model, actuator)
        and model.actuator_gainprm[actuator, 0] != 0.0
    )


class HeldPlaces:
    """The places that those servos of a model hold that integrate their command."""

    def __init__(self, model: mujoco.MjModel) -> None:
        self._model = model
        self._inputs = integrated_inputs(model)
        self._own = np.array([one.actuator for one in self._inputs], dtype=np.intp)
        self._addresses = np.array([one.address for one in self._inputs], dtype=np.intp)
        limited = np.asarray(model.actuator_actlimited[self._own], dtype=bool)
        self._ends = np.where(limited, model.actuator_actrange[self._own].T, [[-np.inf], [np.inf]])

    def write(self, states: FloatArray) -> None:
        """Write the places into ``mjSTATE_FULLPHYSICS`` vectors (w, nstate), in place.

        They are those at which the servos bear gravity and dampers, each by itself.
        """
        if self._inputs:
            states[:, self._addresses] = np.clip(self._places(states)[0], *self._ends)

    def along(self, times: FloatArray, states: FloatArray) -> PlacesAlong:
        """The places held at some instants (n,) s of a recording, from its states (n, nstate)."""
        return PlacesAlong(times, *self._places(states), self._ends, self._own)

    def _places(self, states: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Places with the force against gravity and dampers, and squares of levers, (w, servos).

        Floors may bear some of the force.
        """
        model, own, data = self._model, self._own, mujoco.MjData(self._model)
        first = 1 + model.nq + model.nv
        gain, bias = model.actuator_gainprm[own, 0], model.actuator_biasprm[own]
        loaded = not np.any(np.asarray(model.jnt_type) == FREE)
        found, levers = np.empty((2, len(states), len(own)))
        for place, lever, state in zip(found, levers, states, strict=True):
            data.qpos[:], data.qvel[:] = state[1 : 1 + model.nq], state[1 + model.nq : first]
            mujoco.mj_fwdPosition(model, data)
            mujoco.mj_fwdVelocity(model, data)
            force = bias[:, 0] + bias[:, 1] * data.actuator_length[own]
            force += bias[:, 2] * data.actuator_velocity[own]
            asked = _load(model, data, own) if loaded else 0.0
            place[:] = (asked - force) / gain
            lever[:] = np.sum(actuator_moments(data)[own] ** 2, axis=1)
        return found, levers


def _load(model: mujoco.MjModel, data: mujoco.MjData, own: IndexArray) -> FloatArray:
    """The forces of some actuators that bear gravity and dampers, (servos,).

    Only along what equalities leave free: a load on a joint that one ties is the servo's as well.
    """
    asked, moment = data.qfrc_bias - data.qfrc_passive, actuator_moments(data)[own]
    if data.ne:
        free = free_directions(model, data)
        asked, moment = free.T @ asked, moment @ free
    forces: FloatArray = np.linalg.pinv(moment.T) @ asked
    return forces


@dataclass(frozen=True)
class PlacesAlong:
    """The places that servos seem to hold along a recording."""

    times: FloatArray  # (n,) s
    places: FloatArray  # (n, servos)
    levers: FloatArray  # their squares, by which places count, (n, servos)
    ends: FloatArray  # of their ranges, (2, servos)
    actuators: IndexArray  # their numbers, (servos,)

    def at(
        self,
        one: IntegratedInput,
        integral: SignalIntegral,
        begins: FloatArray,
        setting: SignalSettings,
    ) -> FloatArray:
        """The place at some instants (w,) s; NaN where the command does not tell it."""
        own = int(np.flatnonzero(self.actuators == one.actuator)[0])
        if not len(self.times):
            return np.full(len(begins), np.nan)
        last = max(self.times[-1], np.max(begins, initial=-np.inf))
        first = min(self.times[0], np.min(begins, initial=np.inf))
        fine = np.arange(first, last, _FINE)
        instants = np.unique(np.concatenate([fine, self.times, begins]))
        seen, at = (
            _Seen(self.places[:, own], self.levers[:, own]),
            instants.searchsorted(self.times),
        )
        moved = _moved(integral, instants, setting)
        held = _best_held(moved, self.ends[:, own], seen, at)
        if seen.spread(held[at]) > _FOLLOWS * seen.spread(np.zeros(len(at))):
            return np.full(len(begins), np.nan)
        return held[instants.searchsorted(begins)]


@dataclass(frozen=True)
class _Seen:
    """The places that one servo seems to hold, (n,), and how much each counts."""

    places: FloatArray
    weights: FloatArray

    def ahead(self, held: FloatArray, chosen: BoolArray | bool = True) -> float:
        """The mean of some of the places over those ``held``."""
        weights = self.weights * chosen
        return float(np.sum(weights * (self.places - held)) / max(np.sum(weights), _LEAST))

    def spread(self, held: FloatArray) -> float:
        """The standard deviation of the places about those ``held``."""
        about = replace(self, places=(self.places - held - self.ahead(held)) ** 2)
        return float(np.sqrt(about.ahead(np.zeros_like(held))))


def _best_held(moved: FloatArray, ends: FloatArray, seen: _Seen, at: IndexArray) -> FloatArray:
    """The places held at some instants (n,), which agree best with those ``seen`` at some of them.

    Only from before the place comes to an end of its range do they tell where it began.
    """
    start = seen.ahead(moved[at])
    held = _within(moved + start, ends)
    if np.array_equal(held, moved + start):
        return held
    start = float(seen.places[0] - moved[at[0]])
    for _ in range(_ROUNDS):
        held = _within(moved + start, ends)
        own = held[at] == moved[at] + start
        own &= np.cumprod(own).astype(bool) if own[0] else ~own
        start += seen.ahead(held[at], own)
    return _within(moved + start, ends)


def _within(wanted: FloatArray, ends: FloatArray) -> FloatArray:
    """An integral (n,) that stops at the ends of its range, and turns back from there at once."""
    low, high = ends
    if np.all((wanted >= low) & (wanted <= high)):
        return wanted
    held, place = np.empty_like(wanted), float(np.clip(wanted[0], low, high))
    for k, step in enumerate(np.diff(wanted, prepend=wanted[0]).tolist()):
        place = min(max(place + step, low), high)
        held[k] = place
    return held


def _moved(integral: SignalIntegral, times: FloatArray, setting: SignalSettings) -> FloatArray:
    """The integral of a command from its first sample on."""
    moved: FloatArray = setting.gain * integral(times - setting.delay) + setting.bias * times
    return moved
