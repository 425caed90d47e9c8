# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The verdict in one sentence and the warnings that matter, in plain language."""

from __future__ import annotations

from enum import Enum

from sysid_ros.engine.estimation import FitResult
from sysid_ros.engine.least_squares import FitStatus
from sysid_ros.experiment import Experiment
from sysid_ros.judgement.outcome import Score
from sysid_ros.recording.mapping import Interpolation, SignalKind

# Below this relative decrease of the held-out error the tuning was not worth it.
WORTHWHILE = 0.05


class Judgement(str, Enum):
    """The use of a fit, for programs; :func:`verdict` gives the reason."""

    IMPROVED = "IMPROVED"
    NO_IMPROVEMENT = "NO_IMPROVEMENT"
    OVERFIT = "OVERFIT"  # better on what was fitted, worse on what was not
    NOT_IDENTIFIABLE = "NOT_IDENTIFIABLE"  # better, but with parameters that the data leaves open


def judge(result: FitResult, training: Score | None, validation: Score | None) -> Judgement | None:
    """Compare the fitted with the untuned model.

    Args:
      result: The fit.
      training: Scores on the data fitted.
      validation: Scores on held-out data, which count where there are any.

    Returns:
      The judgement; ``None`` where nothing was scored.
    """
    judged = validation or training
    if judged is None:
        return None
    learned = training is not None and _falls(training)
    if validation is not None and learned and validation.rmse_all > validation.rmse_all_initial:
        return Judgement.OVERFIT
    if not _falls(judged):
        return Judgement.NO_IMPROVEMENT
    return Judgement.NOT_IDENTIFIABLE if _opened(result) else Judgement.IMPROVED


def _falls(score: Score) -> bool:
    return score.rmse_all <= score.rmse_all_initial * (1.0 - WORTHWHILE)


def _opened(result: FitResult) -> list[str]:
    return [p.name for p in result.parameters if "unidentifiable" in p.flags]


def verdict(result: FitResult, training: Score, validation: Score | None) -> str:
    """Can this be trusted, and what changed?

    Args:
      result: The fit.
      training: Scores on the data fitted.
      validation: Scores on held-out data, if any.

    Returns:
      One sentence.
    """
    judged, kind = (validation, "held-out") if validation is not None else (training, "training")
    before, after, unit = judged.rmse_all_initial, judged.rmse_all, judged.unit_all
    change = f"{before:.4g} to {after:.4g} {unit}".rstrip()
    if result.status is FitStatus.CANCELED:
        return f"Canceled early: the best parameters so far change the {kind} error from {change}."
    judgement = judge(result, training, validation)
    if judgement is Judgement.OVERFIT:
        learned = f"{training.rmse_all_initial:.4g} to {training.rmse_all:.4g}"
        return (
            f"Overfit: the training error falls from {learned} {training.unit_all}, but the "
            f"held-out error rises from {change}; record more, or free fewer parameters."
        )
    if judgement is Judgement.NO_IMPROVEMENT:
        return (
            f"No improvement: the {kind} error goes from {change}; "
            "the model as it was predicts about as well."
        )
    less = f"the {kind} error falls from {change} ({_percent(1.0 - after / before)} less)"
    confirmed = "." if validation is not None else "; nothing was held out to confirm it."
    opened = _opened(result)
    if opened:
        return (
            f"Not identifiable: {less}, but {len(opened)} of {len(result.parameters)} parameters "
            f"are not determined ({', '.join(opened[:4])}{', ...' if opened[4:] else ''})"
            + confirmed
        )
    return f"Improved: {less}{confirmed}"


def _percent(share: float) -> str:
    """A share as percent; never rounded up to all."""
    return f"{100 * share:.0f} %" if share < 0.99 else f"{100 * share:.3g} %"


def result_warnings(result: FitResult) -> tuple[str, ...]:
    """Return warnings about the fit itself: its end, and what it leaves open."""
    found = [] if result.torque is None else [*result.torque.notes]
    if result.status is not FitStatus.CONVERGED:
        found.append(f"The fit did not converge: {result.message}.")
    found += [sentence[0].upper() + sentence[1:] + "." for sentence in result.unidentifiable]
    found += [
        f"{p.name} is {flag}: no interval is claimed; the data may want it further out, or "
        "something the model lacks is being absorbed."
        for p in result.parameters
        for flag in p.flags
        if flag.startswith("at ")
    ]
    return tuple(found)


def warnings(
    experiment: Experiment, result: FitResult, training: Score, validation: Score | None
) -> tuple[str, ...]:
    """Return what a careful reader must know, most important first.

    Args:
      experiment: What was asked for.
      result: The fit.
      training: Scores on the data fitted.
      validation: Scores on held-out data, if any.

    Returns:
      Sentences.
    """
    found = [*result_warnings(result)]
    if validation is None:
        found.append("Nothing was held out, so an overfit would not show; add a validation bag.")
    elif validation.rmse_all > 2.0 * training.rmse_all:
        found.append(
            f"The held-out error ({validation.rmse_all:.4g}) is more than twice the training "
            f"error ({training.rmse_all:.4g}): the fit may not carry over to other motions."
        )
    if result.interval_method == "blocks":
        found.append(
            "There are few windows, so that the intervals allow for correlated residuals inside "
            "short blocks of time only; slower errors are not covered. Use shorter windows or "
            "more data."
        )
    if result.interval_method == "white" and experiment.fit.intervals == "clustered":
        found.append(
            "There are too few windows for intervals that allow correlated residuals; the "
            "intervals assume white noise and are probably too narrow. Use shorter windows or "
            "more data."
        )
    if result.torque is None and _measured_torque_as_input(experiment):
        found.append(
            "A measured effort is used as input: its scale multiplies every inertia and friction "
            "and cannot be told from them without a known payload. Under feedback its noise also "
            "correlates with the motion; prefer simulating the controller from its reference."
        )
    return tuple(found)


def _measured_torque_as_input(experiment: Experiment) -> bool:
    return any(
        signal.kind is SignalKind.ACTUATOR
        and signal.wrench is None
        and (signal.interpolation is Interpolation.LINEAR or signal.field.startswith("effort["))
        for signal in experiment.signals
    )
