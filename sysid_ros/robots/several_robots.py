# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Several identical robots in one experiment: whose topics are whose."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from sysid_ros.errors import ExperimentError, unknown_name
from sysid_ros.experiment import Experiment, MaskConfig


def have_own_parameters(experiment: Experiment) -> bool:
    """Return whether any parameter has one value for each robot."""
    return any(config.per_robot for config in experiment.parameters)


def check_robot(experiment: Experiment, robot: str | None, topics: Collection[str]) -> None:
    """Refuse a robot that neither the experiment names nor the recording has topics of.

    Raises:
      ExperimentError: It is such a one; the message says who can be chosen.
    """
    known = {s.robot for s in experiment.recordings} - {None}
    known |= {
        topic.removesuffix(own).strip("/")
        for own in {"/" + signal.topic.lstrip("/") for signal in experiment.signals}
        for topic in topics
        if topic.endswith(own) and topic != own
    }
    if robot is not None and robot not in known:
        raise ExperimentError(unknown_name("robot", robot, filter(None, known)))


def with_namespace(
    experiment: Experiment, robot: str | None, topics: Collection[str]
) -> Experiment:
    """The experiment with the topics that a robot (``None``: the only one) has in a recording.

    Returns:
      An experiment in which every topic that the recording has under the robot's name is that.
    """
    if robot is None:
        return experiment

    def own(topic: str) -> str:
        inside = f"/{robot}/{topic.lstrip('/')}"
        return inside if inside in topics else topic

    def own_masks(masks: tuple[MaskConfig, ...]) -> tuple[MaskConfig, ...]:
        return tuple(replace(mask, topic=own(mask.topic)) for mask in masks)

    return replace(
        experiment,
        signals=tuple(
            replace(s, topic=own(s.topic), enabled_when=own_masks(s.enabled_when))
            for s in experiment.signals
        ),
        enabled_when=own_masks(experiment.enabled_when),
    )
