# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The recorded postures against the model: overlaps, touches, steps that swing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import mujoco
import numpy as np

from sysid_ros.dataset import passing
from sysid_ros.diagnosis.evidence import Finding, FindingKind, Recorded
from sysid_ros.engine.elements import body_label, without_visuals
from sysid_ros.engine.least_squares import loss_named
from sysid_ros.engine.parameters import ParameterDict
from sysid_ros.engine.problem import WindowedProblem
from sysid_ros.engine.signals import ModelSequences
from sysid_ros.engine.simulation import RolloutPool, step_oscillation
from sysid_ros.engine.windows import Pair, Touches, drawn_overlaps, model_group, shares, touches

_POSTURES = 400  # that are looked at
_WINDOWS = 40
_SHORTEST = 0.2  # s of a window
_LONGEST = 0.4  # s of one in which bodies touch, so that steps are dear, too
_TRIED = 6  # windows that are simulated
_VELOCITY_FILTER = 30.0  # Hz
_DEEP = 1e-3  # m; geoms that overlap by less only rest on each other
_ALWAYS = 0.98  # of the postures
_NAMED = 6  # pairs of bodies in a sentence
_MOMENTS = (0.1, 0.3, 0.5, 0.7, 0.9)  # of a recording, at which a step is tried
_FLOORS = (int(mujoco.mjtGeom.mjGEOM_PLANE), int(mujoco.mjtGeom.mjGEOM_HFIELD))


@dataclass(frozen=True)
class Overlap:
    """Two bodies that overlap in every recorded posture."""

    bodies: tuple[str, str]  # their names
    # the geoms by which they do, as they are called in the model or by their place
    geoms: tuple[str, str]
    depth: float  # median depth, m


@dataclass(frozen=True)
class Contacts:
    """Contacts in the recorded postures."""

    overlaps: tuple[Overlap, ...] = ()  # bodies that overlap always
    # pairs of bodies that touch at times, with the share of the postures
    touching: dict[tuple[str, str], float] = field(default_factory=dict)
    # pairs that overlap, always or at times, deeper than bodies that are there can, with the depth,
    # m
    drawn: dict[tuple[str, str], float] = field(default_factory=dict)
    drawn_bodies: tuple[Pair, ...] = ()  # the numbers of the bodies of these

    @property
    def rests(self) -> bool:
        """True if bodies overlap always, less deeply than what is drawn too large."""
        return any(one.bodies not in self.drawn for one in self.overlaps)

    @property
    def come_and_go(self) -> bool:
        """True if something touches in some postures only."""
        return any(share < _ALWAYS for share in self.touching.values())

    def window(self, length: float | None) -> float | None:
        """A window's length [s], no longer than it pays: what begins a little off touches later."""
        return min(length or _LONGEST, _LONGEST) if self.touching else length


def contacts(groups: Sequence[ModelSequences]) -> Contacts:
    """Look for contacts in recorded postures.

    Args:
      groups: Sequences by model; those of the model that most were recorded with count.
    """
    group = max(groups, key=len)
    count = len(group)
    model = group.gt_model
    seen = [touches(model, group, k, most=max(2, _POSTURES // count)) for k in range(count)]
    overlaps = _overlaps(model, seen)
    names = {one.bodies for one in overlaps}
    touching = {_names(model, pair): share for pair, share in shares(seen).items()}
    deep = drawn_overlaps(model, seen)
    drawn = {_names(model, pair): depth for pair, depth in deep.items()}
    touching = {b: share for b, share in touching.items() if b not in names and b not in drawn}
    return Contacts(overlaps, touching, drawn, tuple(deep))


def apart(groups: Sequence[ModelSequences], seen: Contacts) -> ModelSequences:
    """The sequences whose contacts were looked for, in which none of the drawn ones pushes.

    What other mistakes do is seen as if that one were repaired, as a fit may leave it out.
    """
    group = max(groups, key=len)
    if not seen.drawn_bodies:
        return group
    return group.replaced(spec=passing(group.spec, group.gt_model, seen.drawn_bodies))


def without_geoms(group: ModelSequences) -> ModelSequences:
    """Sequences in which nothing touches, without the hundred thousand corners of meshes."""
    disabled = int(mujoco.mjtDisableBit.mjDSBL_CONTACT)
    return group.replaced(spec=without_visuals(group.spec, disabled))


def _overlaps(model: mujoco.MjModel, seen: Sequence[Touches]) -> tuple[Overlap, ...]:
    """The pairs of bodies that overlap in every posture, each with its deepest geoms."""
    count = sum(len(one.times) for one in seen)
    depths: dict[Pair, list[float]] = {}
    bodies_of: dict[Pair, Pair] = {}
    for one in seen:
        bodies_of.update(one.bodies)
        for found in one.depths:
            for geoms, depth in found.items():
                depths.setdefault(geoms, []).append(depth)
    overlaps: dict[tuple[str, str], Overlap] = {}
    for geoms, values in depths.items():
        bodies = _names(model, bodies_of[geoms])
        floor = any(int(model.geom_type[geom]) in _FLOORS for geom in geoms)
        depth = float(np.median(values))
        deepest = overlaps[bodies].depth if bodies in overlaps else _DEEP
        if not floor and len(values) >= _ALWAYS * count and depth > deepest:
            overlaps[bodies] = Overlap(bodies, _geoms(model, geoms), depth)
    return tuple(overlaps.values())


def _names(model: mujoco.MjModel, bodies: Pair) -> tuple[str, str]:
    return body_label(model, bodies[0]), body_label(model, bodies[1])


def _geoms(model: mujoco.MjModel, pair: tuple[int, int]) -> tuple[str, str]:
    """Names of geoms; of one without a name its shape and place in its body."""
    found = []
    for geom in sorted(pair):
        name = str(model.geom(geom).name)
        if not name:
            body = int(model.geom_bodyid[geom])
            shape = mujoco.mjtGeom(int(model.geom_type[geom])).name.removeprefix("mjGEOM_").lower()
            name = f"{shape} number {geom - int(model.body_geomadr[body]) + 1} of its body"
        else:
            name = repr(name)
        found.append(name)
    return found[0], found[1]


def runaways(groups: Sequence[ModelSequences], parameters: ParameterDict) -> tuple[int, int]:
    """Simulate a few windows of the recordings from their starts.

    Args:
      groups: As those of :func:`contacts`.
      parameters: What a fit would start from.

    Returns:
      How many a simulation cannot follow to their end, and how many were tried.
    """
    group = max(groups, key=len)
    durations = [float(part.times[-1] - part.times[0]) for part in group.sensordata]
    windows = model_group(
        group,
        parameters,
        window_length=max(_SHORTEST, sum(durations) / _WINDOWS),
        estimate_starts=False,
        velocity_filter=_VELOCITY_FILTER,
    )
    places = np.linspace(0, len(windows.windows) - 1, _TRIED).round().astype(int)
    some = windows.select(np.unique(places).tolist())
    noise = {signal.name: 1.0 for window in some.windows for signal in window.sequence.signals}
    with RolloutPool(None) as rollouts:
        problem = WindowedProblem(
            [some], parameters, rollouts, loss=loss_named("linear"), noise=noise,
            engine="reference",
        )  # fmt: skip
        residuals = problem.residuals(problem.initial_point())
    lost = sum(not np.all(np.isfinite(residual)) for residual in residuals)
    return lost, len(residuals)


def contact_findings(seen: Contacts) -> list[Finding]:
    """Findings of lasting overlaps in the recorded postures."""
    return [_overlapping(seen.overlaps)] if seen.overlaps else []


def _overlapping(overlaps: tuple[Overlap, ...]) -> Finding:
    pairs = [
        f"{one.bodies[0]!r} ({one.geoms[0]}) and {one.bodies[1]!r} ({one.geoms[1]}) by "
        f"{1000.0 * one.depth:.2g} mm"
        for one in overlaps[:_NAMED]
    ]
    more = f" and {len(overlaps) - _NAMED} more pairs" if len(overlaps) > _NAMED else ""
    excludes = "".join(
        f'<exclude body1="{one.bodies[0]}" body2="{one.bodies[1]}"/>' for one in overlaps
    )
    return Finding(
        FindingKind.OVERLAP,
        (),
        {"pairs": float(len(overlaps)), "depth": max(one.depth for one in overlaps)},
        "Bodies of the model overlap in every recorded posture, and contacts push them apart for "
        f"ever: {'; '.join(pairs)}{more}. MuJoCo leaves out contacts between a body and its "
        "parent, but not where the parent stands still. Exclude the pairs in the model, "
        f"<contact>{excludes}</contact>, or switch contacts off: "
        '<option><flag contact="disable"/></option>.',
    )


def running_away(lost: int, tried: int, seen: Contacts) -> list[Finding]:
    """Findings of windows that no simulation gets through, if there are any."""
    if not lost:
        return []
    cause = (
        "The overlapping bodies may be the reason."
        if seen.overlaps
        else "A time step too long for stiff servos or light bodies, a wrong unit of a command or "
        "wrong inertias may be the reason."
    )
    return [
        Finding(
            FindingKind.RUNAWAY,
            (),
            {"windows": float(lost), "tried": float(tried)},
            "With the values that a fit starts from, the simulation flies apart in "
            f"{lost} of {tried} stretches of the recordings, from the recorded posture. {cause}",
        )
    ]


def swinging_steps(recorded: Recorded) -> list[Finding]:
    """Find a time step that the model's servos swing with, whatever its friction and delays.

    Args:
      recorded: The recordings, repaired as far as mistakes are known.
    """
    model = recorded.model
    postures = np.tile(np.array(model.qpos0), (len(_MOMENTS), 1))
    for joint, label in recorded.positions.items():
        values = recorded.pooled(label)[0].values
        places = np.multiply(_MOMENTS, len(values)).astype(int)
        postures[:, int(model.jnt_qposadr[joint])] = values[places]
    seen = step_oscillation(model, postures) if model.nu else None
    if seen is None or seen.factor >= -1.0:
        return []
    name, step = recorded.joint_name(int(model.dof_jntid[seen.dof])), float(model.opt.timestep)
    shorter = step / (1.0 - seen.factor)
    remedy = (
        '<option integrator="implicitfast"/> in the model cures it.'
        if seen.implicit > -1.0
        else f'<option timestep="{shorter:.2g}"/> in the model cures it.'
    )
    return [
        Finding(
            FindingKind.TIME_STEP,
            (name,),
            {"factor": seen.factor, "timestep": step},
            f"The model's time step of {1000.0 * step:.3g} ms is too long for {name!r}: each step "
            f"throws a deviation back {-seen.factor:.2g} times as far, so that its servo swings, "
            f"whatever friction and delays a fit tries. {remedy}",
        )
    ]
