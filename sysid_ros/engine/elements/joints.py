# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Joints of a compiled model: their places in a state, and what they move."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import mujoco
import numpy as np

from sysid_ros.arrays import IndexArray


def bodies_above(model: mujoco.MjModel, body: int) -> Iterator[int]:
    """Yield a body and those that it hangs on, out to the last before the world."""
    while body:
        yield body
        body = int(model.body_parentid[body])


def joints_above(model: mujoco.MjModel, body: int) -> list[int]:
    """The joints that move a body, those of the nearest bodies first."""
    joints: list[int] = []
    for above in bodies_above(model, body):
        first = int(model.body_jntadr[above])
        joints += range(first, first + int(model.body_jntnum[above]))
    return joints


def places_in_qpos(model: mujoco.MjModel, joints: Iterable[str]) -> IndexArray:
    """Places of hinges and slides in ``qpos``, (n,), by name."""
    return np.array([int(model.joint(name).qposadr[0]) for name in joints], dtype=np.intp)


def places_in_qvel(model: mujoco.MjModel, joints: Iterable[str]) -> IndexArray:
    """Places of hinges and slides in ``qvel``, (n,), by name."""
    return np.array([int(model.joint(name).dofadr[0]) for name in joints], dtype=np.intp)
