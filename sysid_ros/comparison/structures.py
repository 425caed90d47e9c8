# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The structures that an experiment's model may have, each as an experiment of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from sysid_ros.dataset import model_of
from sysid_ros.engine.friction import MODELS
from sysid_ros.errors import ExperimentError, SysidError, unknown_name
from sysid_ros.experiment import Experiment
from sysid_ros.robots import build_parameters, with_friction_model

AS_WRITTEN = "experiment"  # the name of the experiment's own structure


def default_structures(experiment: Experiment) -> tuple[str, ...]:
    """List the structures compared by default: the experiment's own and its alternatives."""
    return (AS_WRITTEN, *experiment.alternatives)


def structure(experiment: Experiment, name: str) -> Experiment:
    """The experiment with another structure of its model.

    Args:
      experiment: What the structures have in common.
      name: One of its ``alternatives``, ``m1`` to ``m6`` for a friction model of its joints, or
        ``experiment`` for what it says itself.

    Returns:
      An experiment without alternatives.

    Raises:
      ExperimentError: There is no such structure.
    """
    if name in experiment.alternatives:
        chosen = experiment.alternatives[name]
        parameters = (
            experiment.parameters if chosen.parameters is None else chosen.parameters
        ) + chosen.add
        return replace(
            experiment,
            parameters=parameters,
            model=chosen.model or experiment.model,
            modifiers=chosen.modifiers or experiment.modifiers,
            alternatives={},
        )
    if name in MODELS:
        return replace(with_friction_model(experiment, name), alternatives={})
    if name == AS_WRITTEN:
        return replace(experiment, alternatives={})
    raise ExperimentError(unknown_name("model", name, (*default_structures(experiment), *MODELS)))


def structures(experiment: Experiment, names: Sequence[str]) -> dict[str, Experiment]:
    """Several structures by name; see :func:`structure`.

    Raises:
      ExperimentError: There is less than two, one is named twice or unknown.
    """
    if len(set(names)) < len(names):
        raise ExperimentError(f"a model is named twice: {', '.join(names)}")
    if len(names) < 2:
        raise ExperimentError(
            f"a comparison needs at least two models, given {', '.join(names) or 'none'}; name "
            "them with --models or declare them under 'alternatives'"
        )
    return {name: structure(experiment, name) for name in names}


def parameter_names(experiment: Experiment, data_dir: Path | None) -> frozenset[str]:
    """The free parameters of a structure; none if it cannot be built."""
    recordings = (*experiment.sequences, *experiment.validation.bags)
    if not recordings:
        return frozenset()
    try:
        spec = model_of(experiment, recordings[0], data_dir).with_sensors
        return frozenset(build_parameters(experiment, spec).scalar_names())
    except SysidError:  # whoever fits it says what is wrong
        return frozenset()
