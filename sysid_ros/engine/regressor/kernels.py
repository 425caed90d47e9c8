# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The compiled functions that Python calls, and their constants; numba takes half a second."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sysid_ros.engine import mechanics
from sysid_ros.engine.compiled import compiled_in, digest_of, keeping, soon_loaded
from sysid_ros.engine.regressor import filter_kernel, regressor_kernel
from sysid_ros.engine.regressor.regressor_kernel import MUJOCO_LAW, VELOCITY_LAW, new_room


def _kept_on_disk() -> tuple[Any, Any]:
    """The functions over a digest of all that they are made of: numba looks at their file alone."""
    rooms = (Path(str(room.__file__)).parent for room in (regressor_kernel, mechanics))
    digest = digest_of(*compiled_in(*rooms))

    def fill(  # type: ignore[no-untyped-def]
        tree, layout, friction, law, qpos, qvel, qacc, room, out
    ):
        """Write the regressor of n instants.

        Args:
          tree: Kinematics.
          layout: Columns.
          friction: Sign of dry friction.
          law: ``MUJOCO_LAW`` or ``VELOCITY_LAW``.
          qpos: (n, nq).
          qvel: (n, nv).
          qacc: (n, nv).
          room: Of the model, written.
          out: (n, nv, p), overwritten.
        """
        len(digest)
        regressor_kernel.begin(tree, room)
        for k in range(len(qpos)):
            q, v, a = qpos[k], qvel[k], qacc[k]
            regressor_kernel.sample(tree, layout, friction, law, q, v, a, room, out[k])

    def torques(  # type: ignore[no-untyped-def]
        tree, layout, friction, law, qpos, qvel, qacc, room, parts, rows, out
    ):
        """The torque of several sets of parameters, without keeping the regressor.

        Takes what :func:`fill` takes, parts (sets, p) and scratch (nv, p); writes (n, sets, nv).
        """
        len(digest)
        regressor_kernel.begin(tree, room)
        for k in range(len(qpos)):
            q, v, a = qpos[k], qvel[k], qacc[k]
            regressor_kernel.sample(tree, layout, friction, law, q, v, a, room, rows)
            for s in range(parts.shape[0]):
                for j in range(rows.shape[0]):
                    total = 0.0
                    for c in range(parts.shape[1]):
                        total += rows[j, c] * parts[s, c]
                    out[k, s, j] = total

    return keeping(fill), keeping(torques, fastmath={"reassoc"})


fill, torques = _kept_on_disk()
thin = soon_loaded(filter_kernel.thin)
weighted_windows = soon_loaded(filter_kernel.weighted_windows)

__all__ = ["MUJOCO_LAW", "VELOCITY_LAW", "fill", "new_room", "thin", "torques", "weighted_windows"]
