# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A load that a robot takes up or puts down in or between recordings, told by its motion."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from sysid_ros.diagnosis.evidence import Finding, of_load
from sysid_ros.diagnosis.fits import MOST_WINDOWS, WindowScores
from sysid_ros.engine.parameters import AttributeModifier, Parameter, ParameterDict
from sysid_ros.engine.signals import ModelSequences
from sysid_ros.engine.uncertainty import ChangedLoad, change_in_time

_FEWEST = 4  # windows of a recording, with the load and without
_OFF = 0.1  # of a body's mass, by which it is another, interval included


def may_show_loads(sequences: ModelSequences) -> bool:
    """Return whether a recording is so long that enough of the windows that are fitted are its.

    Beside others, which may be without the load, half as many are enough.
    """
    lengths = [float(one.times[-1] - one.times[0]) for one in sequences.sensordata]
    least = 2 * _FEWEST if len(lengths) == 1 else _FEWEST
    return MOST_WINDOWS * max(lengths) > (least - 1) * sum(lengths)  # but for rounding


def changed_load(
    windows: WindowScores | None,
    usual: ParameterDict,
    masses: Mapping[str, Parameter],
    beside: Sequence[str] = (),
) -> list[Finding]:
    """Tell of a load, if one explains what windows leave.

    Args:
      windows: Fitted and linearized in masses too; of none nothing is told.
      usual: What a fit finds, in which may be masses.
      masses: Others, by the name of the body.
      beside: Names of what else may be other than the model's throughout: under a mount that leans,
        another posture looks like a load.
    """
    if windows is None:
        return []
    place = {name: k for k, name in enumerate(windows.names)}
    bodies = {place[one.name]: body for body, one in masses.items()}
    bodies |= {place[one.name]: body for one in usual.free() if (body := body_of(one))}
    own = np.array([*bodies], dtype=np.intp)
    free = {place[name] for name in usual.scalar_names() if name not in windows.held}
    numbers: dict[str, list[int]] = {}
    for k, (recording, _) in enumerate(windows.places):
        numbers.setdefault(recording, []).append(k)
    free |= {place[name] for name in beside if name in place}
    inner = np.array(sorted(free | {*bodies}), dtype=np.intp)
    found = change_in_time(windows.by_window, inner, own, numbers, _FEWEST)
    if found is None or not found.is_sure(_OFF):
        return []
    column = int(own[found.suspect])
    unit = -float(windows.scale[column])  # what is left is the model's less the robot's
    begins = [start for _, start in windows.places]
    return [of_load(ChangedLoad.of(found, "motion", bodies[column], unit, begins.__getitem__))]


def body_of(parameter: Parameter) -> str:
    """The body whose mass, alone, a parameter is; empty for any other."""
    place = parameter.modifier
    if not isinstance(place, AttributeModifier) or len(place.names) != 1:
        return ""
    return place.names[0] if (place.element, place.attribute) == ("body", "mass") else ""
