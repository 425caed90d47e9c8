# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The finding of one mass that is not the model's, as simulated windows tell it."""

from __future__ import annotations

from collections.abc import Sequence

import mujoco
import numpy as np

from sysid_ros.diagnosis.evidence import Finding, FindingKind, freed_mass
from sysid_ros.diagnosis.fits import OneMass, Scores
from sysid_ros.errors import listed

UNTESTED = (
    "masses are not tested: there are too few windows, the model flies apart in them, or their "
    "derivatives take too many simulations"
)


def told_mass(
    model: mujoco.MjModel,
    body: str,
    factor: tuple[float, float],
    joints: tuple[str, ...],
    rivals: tuple[tuple[str, float], ...],
    rival: str,
) -> Finding:
    """The finding, with the line that frees the mass.

    Args:
      model: The robot.
      body: Whose mass it is.
      factor: How many times the model's, and half the width of the 95 % interval of that.
      joints: Those that show it.
      rivals: Other bodies that explain as much, with how many times the model's their masses are.
      rival: What else would explain it, in words.
    """
    mass, interval = factor[0], _in_words(*factor)
    others = [f"{name!r} of {times:.3g} times" for name, times in rivals]
    also = f", or one of {listed(others, 4)}," if others else ""
    return Finding(
        FindingKind.GRAVITY,
        joints,
        with_interval("mass", *factor),
        f"The masses on {listed([repr(name) for name in joints], 3)} are not the model's, "
        f"whatever friction, armature and delays there are. A mass of {body!r} of {mass:.3g} "
        f"times the model's ({interval}){also} would explain it{rival}.",
        freed_mass(model, body),
        body=body,
        rivals=rivals,
    )


def told_masses(found: OneMass, joints: tuple[str, ...]) -> Finding:
    """The finding of masses that are all off, which no line repairs: it is the model that is wrong.

    Args:
      found: The change of all masses.
      joints: Those that show it.
    """
    factor = 1.0 + found.step
    return Finding(
        FindingKind.MASSES,
        joints,
        with_interval("mass", factor, found.reach),
        f"The masses of all bodies are {factor:.3g} times the model's "
        f"({_in_words(factor, found.reach)}), or all that drives them is {1.0 / factor:.3g} times "
        "as strong as in the model: gains of servos, or the unit of torques. No single mass "
        "explains as much. Geoms that are only drawn weigh as well unless their density is zero, "
        "and a body's density may be another's. Correct the model, and do this again.",
    )


def with_interval(name: str, value: float, half: float) -> dict[str, float]:
    """The figures of a size with its interval."""
    return {name: value, f"{name}_low": value - half, f"{name}_high": value + half}


def _in_words(value: float, half: float) -> str:
    return f"95 % interval {value - half:.3g} to {value + half:.3g}"


def told_hidden(bodies: Sequence[str]) -> str:
    """A note of masses that nothing shows; empty without any."""
    if not bodies:
        return ""
    return (
        f"this motion does not show whether the masses of {listed(list(map(repr, bodies)), 4)} are "
        "right: half as much again is no more than friction, armatures and delays make up for"
    )


def of_servos(factor: float, *, known: bool) -> str:
    """A clause of what in servos would explain a mass as well, of so many times the model's.

    Other gains would where the model's are taken as ``known``; free, they could not.
    """
    rivals = ["other gains of the servos"] if known else []
    if factor < 1.0:
        rivals.append("an integral part of theirs" if known else "an integral part of the servos")
    clause = f", and so would {' or '.join(rivals)}" if rivals else ""
    return f"{clause}, which bears weight" if factor < 1.0 else clause


def of_zeros(scores: Scores, labels: Sequence[str], most: float) -> tuple[str, str]:
    """A clause of commands' zeros that explain as much as a weight, and the label of one.

    Args:
      scores: Of the zeros.
      labels: Of their signals.
      most: The square that one of them may leave.
    """
    steps, gained = scores.gained()
    best = int(np.argmax(gained))
    if scores.left - gained[best] > most:
        return ", and so would zeros of several commands that are off", ""
    label, size = labels[best], steps[best] * scores.sizes[best]
    return f", and so would a command {label!r} whose zero is off by {size:.3g}", label
