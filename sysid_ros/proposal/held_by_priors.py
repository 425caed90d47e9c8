# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Friction, armature and delays that recordings leave open, held by priors where others hang on it.

MuJoCo's dry friction below its limit acts as inertia and damping, many times a light joint's own.
Where a joint never leaves that range the limit has no effect, and nothing determines it. Left at
the model's value, it would be taken for certain all the same: whether the joint leaves that range
tells damping from armature, so that a wrong limit makes these wrong, with narrow intervals.

Armature that hardly shows acts late: over the damping of a servo it is a time, which the joint's
own motion cannot tell from a delay. Taken for certain, it would make that joint the sharpest clock
of all for a delay that the robot shares, and the delay all other armatures wrong.

A slow motion shows a delay as damping: a servo lags by its damping over its gain. Taken for
certain, a delay would make each damping wrong by that gain times what is missing.

A prior is as wide as what it says is uncertain. A model that gives a value means about that. Where
it gives none a usual size is a guess, by which nothing may be scaled: rotors count with the square
of their gears' ratios, so that armatures range over decades. All that bounds allow is likely then.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sysid_ros.proposal.candidate import Candidate, rounded

_HANG_ON_IT = {
    ("joint", "frictionloss"): ("damping", "armature"),
    ("joint", "armature"): ("damping", "frictionloss"),
    ("signal", "delay"): ("damping",),
}
_SPREAD = 1.0  # standard deviation over the typical size: as likely nothing as twice the model's
_GUESSED_SPREAD = 0.5  # over a joint's upper bound: within two is all that is within the bounds
_DOUBT = (
    "recordings alone do not tell the {what} of {name}, which bears on {others}; "
    "the prior says what is likely"
)
_WORDS = {"frictionloss": "dry friction"}


def chosen(
    offered: Sequence[Candidate], answers: Sequence[bool]
) -> tuple[tuple[Candidate, ...], tuple[Candidate, ...]]:
    """Divide candidates into those that are proposed and those that are left out.

    Returns:
      Both in the order given. Friction and armature of a joint, and delays of all joints, are
      proposed with what hangs on them; where they are not determined themselves, they have priors.
    """
    asked = list(zip(offered, answers, strict=True))
    free = {(one.name, one.attribute) for one, answer in asked if answer and one.element == "joint"}
    anywhere = {attribute for _, attribute in free}
    kept: list[Candidate] = []
    dropped: list[Candidate] = []
    for one, answer in asked:
        others = _HANG_ON_IT.get((one.element, one.attribute), ())
        own = one.element == "joint"
        hanging = [
            other for other in others if ((one.name, other) in free if own else other in anywhere)
        ]
        if hanging and not answer and not one.on_demand:
            kept.append(_with_prior(one, hanging))
        else:
            (kept if answer else dropped).append(one)
    return tuple(kept), tuple(dropped)


def _with_prior(one: Candidate, hanging: Sequence[str]) -> Candidate:
    spread = _SPREAD * max(one.typical, one.initial or 0.0)
    if one.element == "joint" and one.initial is not None:  # the model has none
        spread = max(spread, _GUESSED_SPREAD * one.high)
    words = [_WORDS.get(attribute, attribute) for attribute in (one.attribute, *hanging)]
    doubt = _DOUBT.format(what=words[0], name=one.name, others=" and ".join(words[1:]))
    return replace(one, std=rounded(spread), doubt=doubt)
