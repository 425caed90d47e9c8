# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Contacts of the model in the recorded postures: lasting overlaps, touches that come and go."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import mujoco
import numpy as np

from sysid_ros.engine.least_squares import loss_named
from sysid_ros.engine.parameters import ParameterDict
from sysid_ros.engine.problem import WindowedProblem
from sysid_ros.engine.signals import ModelSequences
from sysid_ros.engine.simulation import RolloutPool
from sysid_ros.engine.windows import WindowGroup, model_group

_POSTURES = 40
_SHORTEST = 0.2  # s of a window
_TRIED = 6  # windows that are simulated
_VELOCITY_FILTER = 30.0  # Hz
_DEEP = 1e-3  # m; geoms that overlap by less only rest on each other
_ALWAYS = 0.98  # of the postures
_FLOORS = (int(mujoco.mjtGeom.mjGEOM_PLANE), int(mujoco.mjtGeom.mjGEOM_HFIELD))
_POSE = (int(mujoco.mjtSensor.mjSENS_FRAMEPOS), int(mujoco.mjtSensor.mjSENS_FRAMEQUAT))


@dataclass(frozen=True)
class Overlap:
    """Two bodies that overlap in every recorded posture.

    Attributes:
      bodies: Their names.
      geoms: The geoms by which they do, as they are called in the model or by their place.
      depth: Median depth, m.
    """

    bodies: tuple[str, str]
    geoms: tuple[str, str]
    depth: float


@dataclass(frozen=True)
class Contacts:
    """Contacts in the recorded postures.

    Attributes:
      overlaps: Bodies that overlap always.
      touching: Pairs of bodies that touch at times, with the share of the postures.
      diverged: How many windows a simulation with the model's own values cannot follow to their
        end, and how many were tried.
    """

    overlaps: tuple[Overlap, ...] = ()
    touching: dict[tuple[str, str], float] = field(default_factory=dict)
    diverged: tuple[int, int] = (0, 0)

    @property
    def come_and_go(self) -> bool:
        """True if something touches in some postures only."""
        return any(share < _ALWAYS for share in self.touching.values())


def contacts(groups: Sequence[ModelSequences]) -> Contacts:
    """Look for contacts in recorded postures, and simulate a few windows from their starts.

    Args:
      groups: Sequences by model; those of the model that most were recorded with count.
    """
    group = max(groups, key=lambda one: len(one.sequence_name))
    durations = [float(part.times[-1] - part.times[0]) for part in group.sensordata]
    windows = model_group(
        group,
        ParameterDict(),
        window_length=max(_SHORTEST, sum(durations) / _POSTURES),
        estimate_starts=False,
        velocity_filter=_VELOCITY_FILTER,
        gaps={},
    )
    model = windows.builder.build(np.empty(0)).model
    return Contacts(*_touches(model, windows), _diverged(windows))


def _touches(
    model: mujoco.MjModel, windows: WindowGroup
) -> tuple[tuple[Overlap, ...], dict[tuple[str, str], float]]:
    """Overlaps, and shares of postures by pair of bodies."""
    if model.opt.disableflags & int(mujoco.mjtDisableBit.mjDSBL_CONTACT):
        return (), {}
    candidate = windows.builder.build(np.empty(0))
    data = mujoco.MjData(model)
    known = _base_is_known(model, windows)
    depths: dict[tuple[int, int], list[float]] = {}
    starts = [batch.starts(candidate, np.zeros_like(batch.spread)) for batch in windows.batches]
    for start in np.concatenate(starts):
        data.qpos[:] = start[1 : 1 + model.nq]
        mujoco.mj_fwdPosition(model, data)
        for pair, depth in _deepest(model, data, known).items():
            depths.setdefault(pair, []).append(depth)
    count = len(windows.windows)
    overlaps: dict[tuple[str, str], Overlap] = {}
    touching: dict[tuple[str, str], float] = {}
    for pair, found in depths.items():
        bodies = _bodies(model, pair)
        touching[bodies] = max(touching.get(bodies, 0.0), len(found) / count)
        floor = any(int(model.geom_type[geom]) in _FLOORS for geom in pair)
        depth = float(np.median(found))
        deepest = overlaps[bodies].depth if bodies in overlaps else _DEEP
        if not floor and len(found) >= _ALWAYS * count and depth > deepest:
            overlaps[bodies] = Overlap(bodies, _geoms(model, pair), depth)
    lasting = {bodies: share for bodies, share in touching.items() if bodies not in overlaps}
    return tuple(overlaps.values()), lasting


def _deepest(
    model: mujoco.MjModel, data: mujoco.MjData, base_is_known: bool
) -> dict[tuple[int, int], float]:
    """Depth [m] of every pair of geoms that touch."""
    found: dict[tuple[int, int], float] = {}
    for contact in data.contact:
        pair = (int(contact.geom[0]), int(contact.geom[1]))
        if min(pair) < 0 or contact.dist > 0.0 or contact.exclude:
            continue
        fixed = any(model.body_weldid[model.geom_bodyid[geom]] == 0 for geom in pair)
        if base_is_known or not fixed:
            found[pair] = max(found.get(pair, 0.0), -float(contact.dist))
    return found


def _base_is_known(model: mujoco.MjModel, windows: WindowGroup) -> bool:
    """Tell whether the pose of every free body is measured, or there is none."""
    free = np.count_nonzero(model.jnt_type == int(mujoco.mjtJoint.mjJNT_FREE))
    sensors = {name for batch in windows.batches for name in batch.start_sensors}
    poses = [name for name in sensors if int(model.sensor(name).type[0]) in _POSE]
    return bool(len(poses) >= 2 * free)


def _bodies(model: mujoco.MjModel, pair: tuple[int, int]) -> tuple[str, str]:
    one, other = (str(model.body(int(model.geom_bodyid[geom])).name) for geom in sorted(pair))
    return one, other


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


def _diverged(windows: WindowGroup) -> tuple[int, int]:
    """Count windows that a simulation does not follow to the end, and those it tried."""
    places = np.linspace(0, len(windows.windows) - 1, _TRIED).round().astype(int)
    some = windows.select(np.unique(places).tolist())
    noise = {signal.name: 1.0 for window in some.windows for signal in window.sequence.signals}
    with RolloutPool(None) as rollouts:
        problem = WindowedProblem(
            [some], ParameterDict(), rollouts, loss=loss_named("linear"), noise=noise,
            engine="reference",
        )  # fmt: skip
        residuals = problem.residuals(problem.initial_point())
    lost = sum(not np.all(np.isfinite(residual)) for residual in residuals)
    return lost, len(residuals)
