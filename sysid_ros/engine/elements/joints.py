# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The bodies that a body hangs on, and the joints that move it."""

from __future__ import annotations

from collections.abc import Iterator

import mujoco


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
