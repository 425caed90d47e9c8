# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Units that most commands of a topic were found in, and that the others have then as well."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from sysid_ros.diagnosis.evidence.explanation import Explanation
from sysid_ros.diagnosis.evidence.finding import Change, FindingKind
from sysid_ros.diagnosis.evidence.hypotheses import DEGREE
from sysid_ros.diagnosis.evidence.recorded import Recorded

_RANGE = 1.0, 99.0  # percentiles


def with_topics_degrees(
    recorded: Recorded, found: Sequence[Explanation], topics: Mapping[str, str]
) -> list[Explanation]:
    """Put the rest of a topic's commands of hinges into degrees where most are in degrees.

    A node does not send one angle in radians among others in degrees, and a joint that hardly
    moves, or that something presses, may tell nothing by itself. Commands that span what their
    joint does rather as they are stay so.

    Args:
      recorded: The recordings, repaired by what was found.
      found: Explanations of commands, of whatever kind.
      topics: The topic of each signal by its label.

    Returns:
      Further explanations, one for a topic.
    """
    settled = {label: one for one in found for label in one.change.signals}
    asked = {
        label: joint
        for servo, label in recorded.servos.items()
        if (joint := recorded.joint_of(servo)) in recorded.positions and recorded.is_hinge(joint)
    }
    added = []
    for topic in dict.fromkeys(topics.get(label, "") for label in asked):
        own = [label for label in asked if topics.get(label, "") == topic]
        told = [settled[label] for label in own if _in_degrees(settled.get(label), label)]
        rest = [
            label for label in own
            if label not in settled and _spans_degrees(recorded, label, asked[label])
        ]  # fmt: skip
        if rest and 2 * len(told) > len(own):
            change = Change(FindingKind.DEGREES, scale=dict.fromkeys(rest, DEGREE))
            added.append(Explanation(change, 0.0, told[0].before, told[0].after))
    return added


def _in_degrees(one: Explanation | None, label: str) -> bool:
    """Return whether an explanation puts a command into degrees."""
    if one is None or one.change.kind is not FindingKind.DEGREES:
        return False
    return math.isclose(one.change.scale.get(label, 0.0), DEGREE)


def _spans_degrees(recorded: Recorded, label: str, joint: int) -> bool:
    """Return whether a command is nearer to what its joint does in degrees than as recorded."""
    spans = [
        np.ptp(np.percentile(np.concatenate([one.values for one in samples]), _RANGE))
        for samples in (recorded.pooled(label), recorded.pooled(recorded.positions[joint]))
    ]
    if not all(spans):
        return False
    ratio = math.log(spans[0] / spans[1])
    return abs(ratio + math.log(DEGREE)) < abs(ratio)
