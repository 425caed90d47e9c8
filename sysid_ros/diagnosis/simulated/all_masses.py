# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Masses that are all off by one factor, as where geoms that are only drawn weigh as well.

Where nothing measures a force, forces and masses that grow together move a robot alike: a servo's
gain, or the unit of a motor's torque, is the other side of the same finding.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from sysid_ros.diagnosis.fits import Linearized, OneMass, WindowScores, one_mass
from sysid_ros.engine.parameters import Parameter

_ALIKE = 1.2  # ratio of powers up to which one mass alone leaves as little
_LESS = 0.5  # of what is left, once all masses are others
_LEAST = 0.1  # times the model's: what is lighter is borne by something
_TURNS = 4  # times that windows are linearized on the way there
_NEAR = 0.1  # of a factor, a step that is the last
_ALL = "all masses"


def common_factor(
    windows: WindowScores, masses: Mapping[str, Parameter], beside: Sequence[str]
) -> OneMass | None:
    """The change of all masses together that explains clearly more than that of any one.

    Args:
      windows: Linearized in the masses.
      masses: The masses that a fit does not find, by their bodies' names.
      beside: Names of the columns of what it finds.
    """
    names = [one.name for one in masses.values()]
    if len(names) < 2:
        return None
    values = np.array([one.value[0] for one in masses.values()])
    found = one_mass(windows.joined(_ALL, names, values).scores([_ALL], beside))
    single = windows.scores(names, beside)
    alone = single.left - float(single.gained(lowest=-1.0)[1].max())
    return None if found is None or _ALIKE * found.left > alone else found


def all_masses_off(
    windows: WindowScores,
    masses: Mapping[str, Parameter],
    beside: Sequence[str],
    linearized: Linearized,
) -> OneMass | None:
    """The same from a linearization with all masses there; ``None`` where that explains little.

    Takes what :func:`common_factor` takes, and what linearizes windows with some of these masses
    elsewhere, ``begun`` from others.
    """
    near, found = None, common_factor(windows, masses, beside)
    factor = 1.0 if found is None else 1.0 + found.step
    for _ in range(_TURNS):
        if found is None or factor < _LEAST:
            return None
        moved = [one.copy() for one in masses.values()]
        for one in moved:
            one.update_from_vector(np.clip(factor * one.nominal, *one.get_bounds()))
        there = linearized(*moved, patient=windows.patient, begun=windows)
        if there is None or there.squares > _LESS * windows.squares:
            factor = math.sqrt(factor)  # beside what is held at a bound a step goes too far
            continue
        values = np.array([one.value[0] for one in moved])
        joined = there.joined(_ALL, [one.name for one in moved], values)
        near = replace(found, step=factor - 1.0).refined(joined.scores([_ALL], beside))
        if near is None or abs(1.0 + near.step - factor) < _NEAR * factor:
            break
        factor = 1.0 + near.step
    return near
