# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Contents of a recorder's bags besides messages, so that they explain themselves."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path

from sysid_ros.errors import ModelError
from sysid_ros.experiment import Experiment, locate_model, packages_of
from sysid_ros.nodes.recorder.bag_session import BagContents
from sysid_ros.nodes.recorder.diagnostics import topic_values
from sysid_ros.nodes.recorder.topic_statistics import TopicStatistics
from sysid_ros.recording.bags import DESCRIPTION_RECORD, MODEL_RECORD, TOPIC_RECORD

_XML = "application/xml"


def experiment_contents(experiment: Experiment | None) -> BagContents:
    """The experiment's file, and its model with the hash that results name it by.

    Raises:
      ModelError: The model's file cannot be read.
    """
    if experiment is None:
        return BagContents()
    attachments = {"experiment.yaml": ("application/yaml", experiment.text.encode())}
    if experiment.model is None:
        return BagContents(attachments)
    file = locate_model(
        experiment.model,
        experiment_file=experiment.path,
        data_dir=None,
        packages=packages_of(experiment, None),
    )
    try:
        content = file.read_bytes()
    except OSError as error:
        raise ModelError(f"model {file} cannot be read: {error.strerror or error}") from error
    attachments[file.name] = (_XML, content)
    record = {"model": experiment.model, **_identity(file, content)}
    return BagContents(attachments, {MODEL_RECORD: record})


def description_contents(topic: str, text: str) -> BagContents:
    """The robot's description as a topic gave it; nothing where there is none yet."""
    if not text:
        return BagContents()
    file = Path("robot_description.xml")
    content = text.encode()
    record = {"topic": topic, **_identity(file, content)}
    return BagContents({file.name: (_XML, content)}, {DESCRIPTION_RECORD: record})


def closing_contents(statistics: Mapping[str, TopicStatistics], now_ns: int) -> BagContents:
    """Return the counts of every topic.

    Args:
      statistics: The counts by topic.
      now_ns: By the clock that dates the receipt of messages.
    """
    return BagContents(
        records={
            TOPIC_RECORD + name: topic_values(counts, now_ns) for name, counts in statistics.items()
        }
    )


def joined(*contents: BagContents) -> BagContents:
    """All of them together; of equal names, the last one counts."""
    return BagContents(
        {name: file for each in contents for name, file in each.attachments.items()},
        {name: record for each in contents for name, record in each.records.items()},
    )


def _identity(file: Path, content: bytes) -> dict[str, str]:
    return {"attachment": file.name, "sha256": hashlib.sha256(content).hexdigest()}
