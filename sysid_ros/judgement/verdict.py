# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The verdict in one sentence and the warnings that matter, in plain language."""

from __future__ import annotations

import math
from dataclasses import replace

import mujoco

from sysid_ros.engine.elements import actuators_on, is_effort, is_servo
from sysid_ros.engine.estimation import FitResult, model_error_sentences
from sysid_ros.engine.least_squares import FitStatus
from sysid_ros.engine.parameters import AT_LOWER_BOUND
from sysid_ros.engine.uncertainty import ParameterEstimate
from sysid_ros.errors import as_sentence, listed
from sysid_ros.experiment import Experiment
from sysid_ros.judgement.findings import falls, findings, yardstick
from sysid_ros.judgement.outcome import Judgement, Outcome, Score
from sysid_ros.recording.mapping import Interpolation, SignalKind
from sysid_ros.recording.messages import parse_fields

FEW = 2  # warnings of one kind; more become one line with their number
# Windows so short that a joint moves one way only mistake friction for a start.
_MORE_WINDOWS = "Use more data, or shorter windows if the held-out error stays as small."


def with_verdict(outcome: Outcome) -> Outcome:
    """Judge an outcome: can this be trusted, and what changed?

    Returns:
      The outcome with its judgement and its verdict. Where something speaks against the result the
      first sentence begins with the gravest finding and names all of them, and a second one gives
      the error before and after, without praise. Unchanged where nothing was scored.
    """
    if outcome.score is None:
        return outcome
    found = findings(outcome)
    change = _change(outcome, praised=not found)
    if not found:
        return replace(outcome, judgement=Judgement.IMPROVED, verdict=f"Improved: {change}.")
    gravest, clauses = found[0][0], "; ".join(clause for _, clause in found)
    verdict = f"{gravest.words}: {clauses}. {as_sentence(change)}."
    return replace(outcome, judgement=gravest.judgement, verdict=verdict)


def _change(outcome: Outcome, *, praised: bool) -> str:
    """The change of the error that counts, as a clause; a fall is told as one where praised."""
    score = outcome.score
    if score is None:
        return "nothing was scored"
    kind = "held-out" if outcome.validation is not None else "training"
    unconfirmed = "" if outcome.validation is not None else "; nothing was held out to confirm it"
    before, after, unit = score.rmse_all_initial, score.rmse_all, f" {score.unit_all}".rstrip()
    overall = yardstick(score, outcome.fit)
    if math.isinf(overall[0]) and math.isfinite(after):
        broken = "where the simulation of the model as it was breaks off"
        return f"the {kind} error is {after:.4g}{unit}, {broken}{unconfirmed}"
    if falls(*overall) != falls(before, after):  # the positions alone say something else
        (before, after), unit = overall, " times the noise of all signals"
    change = f"from {before:.4g} to {after:.4g}{unit}"
    if praised and falls(before, after):
        less = _percent(1.0 - after / before)
        return f"the {kind} error falls {change} ({less} less){unconfirmed}"
    return f"the {kind} error {'rises' if after > before else 'goes'} {change}{unconfirmed}"


def _percent(share: float) -> str:
    """A share as percent; what is not all is at most 99.9 %."""
    if share < 0.99:
        return f"{100 * share:.0f} %"
    return f"{min(100 * share, 99.9) if share < 1.0 else 100:.3g} %"


def result_warnings(result: FitResult) -> tuple[str, ...]:
    """Return warnings about the fit itself: its end, and what it leaves open."""
    found = [] if result.torque is None else [*result.torque.notes]
    if result.status is not FitStatus.CONVERGED:
        found.append(f"The fit did not converge: {result.message}.")
    opened = [p.name for p in result.parameters if p.unidentifiable]
    found += _few_or_counted(
        [as_sentence(sentence) + "." for sentence in result.unidentifiable],
        f"combinations of parameters are left open by the data ({listed(opened)}): they "
        "stay as near to the model's own values as the data allows, and no interval is claimed for "
        "them. The report lists them under Identifiability.",
    )
    at_bounds = [(p, flag) for p in result.parameters for flag in p.bounds_reached]
    found += _few_or_counted(
        [
            f"{p.name} is {flag}: its interval ends there; {_wanted(p, flag)}, or "
            "something the model lacks is being absorbed."
            for p, flag in at_bounds
        ],
        f"parameters are at a bound ({listed([p.name for p, _ in at_bounds])}): their intervals "
        "end there; the data may want them further out (at zero: none of them), or something the "
        "model lacks is being absorbed. The report lists them under Identifiability.",
    )
    if result.model_error is not None:
        found += model_error_sentences(result.parameters, result.model_error)
    return tuple(found)


def _wanted(parameter: ParameterEstimate, flag: str) -> str:
    """Say what data may want that ends at a bound, beyond which there may be nothing."""
    nothing = flag == AT_LOWER_BOUND and parameter.lower == 0.0
    return "the data wants none of it" if nothing else "the data may want it further out"


def _few_or_counted(sentences: list[str], together: str) -> list[str]:
    """The sentences, or where they are many one with their number."""
    return sentences if len(sentences) <= FEW else [f"{len(sentences)} {together}"]


def warnings(experiment: Experiment, outcome: Outcome, model: mujoco.MjModel) -> tuple[str, ...]:
    """Return what a careful reader must know, most important first.

    Args:
      experiment: What was asked for.
      outcome: The fit with its scores; its own warnings do not matter.
      model: The experiment's, which says what the input of an actuator is.
    """
    result, training, validation = outcome.fit, outcome.training, outcome.validation
    found = [*result_warnings(result), *_overdamped(outcome, model)]
    found += scored_warnings(training, validation)
    if result.interval_method == "blocks":
        found.append(
            "There are few windows, so that the intervals allow for correlated residuals inside "
            f"short blocks of time only; slower errors are not covered. {_MORE_WINDOWS}"
        )
    if result.interval_method == "white" and experiment.fit.intervals == "clustered":
        found.append(
            "There are too few windows for intervals that allow correlated residuals; the "
            f"intervals assume white noise and are probably too narrow. {_MORE_WINDOWS}"
        )
    if result.torque is None and _measured_torque_as_input(experiment, model):
        found.append(
            "A measured effort is used as input: its scale multiplies every inertia and friction "
            "and cannot be told from them without a known payload. Under feedback its noise also "
            "correlates with the motion; prefer simulating the controller from its reference."
        )
    return tuple(found)


def _overdamped(outcome: Outcome, model: mujoco.MjModel) -> list[str]:
    """Joints whose damping ends at zero, where their servos' own may be what is too large."""
    ended = {
        p.name
        for p in outcome.fit.parameters
        if p.lower == 0.0 and AT_LOWER_BOUND in p.flags and p.name not in outcome.absent
    }
    places = {each.name: each.target for each in outcome.applied}
    free = {name for at in places.values() if at.attribute == "kv" for name in at.names}
    found = []
    for name, at in places.items():
        if name not in ended or (at.element, at.attribute) != ("joint", "damping"):
            continue
        drives = {
            str(model.actuator(one).name): -float(model.actuator_biasprm[one, 2])
            for joint in at.names
            for one in actuators_on(model, int(model.joint(joint).id))
            if is_servo(model, one)
        }
        # What has no name can be let free by none.
        damped = [one for one, kv in drives.items() if one and kv > 0.0 and one not in free]
        if damped:
            found.append(
                f"{name} cannot take back what the model's servo damps by: let kv of "
                f"{listed(map(repr, damped))} be found in its place."
            )
    return _few_or_counted(
        found,
        "joints whose damping ends at zero have servos with damping of their own, which it cannot "
        "take back: let kv of these be found in its place.",
    )


def scored_warnings(training: Score | None, validation: Score | None) -> tuple[str, ...]:
    """Return warnings about the scores: nothing held out, or much worse there."""
    if training is None and validation is None:
        return ()
    if validation is None:
        return ("Nothing was held out, so an overfit would not show; add a validation bag.",)
    if training is None or validation.rmse_all <= 2.0 * training.rmse_all:
        return ()
    return (
        f"The held-out error ({validation.rmse_all:.4g}) is more than twice the training "
        f"error ({training.rmse_all:.4g}): the fit may not carry over to other motions.",
    )


def _measured_torque_as_input(experiment: Experiment, model: mujoco.MjModel) -> bool:
    for signal in experiment.signals:
        if signal.kind is SignalKind.ACTUATOR and signal.wrench is None:
            fields = [term.path.text for term in parse_fields(signal.field)]
            measured = any(field.startswith("effort[") for field in fields)
            if (measured or signal.interpolation is Interpolation.LINEAR) and _is_effort(
                fields[0], signal.name, model
            ):
                return True
    return False


def _is_effort(field: str, name: str, model: mujoco.MjModel) -> bool:
    """Return whether an input is an effort: by its field, else by what the actuator makes of it."""
    quantity = field.partition("[")[0].rpartition(".")[2]
    if quantity.startswith(("position", "velocit", "effort")):
        return quantity.startswith("effort")
    actuator = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_ACTUATOR, name)
    return actuator < 0 or is_effort(model, actuator)
