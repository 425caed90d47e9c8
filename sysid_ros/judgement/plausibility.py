# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Identified values that no robot of this kind is likely to have.

An interval says how well the data determines a number within the model. A value far from what the
robot's drawings and data sheets say means that the model absorbs something else in it: a torque
scale, a payload, a sensor in other units.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import mujoco
import numpy as np

from sysid_ros.engine.attributes import lookup
from sysid_ros.engine.estimation import FitResult
from sysid_ros.engine.parameters import AT_LOWER_BOUND, BESIDE_IMPLAUSIBLE, IMPLAUSIBLE, Target
from sysid_ros.engine.uncertainty import ParameterEstimate
from sysid_ros.errors import as_sentence, listed
from sysid_ros.judgement.outcome import AppliedParameter
from sysid_ros.judgement.physical_limits import Impossible


@dataclass(frozen=True)
class _Range:
    """Plausible values, from ``low`` to ``high`` times the initial one, or absolutely."""

    low: float
    high: float
    relative: bool
    reason: str


_DRAWING = "a drawing or a data sheet is rarely that far off"
_RANGES: Mapping[tuple[str, str], _Range] = {
    ("body", "mass"): _Range(0.5, 2.0, True, _DRAWING),
    ("signal", "gain"): _Range(0.5, 2.0, True, _DRAWING),
    ("actuator", "gear"): _Range(0.8, 1.25, True, _DRAWING),
    ("actuator", "motor_constant"): _Range(0.5, 2.0, True, _DRAWING),
    ("actuator", "resistance"): _Range(0.5, 2.0, True, _DRAWING),
    # Stamps of torque may be late, too: the delay is then negative.
    ("signal", "delay"): _Range(-0.05, 0.2, False, "a robot that late could hardly be controlled"),
}
# What is impossible of an element.
_RULED_OUT = {"joint": ("armature",), "body": ("mass", "inertia")}
_NEVER_NEGATIVE = {("joint", name) for name in ("frictionloss", "damping", "armature")}


def with_plausibility(
    result: FitResult, applied: Sequence[AppliedParameter], impossible: Sequence[Impossible] = ()
) -> tuple[FitResult, tuple[str, ...]]:
    """Flag implausible values, and say why they are.

    Args:
      result: The fit.
      applied: What its parameters are written into.
      impossible: What a robot of this size does not have, as :func:`impossible_values` found.

    Returns:
      The result with the flag :data:`IMPLAUSIBLE` where it applies and :data:`BESIDE_IMPLAUSIBLE`
      on what else is free of an element with an impossible value, and sentences about both. Values
      without a claim, at bounds or not determined, are said to be that already.
    """
    places = {each.name: each.target for each in applied}
    ranges = {name: _RANGES.get((at.element, at.attribute)) for name, at in places.items()}
    parameters, said = [], []
    for parameter in result.parameters:
        sentence = _judged(parameter, ranges.get(parameter.name))
        if sentence:
            parameter = replace(parameter, flags=(*parameter.flags, IMPLAUSIBLE))
            said.append(sentence)
        parameters.append(parameter)
    result = replace(result, parameters=tuple(parameters))
    return _beside_impossible(result, places, impossible, said)


def _beside_impossible(
    result: FitResult,
    places: Mapping[str, Target],
    impossible: Sequence[Impossible],
    said: Sequence[str],
) -> tuple[FitResult, tuple[str, ...]]:
    """Flag impossible values and all that is free beside them, which trades places with them."""
    flags: dict[str, str] = {}
    sentences = []
    for one in impossible:
        own = {p.name: flag for p in result.parameters if (flag := _touched(places, p.name, one))}
        flags = {
            **flags,
            **own,
            **{name: flag for name, flag in flags.items() if flag == IMPLAUSIBLE},
        }
        if own:
            sentences.append(
                f"{as_sentence(one.clause)}. Something that the model lacks is "
                f"absorbed in it: no interval of {listed(own, None, last=' and ')} is to be "
                "relied on."
            )
    parameters = tuple(
        replace(p, flags=tuple(dict.fromkeys((*p.flags, flags[p.name])))) if p.name in flags else p
        for p in result.parameters
    )
    return replace(result, parameters=parameters), (*said, *sentences)


def _touched(places: Mapping[str, Target], name: str, one: Impossible) -> str:
    """The flag that an impossible value puts on a parameter; empty for none."""
    at = places.get(name) or places.get(name.rpartition("[")[0])  # one of several values
    if at is None:
        return ""
    if at.element == one.element and one.name in at.names:
        return IMPLAUSIBLE if at.attribute in _RULED_OUT[one.element] else BESIDE_IMPLAUSIBLE
    drives = at.element == "actuator" and not set(one.actuators).isdisjoint(at.names)
    return BESIDE_IMPLAUSIBLE if drives else ""


def absent_effects(
    result: FitResult, applied: Sequence[AppliedParameter], spec: mujoco.MjSpec
) -> tuple[str, ...]:
    """Names of dissipation and rotor inertia that end at zero, where the model has none either.

    A search may begin above zero, and friction that a joint does not have is no fault.
    """
    places = {each.name: each.target for each in applied}
    found = []
    for parameter in result.parameters:
        at = places.get(parameter.name)
        ends = parameter.lower == 0.0 and AT_LOWER_BOUND in parameter.flags
        if ends and at is not None and (at.element, at.attribute) in _NEVER_NEGATIVE:
            attribute = lookup(at.element, at.attribute)
            if not any(np.any(attribute.read(spec, name)) for name in at.names):
                found.append(parameter.name)
    return tuple(found)


def _judged(parameter: ParameterEstimate, plausible: _Range | None) -> str:
    """Return the reason why a value is implausible; empty where it is not."""
    if plausible is None or parameter.vague:
        return ""
    scale = parameter.initial if plausible.relative else 1.0
    if scale == 0.0 or plausible.low <= parameter.value / scale <= plausible.high:
        return ""
    shown = (
        f"{parameter.value / scale:.3g} times its initial value"
        if plausible.relative
        else f"{parameter.value:.3g} {parameter.unit}"
    )
    return (
        f"{parameter.name} is {shown}: {plausible.reason}, so that something the model lacks may "
        "be absorbed in it."
    )
