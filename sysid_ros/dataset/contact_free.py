# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Leaving out the stretches in which bodies of the model touch at times."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import mujoco

from sysid_ros.engine.elements import body_label, without_visuals
from sysid_ros.engine.signals import ModelSequences
from sysid_ros.engine.windows import (
    RESTING,
    Pair,
    drawn_overlaps,
    shares,
    touches,
    touching_stretches,
)
from sysid_ros.errors import DataError
from sysid_ros.files import untaken
from sysid_ros.time_intervals import Intervals, length, union

_NAMED = 3  # pairs of bodies in a sentence


def without_contacts(
    whole: Sequence[ModelSequences],
) -> tuple[tuple[ModelSequences, ...], list[str]]:
    """Exclude what lies about the contacts in the recorded postures.

    Bodies that get far into each other are drawn so, as are a link and the base that it turns on,
    and do not collide. Others that touch in more than 30 % of the postures rest on each other;
    their contacts stay. Where there are none, models do not collide at all, which spares meshes of
    a hundred thousand corners in every simulation.

    Returns:
      The sequences, and a sentence with counts for each model where something is left out.

    Raises:
      DataError: Nothing of a sequence is left.
    """
    said, groups = [], []
    for group in whole:
        model = group.gt_model
        seen = [touches(model, group, k) for k in range(len(group.sequence_name))]
        often = shares(seen)
        drawn = drawn_overlaps(model, seen)
        real = {pair: share for pair, share in often.items() if pair not in drawn}
        pairs = frozenset(pair for pair, share in real.items() if share <= RESTING)
        if len(pairs) == len(real):
            spec = without_visuals(group.spec, int(mujoco.mjtDisableBit.mjDSBL_CONTACT))
        else:
            spec = passing(group.spec, model, drawn)
        left_out = [touching_stretches(one, pairs) for one in seen]
        for name, one, stretches in zip(group.sequence_name, seen, left_out, strict=True):
            if stretches and length(stretches) >= float(one.times[-1] - one.times[0]):
                raise DataError(
                    f"windows.contacts leaves out all of {name!r}, where {_named(model, pairs)} "
                    "touch; simulate contacts, or leave the recording out"
                )
        both = zip(group.gaps, left_out, strict=True)
        groups.append(group.replaced(spec=spec, gaps=[union([*a, *b]) for a, b in both]))
        if pairs:
            said.append(_sentence(model, {pair: often[pair] for pair in pairs}, left_out))
    return tuple(groups), said


def passing(spec: mujoco.MjSpec, model: mujoco.MjModel, pairs: Iterable[Pair]) -> mujoco.MjSpec:
    """A copy of a spec in which pairs of bodies, numbers of ``model``, pass through each other."""
    changed = spec.copy()
    names = [str(model.body(body).name) for body in range(model.nbody)]
    if len(changed.bodies) == model.nbody:  # none was fused with another
        for number, body in enumerate(changed.bodies):  # an exclusion needs names
            body.name = names[number] = names[number] or untaken(f"body_{number}", names)
    for first, other in pairs:
        changed.add_exclude(bodyname1=names[first], bodyname2=names[other])
    return changed


def _sentence(
    model: mujoco.MjModel, often: dict[Pair, float], left_out: Sequence[Intervals]
) -> str:
    count = sum(len(one) for one in left_out)
    seconds = sum(length(one) for one in left_out)
    return (
        f"{count} {'stretch' if count == 1 else 'stretches'} of the recordings, {seconds:.1f} s "
        f"together, {'is' if count == 1 else 'are'} left out, as bodies of the model touch there: "
        f"{_named(model, often)}."
    )


def _named(model: mujoco.MjModel, pairs: Iterable[Pair]) -> str:
    names = [f"{body_label(model, a)!r} and {body_label(model, b)!r}" for a, b in pairs]
    more = f" and {len(names) - _NAMED} more pairs" if len(names) > _NAMED else ""
    return "; ".join(names[:_NAMED]) + more
