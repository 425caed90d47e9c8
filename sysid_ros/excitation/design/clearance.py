# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Distances between a robot's own geoms, and to what stands around it, along a motion."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import mujoco
import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.elements import bodies_above, places_in_qpos, places_in_qvel
from sysid_ros.excitation import ExcitationError

_PLANE = int(mujoco.mjtGeom.mjGEOM_PLANE)


@dataclass(frozen=True)
class NearPairs:
    """Pairs of geoms that are near at some instants; r rows in all."""

    sample: np.ndarray  # (r,) index of the instant
    pair: np.ndarray  # (r,) index of the pair
    distance: FloatArray  # (r,) m, negative where they overlap
    slope: FloatArray  # (r, n) change per rad or m of each joint


@dataclass(frozen=True)
class Nearest:
    """The nearest pair of geoms at m instants."""

    pair: np.ndarray  # (m,) index of the pair
    distance: FloatArray  # (m,) m; NaN where none is near


class Clearance:
    """Signed distances of pairs of geoms that MuJoCo would let collide.

    Attributes:
      pairs: Ids of geoms.
    """

    def __init__(
        self, model: mujoco.MjModel, joints: tuple[str, ...], home: FloatArray, least: float
    ) -> None:
        """Find the pairs.

        Args:
          model: Compiled; obstacles are geoms of its world body.
          joints: n joints that move.
          home: Posture of the whole model, (nq,).
          least: m, the clearance that is asked for.

        Raises:
          ExcitationError: Something is too near at ``home`` already.
        """
        self._model = model
        self._data = mujoco.MjData(model)
        self._home = home
        self._qpos = places_in_qpos(model, joints)
        self._dofs = places_in_qvel(model, joints)
        self.least = least
        self.pairs = [pair for pair in _colliding(model) if self._moves(pair)]
        self._refuse_overlaps()

    def near(self, positions: FloatArray, within: float) -> NearPairs:
        """Look for pairs nearer than ``least + within`` [m] at positions of the joints, (m, n)."""
        found: list[tuple[int, int, float, FloatArray]] = []
        reach = self.least + within
        segment = np.zeros(6)
        for sample, position in enumerate(positions):
            self._pose(position)
            for pair in self._candidates(reach):
                one, other = self.pairs[pair]
                distance = mujoco.mj_geomDistance(
                    self._model, self._data, one, other, reach, segment
                )
                if distance < reach:
                    found.append((sample, pair, distance, self._slope(pair, distance, segment)))
        if not found:
            empty = np.zeros(0, dtype=np.intp)
            return NearPairs(empty, empty, np.zeros(0), np.zeros((0, len(self._dofs))))
        samples, pairs, distances, slopes = zip(*found, strict=True)
        return NearPairs(np.array(samples), np.array(pairs), np.array(distances), np.array(slopes))

    def nearest(self, positions: FloatArray, within: float) -> Nearest:
        """The nearest pair at each of m postures (m, n), where it is nearer than ``within`` m."""
        near = self.near(positions, max(within - self.least, 0.0))
        distance, pair = np.full(len(positions), np.nan), np.zeros(len(positions), dtype=np.intp)
        for row in np.argsort(-near.distance):  # the nearest comes last
            distance[near.sample[row]] = near.distance[row]
            pair[near.sample[row]] = near.pair[row]
        return Nearest(pair, distance)

    def describe(self, pair: int) -> str:
        """Both geoms of a pair and their bodies, in words."""
        return " and ".join(_geom(self._model, geom) for geom in self.pairs[pair])

    def _pose(self, position: FloatArray) -> None:
        self._data.qpos[:] = self._home
        self._data.qpos[self._qpos] = position
        mujoco.mj_kinematics(self._model, self._data)
        mujoco.mj_comPos(self._model, self._data)

    def _candidates(self, reach: float) -> list[int]:
        """Pairs whose bounding spheres are within ``reach`` of each other."""
        if not self.pairs:
            return []
        one, other = np.array(self.pairs).T
        radius, place = np.asarray(self._model.geom_rbound), np.asarray(self._data.geom_xpos)
        apart = np.linalg.norm(place[one] - place[other], axis=1) - radius[one] - radius[other]
        for geom, partner in ((one, other), (other, one)):
            flat = np.asarray(self._model.geom_type)[geom] == _PLANE
            normal = np.asarray(self._data.geom_xmat).reshape(-1, 3, 3)[geom, :, 2]
            height = np.einsum("ri,ri->r", normal, place[partner] - place[geom]) - radius[partner]
            apart = np.where(flat, height, apart)
        return [int(pair) for pair in np.flatnonzero(apart < reach)]

    def _slope(self, pair: int, distance: float, segment: FloatArray) -> FloatArray:
        """Change of a distance: the relative motion of the nearest points along their line."""
        away = segment[3:] - segment[:3]
        length = np.linalg.norm(away)
        if length == 0.0:
            return np.zeros(len(self._dofs))
        jacobians = []
        for geom, point in zip(self.pairs[pair], (segment[:3], segment[3:]), strict=True):
            jacobian: FloatArray = np.zeros((3, self._model.nv))
            body = int(self._model.geom_bodyid[geom])
            mujoco.mj_jac(self._model, self._data, jacobian, None, point, body)
            jacobians.append(jacobian[:, self._dofs])
        slope: FloatArray = (away / length * np.sign(distance)) @ (jacobians[1] - jacobians[0])
        return slope

    def _moves(self, pair: tuple[int, int]) -> bool:
        """True if some joint changes the place of one geom relative to the other."""
        moving = [
            {int(dof) for dof in self._dofs if _carries(self._model, int(dof), geom)}
            for geom in pair
        ]
        return moving[0] != moving[1]

    def _refuse_overlaps(self) -> None:
        near = self.near(self._home[self._qpos][None], 0.0)
        if near.distance.size:
            worst = int(np.argmin(near.distance))
            raise ExcitationError(
                f"{self.describe(near.pair[worst])} are {near.distance[worst] * 1e3:.1f} mm apart "
                f"before anything moves, where {self.least * 1e3:g} mm are asked for: start from "
                "another posture, ask for less clearance, or exclude this pair in the model "
                "(<contact><exclude>) if it cannot touch"
            )


def _colliding(model: mujoco.MjModel) -> list[tuple[int, int]]:
    """Pairs of geoms that pass MuJoCo's filters ("Collision detection"), and those it is told."""
    excluded = {int(signature) for signature in model.exclude_signature}
    weld, parent = np.asarray(model.body_weldid), np.asarray(model.body_parentid)
    filtered = not int(model.opt.disableflags) & int(mujoco.mjtDisableBit.mjDSBL_FILTERPARENT)
    found = []
    for one, other in itertools.combinations(range(model.ngeom), 2):
        bodies = int(model.geom_bodyid[one]), int(model.geom_bodyid[other])
        first, second = int(weld[bodies[0]]), int(weld[bodies[1]])
        if first == second or (min(bodies) << 16) + max(bodies) in excluded:
            continue
        related = int(weld[parent[first]]) == second or int(weld[parent[second]]) == first
        # MuJoCo lets a fixed base collide with its first link; the joint between them does not.
        if filtered and related and all(bodies):
            continue
        if (int(model.geom_contype[one]) & int(model.geom_conaffinity[other])) or (
            int(model.geom_contype[other]) & int(model.geom_conaffinity[one])
        ):
            found.append((one, other))
    pairs = zip(model.pair_geom1.tolist(), model.pair_geom2.tolist(), strict=True)
    return sorted({*found, *((min(pair), max(pair)) for pair in pairs)})


def _carries(model: mujoco.MjModel, dof: int, geom: int) -> bool:
    return int(model.dof_bodyid[dof]) in bodies_above(model, int(model.geom_bodyid[geom]))


def _geom(model: mujoco.MjModel, geom: int) -> str:
    body = model.body(int(model.geom_bodyid[geom])).name or "world"
    return f"{model.geom(geom).name or f'geom {geom}'} (of {body})"
