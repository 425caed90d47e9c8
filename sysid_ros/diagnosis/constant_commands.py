# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Commands that never change beside joints that move: no servo gives way so far.

Either something else drives the joint, or the topic is not what its servo was told.
"""

from __future__ import annotations

import numpy as np

from sysid_ros.diagnosis.evidence import (
    ExperimentLines,
    Finding,
    FindingKind,
    Recorded,
    motion_range,
    moves,
)
from sysid_ros.diagnosis.fits import ServoEquation, bounded_fit
from sysid_ros.diagnosis.tracking import Tracking

_UNEXPLAINED = 0.7  # of a motion, that a servo does not give way by whatever pulls at it


def constant_command_findings(recorded: Recorded, lines: ExperimentLines) -> list[Finding]:
    """One finding for each command that stays as it is while its joint is driven.

    Only of robots all of whose joints are measured and that nothing ties or pushes: elsewhere a
    joint may be driven by another one.

    Args:
      recorded: What was recorded.
      lines: The experiment's entries.
    """
    test = Tracking.of(recorded, constant=True) if recorded.is_open_chain else None
    if test is None:
        return []
    found = []
    for servo in test.servos:
        label, joint = recorded.commands[servo], recorded.joint_of(servo)
        if len(recorded.arms(servo)) > 1 or not moves(recorded, joint):
            continue
        share = _driven_share(test.equation(servo))
        if share > _UNEXPLAINED:
            found.append(_finding(recorded, lines, label, joint, share))
    return found


def _driven_share(servo: ServoEquation) -> float:
    """The part of a joint's motion that is left without what its servo may give way by.

    Whatever explains it is taken out, in either direction, as if loads could pull anywhere.
    """
    columns = np.column_stack([servo.columns, -servo.columns])
    columns, moved = columns - columns.mean(axis=0), servo.position - servo.position.mean()
    found = bounded_fit(columns.T @ columns, columns.T @ moved, 1.0)
    return float(np.std(moved - columns @ found) / max(float(np.std(moved)), 1e-12))


def _finding(
    recorded: Recorded, lines: ExperimentLines, label: str, joint: int, share: float
) -> Finding:
    values = np.concatenate([part.values for part in recorded.pooled(label)])
    reach, unit = motion_range(recorded, joint)[0], "rad" if recorded.is_hinge(joint) else "m"
    repair = lines.removed(label)
    return Finding(
        FindingKind.NO_CONTROL,
        (label,),
        {"value": float(values[0]), "reach": reach, "unexplained": share},
        f"{label!r} is told {values[0]:.4g} throughout ({lines.topic(label)}), while joint "
        f"{recorded.joint_name(joint)!r} moves by {reach:.3g} {unit}; its servo gives way by a "
        "small part of that, whatever pulls at it. Something else drives the joint, or this is not "
        "what its servo is told: map what is.",
        repair.text,
        repair.overrides,
    )
