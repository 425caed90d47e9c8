# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The findings that speak against a result: one row of a table each, the gravest first.

The verdict begins with the gravest row that has something to say and names all of them. A new
finding is a row of :data:`FINDINGS`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.estimation import FitResult
from sysid_ros.engine.least_squares import FitStatus
from sysid_ros.engine.parameters import BESIDE_IMPLAUSIBLE, DRIFTS, IMPLAUSIBLE
from sysid_ros.engine.signals import in_metres
from sysid_ros.errors import listed
from sysid_ros.judgement.outcome import JointTorque, Judgement, Outcome, Score
from sysid_ros.judgement.scoring import in_units_of_noise

WORTHWHILE = 0.05  # relative decrease of the held-out error below which tuning was not worth it
_WORSE = 1.1  # ratio of errors from which a measured quantity got worse
_TORQUE_WORSE = 1.1  # ratio of torque errors from which the fitted model is contradicted
_TORQUE_MATTERS = 0.02  # of the torque itself, by which it must be worse
_SMALL = 0.05  # of the largest joint's torque, at which that of small joints is taken
_MUCH = 0.5  # of what happens, that a good model does not leave unexplained
_HARDLY = 0.8  # of the error before, above which a fit did little for a quantity
_NAMED = 3  # of many alike

_KINDS = {
    "rad": "positions",
    "m": "positions",
    "rad/s": "velocities",
    "m/s": "velocities",
    "N m": "torques and forces",
    "N": "torques and forces",
}


@dataclass(frozen=True)
class Row:
    """One kind of finding."""

    judgement: Judgement  # what a result with this as its gravest finding is
    words: str  # with which the verdict then begins
    # what it says of an outcome, without a full stop; empty where that is nothing
    clause: Callable[[Outcome], str]


def findings(outcome: Outcome) -> list[tuple[Row, str]]:
    """Return the rows that speak against a result with their clauses, the gravest first."""
    said = ((row, row.clause(outcome)) for row in FINDINGS)
    return [(row, clause) for row, clause in said if clause]


def yardstick(score: Score, fit: FitResult) -> tuple[float, float]:
    """Errors over all measured quantities, initial and fitted.

    In units of noise, where noise levels are known; else those of the positions. A simulation that
    broke off is infinitely wrong: worse than any other, and no better than another one that did.
    """
    initial = _broke_off(score.rmse_initial, score.rmse)
    fitted = _broke_off(score.rmse, score.rmse_initial)
    if initial or fitted:
        ends = (initial, score.rmse_all_initial), (fitted, score.rmse_all)
        before, after = (math.inf if broken else error for broken, error in ends)
        return before, after
    before, after = (
        in_units_of_noise(rmse, fit.noise) for rmse in (score.rmse_initial, score.rmse)
    )
    if math.isfinite(before) and math.isfinite(after):
        return before, after
    return score.rmse_all_initial, score.rmse_all


def _broke_off(rmse: Mapping[str, float], other: Mapping[str, float]) -> bool:
    """Return whether a signal has no error in the one case and has one in the other."""
    return any(
        not math.isfinite(error) and math.isfinite(other.get(name, math.nan))
        for name, error in rmse.items()
    )


def falls(before: float, after: float) -> bool:
    """Return whether an error falls by so much that it was worth the effort."""
    return math.isfinite(after) and after <= before * (1.0 - WORTHWHILE)


def _undriven(outcome: Outcome) -> str:
    names = outcome.undriven
    if not names:
        return ""
    several, it = ("s", "they were") if len(names) > 1 else ("", "it was")
    named = listed(map(repr, names), _NAMED)
    return f"no signal drives actuator{several} {named}; intervals hold only if {it} told zero"


def _canceled(outcome: Outcome) -> str:
    return "these are the best parameters so far" * (outcome.fit.status is FitStatus.CANCELED)


def _not_converged(outcome: Outcome) -> str:
    status = outcome.fit.status
    if status in (FitStatus.CONVERGED, FitStatus.CANCELED):
        return ""
    return f"the fit ended with {status.value}"


def _too_long(outcome: Outcome) -> str:
    growing = outcome.fit.growing
    if growing is None:
        return ""
    shorter = f"{float(f'{growing.tenfold:.1g}'):g}"  # 1e+01 is no number in YAML
    return (
        f"the simulation leaves the recording within windows of {growing.length:.3g} s, as an "
        f"error of their start grows tenfold every {growing.tenfold:.2g} s, whatever the "
        f"parameters are: shorten them to about that, windows: {{length: {shorter}}}"
    )


def _contradicted(outcome: Outcome) -> str:
    before, after = torque_shares(outcome.torques)
    if not outcome.torques:
        return ""
    misses = f"misses the measured by {100 * after:.3g} % of its size"
    if after > _TORQUE_WORSE * before + _TORQUE_MATTERS:
        return f"the torque that it asks for {misses}, the initial model's by {100 * before:.3g} %"
    return f"the torque that it asks for {misses}" if after > 1.0 else ""


def torque_shares(torques: Iterable[JointTorque]) -> tuple[float, float]:
    """Errors of the torque asked for over the torque measured, initial and fitted.

    Root mean square over the joints; NaN without any. A joint whose torque is less than a
    twentieth of the largest counts as if it were that. Of a joint that nothing drives what
    accelerates it counts, since gravity and inertia cancel there.
    """
    known = list(torques)
    if not known:
        return math.nan, math.nan
    largest = max(one.measured for one in known)
    sizes = np.array([max(one.measured, one.moving, _SMALL * largest, 1e-300) for one in known])
    initial, fitted = (
        float(np.sqrt(np.mean((np.array(errors) / sizes) ** 2)))
        for errors in ([one.rmse_initial for one in known], [one.rmse for one in known])
    )
    return initial, fitted


def _overfit(outcome: Outcome) -> str:
    training, held_out = outcome.training, outcome.validation
    if training is None or held_out is None:
        return ""
    overall = yardstick(training, outcome.fit)
    before, after = yardstick(held_out, outcome.fit)
    if not falls(*overall) or after <= before:
        return ""
    drifting = [one.name for one in outcome.fit.parameters if DRIFTS in one.flags]
    advice = "record more, or free fewer parameters"
    if drifting:
        are = "changes" if len(drifting) == 1 else "change"
        advice = f"{listed(drifting, _NAMED)} {are} over the recordings: warm the robot up before"
    if math.isinf(overall[0]):
        learned = "the simulation of what was fitted no longer breaks off"
        return f"{learned}, but what was held out is told no better: {advice}"
    shown, unit = (training.rmse_all_initial, training.rmse_all), f" {training.unit_all}"
    if shown[1] >= shown[0]:  # the positions alone say something else
        shown, unit = overall, " times the noise of all signals"
    learned = f"the training error falls from {shown[0]:.4g} to {shown[1]:.4g}{unit.rstrip()}"
    return f"{learned}, but not that of what was held out: {advice}"


def _no_skill(outcome: Outcome) -> str:
    score = outcome.score
    if score is None:
        return ""
    others = {
        "a robot that never leaves its start": score.rmse_still_all,
        "holding the recording's mean": score.rmse_mean_all,
    }
    better = {name: error for name, error in others.items() if score.rmse_all >= error > 0.0}
    if not better:
        return ""
    name, error = min(better.items(), key=lambda entry: entry[1])
    return f"{name} predicts as well ({error:.4g} {score.unit_all}".rstrip() + ")"


def unexplained(score: Score) -> float:
    """Return the error over that of a robot that never leaves its start, or holds its mean.

    NaN where these are not known.
    """
    without = [e for e in (score.rmse_still_all, score.rmse_mean_all) if e > 0.0]
    return score.rmse_all / min(without) if without else math.nan


def _unexplained(outcome: Outcome) -> str:
    score = outcome.score
    share = math.nan if score is None else unexplained(score)
    if _MUCH <= share < 1.0:  # beyond that it has no skill at all
        what = "motion" if outcome.fit.torque is None else "torque"
        return f"{100 * share:.0f} % of the {what} is still not explained"
    if score is None or outcome.fit.torque is not None:
        return ""
    told = []
    for kind, names in _by_kind(score).items():
        if any(score.units.get(name) == score.unit_all for name in names):
            continue
        before, after = _of_kind(score, outcome.fit, names)
        left = _left_of(outcome, score, names)
        if left >= _MUCH and after > _HARDLY * before:
            told.append(f"{100 * left:.0f} % of {kind}")
    return f"{listed(told, _NAMED)} is still not explained, hardly less than before" if told else ""


def _left_of(outcome: Outcome, score: Score, names: Collection[str]) -> float:
    """The share of what some signals show that a fit leaves, without white noise of sensors.

    NaN where it is not known what they show.
    """
    role = "validation" if outcome.validation is not None else "training"
    left: dict[str, list[FloatArray]] = {name: [] for name in names}
    for sequence in outcome.sequences:
        for signal in sequence.signals if sequence.role == role else ():
            if signal.name in left:
                left[signal.name].append(signal.measured - signal.fitted)
    found = shown = 0.0
    for name, parts in left.items():
        without = [rmse[name] for rmse in (score.rmse_still, score.rmse_mean) if name in rmse]
        squares = np.concatenate([part**2 for part in parts]) if parts else np.empty(0)
        steps = np.concatenate([np.diff(part) ** 2 for part in parts]) if parts else np.empty(0)
        if without and np.isfinite(squares).any() and np.isfinite(steps).any():
            found += max(float(np.nanmean(squares) - 0.5 * np.nanmean(steps)), 0.0)
            shown += min(without) ** 2
    return math.sqrt(found / shown) if shown > 0.0 else math.nan


def _no_improvement(outcome: Outcome) -> str:
    score = outcome.score
    if score is None or falls(*yardstick(score, outcome.fit)):
        return ""
    return "the model as it was predicts about as well"


def _mixed(outcome: Outcome) -> str:
    """Say which kinds of measured quantities got worse."""
    score = outcome.score
    kinds = {} if score is None else _by_kind(score)
    if score is None or len(kinds) < 2:
        return ""
    worse = []
    for kind, names in kinds.items():
        before, after = _of_kind(score, outcome.fit, names)
        if after > _WORSE * before:
            worse.append(f"that of {kind} rises by {100 * (after / before - 1.0):.3g} %")
    return listed(worse, _NAMED)


def _of_kind(score: Score, fit: FitResult, names: Collection[str]) -> tuple[float, float]:
    """The errors of some signals before and after a fit, in units of their noise."""
    before, after = (
        in_units_of_noise({name: rmse[name] for name in names}, fit.noise)
        for rmse in (score.rmse_initial, score.rmse)
    )
    return before, after


def _by_kind(score: Score) -> Mapping[str, list[str]]:
    """The names of the signals by what they measure, which their units tell."""
    kinds: dict[str, list[str]] = {}
    for name in score.rmse:
        unit = score.units.get(name, "")
        kind = _KINDS.get(in_metres(unit), f"what is measured in {unit}")
        kinds.setdefault(kind, []).append(name)
    return kinds


def _implausible(outcome: Outcome) -> str:
    """Say what no such robot has, and how many intervals that puts in question."""
    if not outcome.implausible:
        return ""
    flags = {IMPLAUSIBLE, BESIDE_IMPLAUSIBLE}
    touched = sum(not flags.isdisjoint(p.flags) for p in outcome.fit.parameters)
    doubted = f" (intervals not to be relied on: {touched})" if touched else ""
    return f"{listed(outcome.implausible, _NAMED)}{doubted}"


def _not_identifiable(outcome: Outcome) -> str:
    parameters = outcome.fit.parameters
    opened = [p.name for p in parameters if p.undetermined]
    if not opened:
        return ""
    count = f"{len(opened)} of {len(parameters)}"
    return f"{count} parameters are not determined ({listed(opened, _NAMED)})"


def _at_bound(outcome: Outcome) -> str:
    ends = [
        f"{p.name} ends {flag.replace('at ', 'at its ')} ({p.value:.4g} {p.unit}".rstrip() + ")"
        for p in outcome.fit.parameters
        for flag in p.bounds_reached
        if p.name not in outcome.absent
    ]
    return listed(ends, _NAMED)


FINDINGS = (
    Row(Judgement.SUSPECT_DATA, "Suspect data", lambda outcome: listed(outcome.doubts, _NAMED)),
    Row(Judgement.UNDRIVEN, "Undriven", _undriven),
    Row(Judgement.CANCELED, "Canceled early", _canceled),
    Row(Judgement.WINDOWS_TOO_LONG, "Windows too long", _too_long),
    Row(Judgement.NOT_CONVERGED, "Not converged", _not_converged),
    Row(Judgement.CONTRADICTED, "Contradicted by the measured torque", _contradicted),
    Row(Judgement.OVERFIT, "Overfit", _overfit),
    Row(Judgement.NO_SKILL, "No better than standing still", _no_skill),
    Row(Judgement.NO_IMPROVEMENT, "No improvement", _no_improvement),
    Row(Judgement.MIXED, "Mixed", _mixed),
    Row(Judgement.UNEXPLAINED, "Mostly unexplained", _unexplained),
    Row(Judgement.IMPLAUSIBLE, "Implausible", _implausible),
    Row(Judgement.NOT_IDENTIFIABLE, "Not identifiable", _not_identifiable),
    Row(Judgement.AT_BOUND, "At a bound", _at_bound),
)
