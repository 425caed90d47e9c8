# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Friction that recordings leave open, held by a prior where the rest of its joint hangs on it.

MuJoCo's dry friction below its limit acts as inertia and damping, many times a light joint's own.
Where a joint never leaves that range the limit has no effect, and nothing determines it. Left at
the model's value, it would be taken for certain all the same: whether the joint leaves that range
tells damping from armature, so that a wrong limit makes these wrong, with narrow intervals. A prior
on the armature as well makes them worse: see docs/robots_tried.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sysid_ros.proposal.candidate import Candidate

_FRICTION = "frictionloss"
_HANGS_ON_IT = ("damping", "armature")
_SPREAD = 1.0  # standard deviation over the typical size: as likely nothing as twice the model's
_DOUBT = (
    "recordings alone do not tell the dry friction of {name}, on which its damping and armature "
    "hang; the prior says what is likely"
)


def chosen(
    offered: Sequence[Candidate], answers: Sequence[bool]
) -> tuple[tuple[Candidate, ...], tuple[Candidate, ...]]:
    """Divide candidates into those that are proposed and those that are left out.

    Args:
      offered: The candidates.
      answers: Of each, whether the recordings determine it.

    Returns:
      Both in the order given. Friction is proposed with damping or armature of its joint; where
      it is not determined itself, it has a prior.
    """
    asked = list(zip(offered, answers, strict=True))
    hanging = {one.name for one, answer in asked if answer and _of_joint(one, *_HANGS_ON_IT)}
    kept: list[Candidate] = []
    dropped: list[Candidate] = []
    for one, answer in asked:
        held = _of_joint(one, _FRICTION) and one.name in hanging and not one.on_demand
        if held and not answer:
            kept.append(_with_prior(one))
        else:
            (kept if answer else dropped).append(one)
    return tuple(kept), tuple(dropped)


def _of_joint(one: Candidate, *attributes: str) -> bool:
    return one.element == "joint" and one.attribute in attributes


def _with_prior(one: Candidate) -> Candidate:
    spread = float(f"{_SPREAD * one.typical:.3g}")
    return replace(one, std=spread, doubt=_DOUBT.format(name=one.name))
