# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The next recording, by which the parameters that are still vague become known.

Each kind of parameter acts on a motion in its own way (Armstrong-Hélouvry, Dupont and Canudas de
Wit 1994 for friction; Swevers et al. 1997 for excitation), so that the kind of what is vague, or of
what cannot be told apart, says which motion is missing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import Enum
from pathlib import Path

from sysid_ros.engine.signals import in_metres
from sysid_ros.engine.uncertainty import ParameterEstimate
from sysid_ros.errors import listed
from sysid_ros.judgement import Outcome
from sysid_ros.report.svg import number, plural
from sysid_ros.report.table_rows import correlations

VAGUE = 0.2  # half an interval, as :func:`_width` has it, above which an estimate is called vague
ENTANGLED = 0.8  # correlation above which two parameters are worth telling apart
_NAMED = 4  # parameters named in one sentence


class Kind(Enum):
    """The ways in which a parameter acts on the motion; each value is the motion that shows it."""

    INERTIA = "quick reversals, since inertia acts on accelerations only"
    DAMPING = "long steady stretches at several speeds up to the highest allowed"
    DRY_FRICTION = "very slow motion with many reversals, where dry friction is most of the torque"
    WEIGHT = "slow sweeps over the whole range, in poses where gravity acts on different levers"
    LOAD_FRICTION = "the same motion under several loads, with power and without"
    DELAY = "steps of the command, far enough apart for the robot to settle"
    OTHER = "a motion in which it matters more"


_SHOWN_BY_TORQUE = {Kind.INERTIA, Kind.DAMPING, Kind.DRY_FRICTION, Kind.WEIGHT}
_BY_UNIT = {
    "kg m^2": Kind.INERTIA,
    "N m s/rad": Kind.DAMPING,
    "N s/m": Kind.DAMPING,
    "N m": Kind.DRY_FRICTION,
    "N": Kind.DRY_FRICTION,
    "kg": Kind.WEIGHT,
    "m": Kind.WEIGHT,
    "s": Kind.DELAY,
}

# The motion that tells parameters of two kinds apart.
_TELLING_APART = {
    frozenset({Kind.DAMPING, Kind.DRY_FRICTION}): (
        "the same joint once very slowly and once fast: dry friction does not grow with speed"
    ),
    frozenset({Kind.INERTIA, Kind.WEIGHT}): (
        "quick motion in poses with different distances from the joint to the moving mass: rotor "
        "and gear inertia does not depend on the pose"
    ),
    frozenset({Kind.WEIGHT}): (
        "poses in which gravity acts on the bodies one by one, or the same motion with a known "
        "payload"
    ),
    frozenset({Kind.WEIGHT, Kind.OTHER}): "the same motion once more with a known payload",
    frozenset({Kind.INERTIA, Kind.OTHER}): "the same motion once more with a known payload",
    frozenset({Kind.DELAY, Kind.DAMPING}): (
        "steps beside smooth motion: only a step shows when the robot begins to move"
    ),
}


def kind_of(parameter: ParameterEstimate) -> Kind:
    """Return the kind of a parameter, by its name where that tells, else by its unit."""
    if "load_friction" in parameter.name:
        return Kind.LOAD_FRICTION
    if parameter.name.endswith("_armature"):
        return Kind.INERTIA
    return _BY_UNIT.get(in_metres(parameter.unit), Kind.OTHER)


def next_experiment(outcome: Outcome) -> list[str]:
    """Sentences that say what to record next, the most useful first.

    Returns:
      At least one sentence.
    """
    said = []
    if outcome.sequences and outcome.validation is None:
        said.append(
            "Record one more motion, unlike those fitted, and hold it out: nothing confirms this "
            "fit yet."
        )
    if outcome.fit.unidentifiable:
        said.append(
            "Repeat one of the motions with a payload of known mass in the model, which ties down "
            "combinations that every other motion leaves open; or freeze what is open."
        )
    vague = _vague(outcome.fit.parameters)
    said += [_for_kind(kind, members) for kind, members in vague.items()]
    said += _designed(vague, outcome.provenance.get("experiment file", ""))
    said += _telling_apart(outcome)
    gaps = sum(topic.gaps for topic in outcome.quality)
    if gaps:
        said.append(
            f"Record again without the {plural(gaps, 'gap')} in the topics: what lies around a "
            "gap is not used."
        )
    if vague:
        said.append(
            "More of the same helps slowly: intervals shrink with the square root of the length."
        )
    return said or [
        f"Every interval is within {100 * VAGUE:.0f} % of its value. To put the model to a harder "
        "test, record a motion unlike all of these and give it to sysid_ros evaluate."
    ]


def _vague(parameters: Iterable[ParameterEstimate]) -> dict[Kind, list[ParameterEstimate]]:
    found: dict[Kind, list[ParameterEstimate]] = {}
    for parameter in parameters:
        if parameter.unidentifiable or _width(parameter) > VAGUE:
            found.setdefault(kind_of(parameter), []).append(parameter)
    return found


def _width(parameter: ParameterEstimate) -> float:
    """Half the interval over the value; of what may have either sign, over half its bounds' width.

    An offset that is known to be nothing is known well. Zero where nothing can be said.
    """
    interval = parameter.interval()
    if interval is None:
        return 0.0
    if parameter.lower < 0.0 < parameter.upper:
        return (interval[1] - interval[0]) / (parameter.upper - parameter.lower)
    return parameter.relative or 0.0


def _for_kind(kind: Kind, members: Sequence[ParameterEstimate]) -> str:
    widths = [(_width(parameter), parameter.name) for parameter in members]
    named = [
        f"{name} ({f'±{number(100 * width, 2)} %' if width else 'open'})"
        for width, name in sorted(widths, key=lambda one: one[0], reverse=True)
    ]
    return f"For {listed(named, _NAMED, last=' and ')}: {kind.value}."


def _designed(vague: Mapping[Kind, list[ParameterEstimate]], experiment: str) -> list[str]:
    """The command that designs a motion, where measured torque would show what is vague."""
    if not experiment or not _SHOWN_BY_TORQUE.intersection(vague):
        return []
    return [
        f"sysid_ros design {Path(experiment).name} --after RESULT, with the folder of this report "
        "as RESULT, makes that motion within the robot's limits, and says how narrow its intervals "
        "would be where torque is measured."
    ]


def _telling_apart(outcome: Outcome) -> list[str]:
    """One sentence per kind of entangled pair that a motion tells apart, strongest first."""
    said: dict[str, str] = {}
    for first, second, value in correlations(outcome.fit, strong=ENTANGLED).strong:
        kinds = frozenset(kind_of(outcome.fit[name]) for name in (first, second))
        advice = _TELLING_APART.get(kinds)
        if advice is not None and advice not in said:
            said[advice] = f"To tell {first} from {second} (correlation {value}): {advice}."
    return list(said.values())
