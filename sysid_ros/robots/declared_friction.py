# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Friction models in an experiment: ``friction: m4`` of a joint stands for M4's parameters."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sysid_ros.engine.elements import FREE, matching, matching_names
from sysid_ros.engine.friction import PARAMETERS, parameters_of
from sysid_ros.errors import ExperimentError
from sysid_ros.experiment import FRICTION, Experiment, ParameterConfig

# What joints have without a friction model, and the parameters of M1 that are the same.
_PLAIN = {"damping": "friction_viscous", "frictionloss": "friction_base"}


def with_friction_model(experiment: Experiment, model: str) -> Experiment:
    """The experiment with another friction model on the joints whose friction it identifies.

    Those are the joints that have a ``friction`` entry or, where none has, those of which
    ``frictionloss`` or ``damping`` is identified. Settings of parameters that both models have are
    kept, those of parameters that the new one lacks are dropped.

    Raises:
      ExperimentError: The experiment identifies no joint's friction.
      ParameterError: There is no such model.
    """
    members = parameters_of(model)
    changed: list[ParameterConfig] = []
    if any(_is_friction(config) for config in experiment.parameters):
        for config in experiment.parameters:
            if _is_friction(config):
                changed.append(replace(config, form=model))
            elif config.attribute not in PARAMETERS or config.attribute in members:
                changed.append(config)
        return replace(experiment, parameters=tuple(changed))
    patterns: dict[str, ParameterConfig] = {}
    for config in experiment.parameters:
        if config.element == "joint" and config.attribute in _PLAIN:
            patterns.setdefault(config.pattern, config)
            config = replace(config, attribute=_PLAIN[config.attribute])
        changed.append(config)
    if not patterns:
        raise ExperimentError(
            f"friction model {model} needs a joint whose friction is identified: give one "
            "`friction: m1`, or `frictionloss` and `damping`, among its parameters"
        )
    changed += [
        ParameterConfig("joint", pattern, FRICTION, form=model, place=config.place)
        for pattern, config in patterns.items()
    ]
    return replace(experiment, parameters=tuple(changed))


def expanded(experiment: Experiment, spec: Any) -> tuple[ParameterConfig, ...]:
    """The experiment's parameters with every ``friction`` entry in its model's parameters.

    A parameter that has an entry of its own keeps it.

    Args:
      experiment: The experiment.
      spec: The model (an MjSpec) whose joints the patterns match.

    Raises:
      ExperimentError: An entry concerns a parameter that the joint's friction model lacks.
      UnknownElementError: A pattern matches no joint.
    """
    given = _joints_by_attribute(experiment, spec)
    configs: list[ParameterConfig] = []
    covered: set[tuple[str, str | None]] = set()
    for config in experiment.parameters:
        if not _is_friction(config):
            configs.append(config)
            continue
        matched = matching_joints(spec, config.pattern)
        joints = [joint for joint in matched if (joint, config.form) not in covered]
        covered.update((joint, config.form) for joint in joints)
        members = parameters_of(config.form or "")
        _check(config, joints, members, given)
        for name in members:
            own = given.get(name, set())
            left = [joint for joint in joints if joint not in own]
            configs += _entries(replace(config, attribute=name, form=None), left, matched)
    return tuple(configs)


def matching_joints(spec: Any, pattern: str) -> list[str]:
    """Names of the joints that match a pattern, a free joint only by its own name.

    A free joint has no bearing that rubs and no rotor; where a pattern stands for such joints only,
    it is they that are meant.

    Raises:
      UnknownElementError: Nothing matches.
    """
    names = matching(spec, "joint", pattern)
    held = [name for name in names if spec.joint(name).type != FREE]
    return names if pattern in names else held or names


def _is_friction(config: ParameterConfig) -> bool:
    return (config.element, config.attribute) == ("joint", FRICTION)


def _entries(config: ParameterConfig, left: list[str], matched: list[str]) -> list[ParameterConfig]:
    """An entry for those of the joints it matches that are left."""
    if len(left) == len(matched):
        return [config]
    # A bracket is the one character that names may have and patterns read otherwise.
    return [replace(config, pattern=joint.replace("[", "[[]")) for joint in left]


def _joints_by_attribute(experiment: Experiment, spec: Any) -> dict[str, set[str]]:
    """The joints that have entries for single coefficients."""
    names = [joint.name for joint in spec.joints if joint.name]
    found: dict[str, set[str]] = {}
    for config in experiment.parameters:
        if config.element == "joint" and config.attribute in PARAMETERS:
            joints = matching_names(names, config.pattern)
            found.setdefault(config.attribute, set()).update(joints)
    return found


def _check(
    config: ParameterConfig, joints: list[str], members: tuple[str, ...], given: dict[str, set[str]]
) -> None:
    for name, own in given.items():
        both = own.intersection(joints)
        if both and name not in members:
            raise ExperimentError(
                f"{name} of joint {min(both)!r} is a parameter, but its friction model is "
                f"{config.form}, which has {', '.join(members)}"
            )
