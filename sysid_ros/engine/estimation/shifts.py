# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Shifts of an estimate when choices change that should not matter, and their meaning."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np

from sysid_ros.arrays import FloatArray, IndexArray
from sysid_ros.engine.estimation.another_start import ANOTHER_START
from sysid_ros.engine.estimation.timing_walk import time_step
from sysid_ros.engine.estimation.window_sample import Place, places_of
from sysid_ros.engine.least_squares import Solution, eliminate_starts
from sysid_ros.engine.parameters import (
    CHANGES_AT_ONCE,
    DIFFERS_BETWEEN_RECORDINGS,
    DRIFTS,
    moves_with,
)
from sysid_ros.engine.problem import WindowedProblem
from sysid_ros.engine.uncertainty import (
    BY_CHANCE,
    Covariance,
    Drift,
    JointsInTurn,
    LateInputs,
    Lateness,
    ParameterEstimate,
    beyond_chance,
    change_by_innovations,
    drifts,
    joints_in_turn,
    late_inputs,
    read_apart,
)
from sysid_ros.errors import StopRequestedError, as_sentence, listed

OTHER_INTERPOLATION = "another interpolation of commands"
MORE_STEPS = "more steps"
SLOW_COUNT_LESS = "slow residuals counted less"
HELD_BY_FRICTION = "friction that never lets go"
LATE_INPUTS = "inputs that act earlier or later than they are stamped"
IN_TURN = "joints that are read one after the other"
_NAMED = 3  # of many parameters that change together
MATERIAL = 0.5  # of the error by noise and the largest other shift, beyond which one is flagged
SCATTERED = 2.0  # factor on the standard error beyond which recordings count as different


@dataclass(frozen=True)
class Shift:
    """The shift of the estimates by one changed choice, to first order."""

    change: str  # what was changed
    order: float  # as of the alternative
    values: FloatArray  # by how much, (p,), in the parameters' units; NaN where no error is claimed
    chance: FloatArray  # standard deviation of the shift by noise alone, (p,)
    error: FloatArray  # what is added to the standard error, in quadrature, (p,)
    problem: str = ""  # why it was not possible; empty where it was
    remedy: str = ""  # what to do about it, where that hangs on what was found


def by_change(shifts: Sequence[Shift]) -> tuple[Shift, ...]:
    """One shift for each change: of each parameter the one that tells the larger error."""
    found: dict[str, Shift] = {}
    for shift in shifts:
        other = found.get(shift.change)
        found[shift.change] = shift if other is None else _larger(other, shift)
    return tuple(found.values())


def _larger(one: Shift, other: Shift) -> Shift:
    """The larger error of each parameter, with the shift by the other's change that has it."""
    if one.problem or other.problem:
        return one if other.problem else other
    larger = one.error > other.error
    scale = one.order / other.order
    return replace(
        other,
        values=np.where(larger, scale * one.values, other.values),
        chance=np.where(larger, scale * one.chance, other.chance),
        error=np.where(larger, one.error, other.error),
    )


def size_by_step(values: FloatArray, chance: FloatArray, *, few: bool) -> FloatArray:
    """The size of shifts by another time step, (p,).

    Args:
      values: The shifts, (p,).
      chance: The scatter of their windows' parts, (p,).
      few: Whether they are of few windows: what may be chance counts as nothing then.
    """
    size = np.abs(values)
    if few:
        return np.where(size > BY_CHANCE * chance, size, 0.0 * size)
    return np.where(chance > size, chance, size)


def by_derivatives(
    problem: WindowedProblem, solution: Solution, covariance: Covariance
) -> tuple[Shift, ...]:
    """The shifts that the estimate's own derivatives tell; none where no error is claimed anyway.

    Those where residuals count by what is new in each sample, where inputs act at another time, and
    where joints are read one after the other. Fewer if the user asked to stop.
    """
    chosen = np.flatnonzero(np.isfinite(np.diag(covariance.matrix)))
    if solution.linearization is None or not chosen.size:
        return ()
    system, found = eliminate_starts(solution.linearization), []
    with suppress(StopRequestedError, np.linalg.LinAlgError):
        change = change_by_innovations(
            problem, solution.point, system, chosen, covariance.errors[chosen], covariance.blocks
        )
        if change is not None:
            found.append(_shift(SLOW_COUNT_LESS, chosen, covariance, change.values, change.chance))
    with suppress(StopRequestedError, np.linalg.LinAlgError):
        late = late_inputs(problem, solution.point, system, chosen, covariance.blocks)
        if late is not None and late.is_told(time_step(problem)):
            shift = _shift(LATE_INPUTS, chosen, covariance, late.values, late.chance)
            apart = read_apart(problem, solution.point, system, chosen, covariance.blocks)
            remedy = _remedy_of_signals(*apart) if apart else _remedy_of_inputs(late)
            found.append(replace(shift, remedy=remedy))
    with suppress(StopRequestedError, np.linalg.LinAlgError):
        turn = joints_in_turn(problem, solution.point, system, chosen, covariance.blocks)
        if turn is not None and turn.is_told(time_step(problem)):
            shift = _shift(IN_TURN, chosen, covariance, turn.values, turn.chance)
            found.append(replace(shift, remedy=_remedy_of_turns(turn)))
    return tuple(found)


def _shift(
    change: str, chosen: IndexArray, covariance: Covariance, moved: FloatArray, chance: FloatArray
) -> Shift:
    """The shift of the chosen parameters, of which what is beyond chance counts."""
    values, spread = np.full((2, len(covariance.errors)), np.nan)
    values[chosen], spread[chosen] = moved, chance
    return Shift(change, 0.0, values, spread, beyond_chance(values, spread))


def _remedy_of_inputs(late: LateInputs) -> str:
    later, error = 1e3 * abs(late.later), 1e3 * late.error
    return (
        f"that is in the intervals; what drives the model seems to act {later:.2g} ms "
        f"{'later' if late.later > 0.0 else 'earlier'} than it is stamped (standard error "
        f"{error:.1g} ms). A delay of these signals takes that up, as {_delay_of('NAME')}"
    )


def _remedy_of_signals(names: Sequence[str], read: Lateness) -> str:
    time, error = 1e3 * abs(read.later), 1e3 * read.error
    seem = "seems" if len(names) == 1 else "seem"
    what = "lead all else" if read.later > 0.0 else "lag all else, as what is filtered does,"
    return (
        f"that is in the intervals; {listed(names, _NAMED)} {seem} to {what} by {time:.2g} ms "
        f"(standard error {error:.1g} ms). A delay takes that up, as {_delay_of(names[0])}"
    )


def _remedy_of_turns(turn: JointsInTurn) -> str:
    later, error = 1e3 * abs(turn.later), 1e3 * turn.error
    return (
        f"that is in the intervals; each position seems to be read {later:.2g} ms "
        f"{'after' if turn.later > 0.0 else 'before'} that of the joint before it (standard error "
        f"{error:.1g} ms) under one stamp, as on a bus. A delay of each but the first takes that "
        f"up, as {_delay_of(turn.signals[-1])}"
    )


def _delay_of(signal: str) -> str:
    """A line of an experiment that frees a delay either way."""
    return f"{{signal: {signal}, delay: {{initial: 0.0, min: -0.02, max: 0.02}}}}"


def over_recordings(
    problem: WindowedProblem, solution: Solution, covariance: Covariance
) -> tuple[tuple[Drift, ...], Place | None]:
    """The parameters that change from the beginning to the end of recordings.

    Returns:
      They, and the window from which on they are others; ``None`` where they change gradually.
    """
    chosen = np.flatnonzero(np.isfinite(np.diag(covariance.matrix)))
    if solution.linearization is None or not chosen.size:
        return (), None
    places, values = places_of(problem.groups), solution.point.theta[chosen]
    starts = np.array([place.start for place in places])
    system = eliminate_starts(solution.linearization)
    found = drifts(system, chosen, values, [place.recording for place in places], starts)
    return found, next((places[one.window] for one in found if one.window is not None), None)


@dataclass(frozen=True)
class ModelError:
    """The errors beyond noise of a fit's estimates."""

    scatter: FloatArray  # factor on each standard error because recordings differ, (p,)
    statistical: FloatArray  # standard errors without what is said here, (p,)
    shifts: tuple[Shift, ...]  # by changed choice
    drifts: tuple[Drift, ...] = ()  # parameters that change over the recordings
    since: Place | None = None  # the window from which on they are others; ``None``: gradually

    @property
    def systematic(self) -> FloatArray:
        """The part of each standard error that no noise explains, (p,); NaN without a claim."""
        between = (self.scatter**2 - 1.0) * self.statistical**2
        shifts = (np.nan_to_num(shift.error) ** 2 for shift in self.shifts)
        return np.asarray(np.sqrt(sum(shifts, between)))

    def flags(self) -> list[tuple[str, ...]]:
        """Return the flags of each parameter: what moves it, where that is beyond its error."""
        found: list[list[str]] = [[] for _ in self.statistical]
        errors = [np.nan_to_num(shift.error, posinf=np.inf) for shift in self.shifts]
        for k, shift in enumerate(self.shifts):
            # Many that are as large hide none of each other.
            largest = np.max([0.0 * self.scatter, *errors[:k], *errors[k + 1 :]], axis=0)
            without = np.hypot(self.scatter * self.statistical, largest)
            for j in np.flatnonzero((shift.error > MATERIAL * without) | np.isinf(shift.error)):
                found[j].append(moves_with(shift.change))
        for j in np.flatnonzero(self.scatter > SCATTERED):
            found[j].append(DIFFERS_BETWEEN_RECORDINGS)
        for drift in self.drifts:
            found[drift.place].append(DRIFTS if self.since is None else CHANGES_AT_ONCE)
        return [tuple(flags) for flags in found]


def widened(covariance: Covariance, found: ModelError) -> Covariance:
    """The covariance with the systematic errors added; correlations stay as they are."""
    errors = np.hypot(covariance.errors, np.nan_to_num(found.systematic))
    factor = errors / np.where(covariance.errors > 0.0, covariance.errors, np.inf)
    factor = np.where(np.isfinite(factor) & (factor > 0.0), factor, 1.0)
    return replace(covariance, matrix=covariance.matrix * np.outer(factor, factor), errors=errors)


def with_model_error(
    estimates: Sequence[ParameterEstimate], found: ModelError
) -> tuple[ParameterEstimate, ...]:
    """The estimates, flagged and with their values extrapolated to a time step of zero."""
    parameters = []
    for j, (parameter, flags) in enumerate(zip(estimates, found.flags(), strict=True)):
        if parameter.standard_error is not None:
            extrapolated = [
                float(
                    np.clip(
                        parameter.value + s.order * s.values[j], parameter.lower, parameter.upper
                    )
                )
                for s in found.shifts
                if s.order > 0.0 and np.isfinite(s.values[j])
            ]
            parameter = replace(
                parameter,
                flags=(*parameter.flags, *flags),
                systematic=float(found.systematic[j]),
                extrapolated=extrapolated[0] if extrapolated else None,
            )
        parameters.append(parameter)
    return tuple(parameters)


def model_error_sentences(
    parameters: Sequence[ParameterEstimate], found: ModelError
) -> tuple[str, ...]:
    """Return one sentence per choice that moves estimates beyond their errors."""
    said = []
    for shift in found.shifts:
        moved = [
            f"{p.name} {shift.values[j]:+.2g} {p.unit}".rstrip()
            for j, p in enumerate(parameters)
            if moves_with(shift.change) in p.flags
        ]
        if moved:
            said.append(f"With {shift.change} estimates move ({listed(moved)}): {_remedy(shift)}.")
    apart = [p.name for p in parameters if DIFFERS_BETWEEN_RECORDINGS in p.flags]
    if apart:
        said.append(
            f"Recordings differ by more than their windows do ({listed(apart)}): that is in the "
            "intervals; the model lacks something, or the robot has changed between them."
        )
    if found.since is not None:
        said.append(
            f"{as_sentence(changed_at_once(parameters, found))}: a drive was tuned anew, a load "
            "taken up or put down, or the motion changed and the model lacks something. Fit what "
            "was recorded before and after apart, by start and end of its sequence."
        )
    elif found.drifts:
        changed = [_course(parameters[one.place], one) for one in found.drifts]
        said.append(
            f"From the beginning to the end of the recordings {listed(changed)}: the robot warmed "
            "up, or its motion changed and the model lacks something. Warm it up before, or fit "
            "the beginning and the end apart, by start and end of sequences."
        )
    return tuple(said)


def changed_at_once(parameters: Sequence[ParameterEstimate], found: ModelError) -> str:
    """The clause that says what changes in mid-recording, without a full stop; empty for nothing.

    Args:
      parameters: The estimates, in the fit's order.
      found: What is known of their errors.
    """
    if found.since is None:
        return ""
    (_, name), begin = found.since.recording, found.since.start
    changed = listed([_course(parameters[one.place], one) for one in found.drifts], _NAMED)
    return (
        f"from about {begin:.3g} s on estimates are others in {name!r} ({changed}), and none holds "
        "for all of it"
    )


def _course(parameter: ParameterEstimate, drift: Drift) -> str:
    """A change over recordings, in words."""
    first, last = (parameter.value + off for off in (drift.before, drift.after))
    way = "falls" if abs(last) < abs(first) else "rises"
    return f"{parameter.name} {way} from {first:.3g} to {last:.3g} {parameter.unit}".rstrip()


def _remedy(shift: Shift) -> str:
    """Say where the error has gone and what could be done about it."""
    if shift.remedy:
        return shift.remedy
    if shift.change == ANOTHER_START:
        return (
            "that is in the intervals; other values explain the data as well, and --search starts "
            "looks for better ones"
        )
    if shift.change == OTHER_INTERPOLATION:
        return (
            "that is in the intervals; the motion does not tell what commands do between their "
            "samples, which interpolation says and faster motion shows"
        )
    if shift.change == MORE_STEPS:
        return "that is in the intervals; a limit ended the search, raise fit.time_limit"
    if shift.change == SLOW_COUNT_LESS:
        return (
            "that is in the intervals; the model lacks something, such as elastic gears or play, "
            "which the residuals in the report may show"
        )
    if shift.change == HELD_BY_FRICTION:
        return (
            "that is in the intervals; it acts as damping and inertia do, which only faster motion "
            "or measured torque tells apart"
        )
    if shift.order > 0.0:
        return "their error at this time step is in the intervals; a shorter one would narrow them"
    return "that is in the intervals; the model lacks something that this choice hides"
