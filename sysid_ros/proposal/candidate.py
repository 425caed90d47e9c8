# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A parameter that may be proposed."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from itertools import takewhile
from typing import Any

import mujoco

from sysid_ros.engine.attributes import lookup
from sysid_ros.errors import SysidError


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """A parameter that may be proposed."""

    element: str  # joint, body, actuator or signal
    name: str  # of the element, or the topic of several signals
    attribute: str  # of the element
    low: float  # lower bound
    high: float  # upper bound
    # A usual size of the value, or of its error; what is known no better is not known
    typical: float
    initial: float | None = None  # where to start; ``None`` for the model's value
    # standard deviation of a prior about the model's value; ``None`` without one
    std: float | None = None
    shared: bool = False  # whether all that the name means have one value
    # whether it is proposed only where the recordings contradict the model's value
    on_demand: bool = False
    # whether nobody knows the value that the model has, so that it is always proposed
    guessed: bool = False
    # the joint that a wrong value moves by much the same everywhere; of several candidates of one
    # joint that which explains more is the first to be tried. Empty of all others
    displaces: str = ""
    # a pattern of all names whose elements the model has alike, as drives of one kind, which may be
    # off alike; empty where there are no others
    alike: str = ""
    doubt: str = ""  # what a person should check; empty where nothing

    def settings(self) -> dict[str, Any]:
        """As in an experiment file."""
        start = {} if self.initial is None else {"initial": self.initial}
        prior = {} if self.std is None else {"prior": {"std": self.std}}
        shared = {"shared": True} if self.shared else {}
        return {**start, "min": self.low, "max": self.high, **prior, **shared}

    @property
    def revealing(self) -> str:
        """The motion that would show it."""
        return _REVEALING[self.attribute]


def model_value(spec: mujoco.MjSpec, element: str, name: str, attribute: str) -> float | None:
    """The model's value of an attribute of an element; ``None`` where it has no such thing."""
    try:
        return float(lookup(element, attribute).read(spec, name)[0])
    except SysidError:
        return None


def rounded(value: float) -> float:
    """A value as proposals write it."""
    return float(f"{value:.3g}")


def pattern(names: Sequence[str], others: Collection[str]) -> str:
    """A pattern of some signals' names that no other has; empty where they have too little alike.

    A controller's state tells positions beside commands, so that its topic names both. Where what
    all names begin and end with does not tell them from others, their last letters may.
    """
    begin = _alike(names)
    end = _alike([name[len(begin) :][::-1] for name in names])[::-1]
    plain, last = f"{begin}*{end}", "".join(sorted({name[-1:] for name in names}))
    found = [] if set("?[").intersection(plain) or plain.count("*") > 1 else [plain]
    found += [f"*[{last}]"] if last.isalnum() else []
    return next((p for p in found if not any(fnmatchcase(one, p) for one in others)), "")


def _alike(names: Sequence[str]) -> str:
    """The letters that all names begin with."""
    same = takewhile(lambda letters: len(set(letters)) == 1, zip(*names, strict=False))
    return "".join(letters[0] for letters in same)


def together(
    offered: Sequence[Candidate], alike: Collection[tuple[str, str]]
) -> tuple[Candidate, ...]:
    """The candidates, with those as one that share one of some attributes and patterns."""
    found: dict[tuple[str, str, str], Candidate] = {}
    for one in offered:
        if (one.attribute, one.alike) in alike:
            doubt = f"the recordings contradict the model's {one.attribute} of all that are alike"
            one = replace(one, name=one.alike, alike="", shared=True, doubt=doubt)
        found.setdefault((one.element, one.name, one.attribute), one)
    return tuple(found.values())


_REVEALING = {
    "frictionloss": "slow motion with many reversals",
    "damping": "motion at different speeds",
    "armature": "quick changes of speed",
    "stiffness": "the whole range in slow motion, or loads on the joint",
    "springref": "holding still in different postures, approached from both sides",
    "delay": "quick motion, as steps",
    "torque_offset": "slow motion in both directions, in different postures",
    "kp": "a known load on the joint, or steps",
    "kv": "quick steps",
    "force_limit": "steps that drive the servo to its limit",
    "time_constant": "quick steps",
    "bias": "holding still in different postures, approached from both sides",
    "bias_x": "rest and motion in several postures",
    "bias_y": "rest and motion in several postures",
    "bias_z": "rest and motion in several postures",
    "gain": "the same motion with a known payload",
    "mass": "different postures and quick changes of speed, with measured torques or a payload",
    "gravcomp": "holding still in different postures",
    "com_x": "different postures about horizontal axes",
    "com_y": "different postures about horizontal axes",
    "com_z": "different postures about horizontal axes",
}


def with_first(named: Sequence[Candidate], others: Sequence[Candidate]) -> tuple[Candidate, ...]:
    """The candidates that evidence names, and those of the others that are none of these again."""
    own = {(one.element, one.name, one.attribute) for one in named}
    return (
        *named,
        *(one for one in others if (one.element, one.name, one.attribute) not in own),
    )
