# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Starts of a search for what servos of unknown gain work against: a linear fit of the motion.

With damping twenty times too large a search's first step throws a delay to its bound of zero, where
damping takes its place, and no slope leads back.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sysid_ros.dataset import Dataset
from sysid_ros.diagnosis import recorded, servo_resistances
from sysid_ros.proposal.candidate import Candidate
from sysid_ros.proposal.mapped_inputs import Inputs

_LEAST = 0.01  # of a usual size: at a bound a search has no slope
_MOST = 0.5  # of an upper bound, likewise


def begun_at_motion(
    offered: Sequence[Candidate], dataset: Dataset, inputs: Inputs
) -> list[Candidate]:
    """Candidates that start where they explain the motion, for servos that the model lacked.

    These are damping and dry friction that the model lacked too, and the delays of the commands.
    """
    usual = [one.typical for one in offered if one.attribute == "delay"]
    if not usual or not inputs.guessed:
        return list(offered)
    whole = recorded(dataset.training, inputs.guessed)
    starts: dict[tuple[str, str], float] = {}
    for servo, found in servo_resistances(whole, inputs.topics.__getitem__, usual[0]).items():
        joint, label = whole.joint_name(whole.joint_of(servo)), whole.commands[servo]
        starts[joint, "damping"] = found.damping
        starts[joint, "frictionloss"] = found.frictionloss
        starts[label, "delay"] = starts[inputs.topics[label], "delay"] = found.lag
    return [_started(one, starts.get((one.name, one.attribute))) for one in offered]


def _started(one: Candidate, start: float | None) -> Candidate:
    """A candidate that begins at a value, inside its bounds.

    As it is where the model has one, but for damping: a servo's own is no part of a joint's.
    """
    if start is None or (one.initial is None and one.attribute != "damping"):
        return one
    # Friction that holds a joint all along looks like damping, and none of it like friction.
    usual = _LEAST * one.typical
    least = usual if one.attribute != "frictionloss" else max(one.initial or 0.0, usual)
    return replace(one, initial=float(f"{min(max(start, least), _MOST * one.high):.3g}"))
