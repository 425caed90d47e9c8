# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Models without geoms, which compile and run faster, for as long as nothing touches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import mujoco
import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]

CHECKED_STATES = 200  # per simulation
_AUTO = 2  # mjINERTIAFROMGEOM_AUTO: geoms count only where no inertia is given
_KEPT = ("nq", "nv", "nu", "na", "nbody", "nsensordata", "ntendon", "neq", "nsite")
_EQUAL = (
    "body_mass", "body_ipos", "body_iquat", "body_inertia", "body_pos", "body_quat", "jnt_pos",
    "jnt_axis", "dof_armature", "dof_damping", "dof_frictionloss", "dof_invweight0",
    "actuator_gainprm", "actuator_biasprm", "sensor_type", "sensor_objid",
)  # fmt: skip
_PLACES = ("body_pos", "body_quat", "jnt_pos", "jnt_axis", "qpos0")


class SlimModel:
    """Decides whether a spec's geoms may be left out, and goes on asking.

    Args:
      spec: The user's spec; not changed.
    """

    def __init__(self, spec: Any) -> None:
        self._spec = spec
        self._slim = _without_geoms(spec)
        self._full: Any = None
        if self._slim is not None and not self._moves_alike(self._slim):
            self._slim = None

    @property
    def spec(self) -> Any:
        """What to make models from."""
        return self._spec if self._slim is None else self._slim

    def touches(self, model: Any, states: Sequence[FloatArray], full: Any) -> bool:
        """Whether geoms that were left out would have touched; if so, the full spec is used.

        Args:
          model: The model without geoms that was simulated.
          states: Full-physics states of its simulations, (n, nstate) each.
          full: Makes the same model with geoms.
        """
        if self._slim is None:
            return False
        if self._full is None or not _same(self._full, model, _PLACES):
            self._full = full()
        data = mujoco.MjData(self._full)
        for run in states:
            for state in run[:: max(1, len(run) // CHECKED_STATES)]:
                data.qpos[:] = state[1 : 1 + self._full.nq]
                mujoco.mj_kinematics(self._full, data)
                mujoco.mj_collision(self._full, data)
                if data.ncon:
                    self._slim = self._full = None
                    return True
        return False

    def _moves_alike(self, slim: Any) -> bool:
        try:
            self._full, other = self._spec.copy().compile(), slim.copy().compile()
        except ValueError:
            return False
        sizes = all(getattr(self._full, name) == getattr(other, name) for name in _KEPT)
        return sizes and _same(self._full, other, _EQUAL)


def _same(a: Any, b: Any, names: Sequence[str]) -> bool:
    return all(np.array_equal(getattr(a, name), getattr(b, name)) for name in names)


def _without_geoms(spec: Any) -> Any:
    """A copy without the geoms of bodies whose inertia is given; ``None`` where there are none."""
    if spec.option.density or spec.option.viscosity or int(spec.compiler.inertiafromgeom) != _AUTO:
        return None
    slim = spec.copy()
    geoms = [g for g in slim.geoms if g.parent.name == "world" or g.parent.explicitinertial]
    if not geoms:
        return None
    for item in [*slim.pairs, *slim.excludes, *geoms]:
        slim.delete(item)
    used = {geom.meshname for geom in slim.geoms}
    for mesh in [mesh for mesh in slim.meshes if mesh.name not in used]:
        slim.delete(mesh)
    for item in [*slim.geoms, *slim.sites, *slim.tendons]:
        item.material = ""
    for item in [*slim.materials, *slim.textures]:
        slim.delete(item)
    return slim
