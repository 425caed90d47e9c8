# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Checks that concern several parts of an experiment at once."""

from __future__ import annotations

import posixpath
from collections.abc import Callable

from sysid_ros.errors import ExperimentError, unknown_name
from sysid_ros.experiment.experiment_schema import Experiment, SequenceConfig
from sysid_ros.experiment.problems import Place, Problems
from sysid_ros.experiment.yaml_tree import Value
from sysid_ros.recording.mapping import SignalKind

_LEAST_RATIO = 1e-3  # of a coupling's turns, in size, and the inverse of the largest


def check_consistency(experiment: Experiment, root: Value, problems: Problems) -> None:
    """Note contradictions between the parts of an experiment whose parts are valid.

    Args:
      experiment: The experiment as read.
      root: The tree it was read from, for line numbers.
      problems: Collects what is wrong.
    """

    def place(*keys: str) -> Place:
        return _place(root, keys)

    _check_model(experiment, place, problems)
    if experiment.windows.overlap:
        problems.add(
            place("windows", "overlap"),
            "windows.overlap must be 0, as a fit would count data twice; "
            "scoring.overlap is for the scores",
        )
    scoring = experiment.scoring
    if scoring is not None and scoring.contacts != experiment.windows.contacts:
        problems.add(
            place("scoring", "contacts"),
            f"scoring.contacts is {scoring.contacts!r}, but windows.contacts "
            f"{experiment.windows.contacts!r} says it for both",
        )
    _check_bags(experiment, place, problems)
    _check_condition(experiment, place, problems)
    _check_folds(experiment, place, problems)
    _check_search(experiment, place, problems)
    _check_couplings(experiment, place, problems)
    _check_method(experiment, place, problems)


def check_fittable(experiment: Experiment) -> None:
    """Refuse an experiment that describes a robot but has nothing to fit.

    Such a file is fine for recording: bags may be added later, with :func:`with_bags`.

    Raises:
      ExperimentError: No sequences, no parameters or no measured signal.
    """
    source = str(experiment.path or "experiment")
    if not experiment.sequences:
        raise ExperimentError(
            f"{source}: there are no sequences to fit; list bags under 'sequences' "
            "or name them with --bag"
        )
    frozen = all(parameter.frozen for parameter in experiment.parameters)
    if frozen and experiment.payload is None and not experiment.couplings:
        raise ExperimentError(
            f"{source}: there are no parameters to fit; list them under 'parameters'"
        )
    check_measured(experiment)


def check_measured(experiment: Experiment) -> None:
    """Refuse an experiment that maps nothing measured.

    Raises:
      ExperimentError: No signal but inputs.
    """
    if all(signal.kind is SignalKind.ACTUATOR for signal in experiment.signals):
        raise ExperimentError(
            f"{experiment.path or 'experiment'}: nothing measured is mapped; 'signals' needs a "
            "sensor, qpos or qvel"
        )


def _check_model(experiment: Experiment, place: Callable[..., Place], problems: Problems) -> None:
    if experiment.model is not None and experiment.model_topic is not None:
        problems.add(place("model_topic"), "give model or model_topic, not both")
    recordings = experiment.sequences + experiment.validation.bags
    each_has_one = bool(recordings) and all(sequence.model for sequence in recordings)
    if experiment.model is None and experiment.model_topic is None and not each_has_one:
        problems.add(place(), "the experiment lacks the key 'model' (or 'model_topic')")


def _check_bags(experiment: Experiment, place: Callable[..., Place], problems: Problems) -> None:
    """No stretch of a bag may be used twice, least of all once in the fit and once to judge it."""
    used: list[tuple[SequenceConfig, str]] = []
    held_out = experiment.validation.bags
    for sequence, role in [(s, "trained on") for s in experiment.sequences] + [
        (s, "held out") for s in held_out
    ]:
        for other, other_role in used:
            same = _bag_key(other) == _bag_key(sequence) and other.robot == sequence.robot
            if same and _overlap(other, sequence):
                roles = role if role == other_role else f"both {other_role} and {role}"
                twice = " twice" if role == other_role else ""
                where = ("validation", "bags") if role == "held out" else ("sequences",)
                problems.add(place(*where), f"bag {sequence.bag!r} is {roles}{twice}")
                break
        used.append((sequence, role))


def _check_condition(
    experiment: Experiment, place: Callable[..., Place], problems: Problems
) -> None:
    condition = experiment.validation.condition
    if condition is None or not experiment.sequences:
        return
    here = place("validation", "condition")
    if not condition:
        problems.add(here, "validation.condition must name at least one condition")
    names = {name for sequence in experiment.sequences for name in sequence.conditions}
    unknown = [name for name in condition if name not in names]
    for name in unknown:
        problems.add(here, unknown_name("condition", name, names, where="validation.condition"))
    if unknown or not condition:
        return
    matching = sum(sequence.meets(condition) for sequence in experiment.sequences)
    if matching in (0, len(experiment.sequences)):
        count = "no sequence has" if matching == 0 else "every sequence has"
        shown = ", ".join(f"{name}: {value}" for name, value in condition.items())
        problems.add(here, f"validation.condition splits nothing: {count} {{{shown}}}")


def _check_folds(experiment: Experiment, place: Callable[..., Place], problems: Problems) -> None:
    folds, sequences = experiment.validation.folds, len(experiment.sequences)
    if folds is not None and 0 < sequences < folds:
        problems.add(
            place("validation", "folds"),
            f"validation.folds is {folds}, but sequences has only {sequences}",
        )


def _check_search(experiment: Experiment, place: Callable[..., Place], problems: Problems) -> None:
    search = experiment.fit.search
    if search is not None and search.study is None and search.study_name is not None:
        problems.add(
            place("fit", "search", "study_name"),
            f"fit.search.study_name is {search.study_name!r}, but fit.search.study, in which it "
            "would be, is not given",
        )
    if search is not None and search.study is not None and not _is_study(search.study):
        problems.add(
            place("fit", "search", "study"),
            "fit.search.study must be a file that ends in .db or .log, or a URL of Optuna's, "
            f"given {search.study!r}",
        )
    if search is not None and search.method == "nsga2" and len(search.costs) < 2:
        problems.add(
            place("fit", "search"),
            "fit.search.costs must name two groups of signals for nsga2, such as "
            '["*_pos", "*_vel"]',
        )


def _is_study(study: str) -> bool:
    return "://" in study or study.endswith((".db", ".log"))


def _check_couplings(
    experiment: Experiment, place: Callable[..., Place], problems: Problems
) -> None:
    for one in experiment.couplings:
        if one.joint == one.other:
            problems.add(
                place("couplings"),
                f"couplings: a motor that turns with {one.joint!r} alone is no coupling; 'other' "
                "must be another joint",
            )
        if not _LEAST_RATIO <= abs(one.ratio) <= 1.0 / _LEAST_RATIO:
            problems.add(
                place("couplings"),
                f"couplings: ratio must be between {_LEAST_RATIO:g} and {1.0 / _LEAST_RATIO:g} in "
                f"size, given {one.ratio:g}",
            )


def _check_method(experiment: Experiment, place: Callable[..., Place], problems: Problems) -> None:
    fit = experiment.fit
    bare = [one for one in experiment.recordings if not one.loaded]
    if bare and (fit.simulates or experiment.payload is None):
        problems.add(
            place("sequences"),
            f"bag {bare[0].bag!r} has 'loaded: false', which needs the key 'payload' and "
            "fit: {method: inverse_dynamics}",
        )
    elif bare and len(bare) == len(experiment.recordings):
        problems.add(place("sequences"), "every bag has 'loaded: false'; none tells the payload")
    if fit.simulates:
        return
    for key, given in (
        ("search", fit.search is not None),
        ("bias_check", fit.bias_check),
        ("window_check", fit.window_check),
    ):
        if given:
            problems.add(
                place("fit", key),
                f"fit.{key} belongs to method: forward; {fit.method} simulates nothing and finds "
                "the best parameters wherever they are",
            )


def _bag_key(sequence: SequenceConfig) -> str:
    return posixpath.normpath(sequence.bag)


def _overlap(first: SequenceConfig, second: SequenceConfig) -> bool:
    infinity = float("inf")
    first_end = infinity if first.end is None else first.end
    second_end = infinity if second.end is None else second.end
    return (first.start or 0.0) < second_end and (second.start or 0.0) < first_end


def _place(root: Value, keys: tuple[str, ...]) -> Place:
    """Find the place of the value at a key path, or of the last part of it that is there."""
    value = root
    for key in keys:
        if not isinstance(value.content, dict) or key not in value.content:
            break
        value = value.content[key]
    return value.place
