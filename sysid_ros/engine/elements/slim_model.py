# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Models without the geoms that motion does not need, which compile and run faster."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import mujoco
import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.elements.body_inertia import (
    ALWAYS_INFERRED,
    compiler_of,
    read_inertia,
    write_inertias,
)
from sysid_ros.errors import ModelError

CHECKED_STATES = 200  # per simulation
_MANY = 1000  # geoms; MuJoCo looks through all elements for each that is deleted
_AUTO = 2  # mjINERTIAFROMGEOM_AUTO: geoms count only where no inertia is given
_SIZES = ("nq", "nv", "nu", "na", "nbody", "nsensordata", "ntendon", "neq", "nsite")
_BODIES = ("body_mass", "body_inertia", "body_ipos", "body_iquat", "dof_M0")
_ALL = (
    *_BODIES, "body_pos", "body_quat", "jnt_pos", "jnt_axis", "dof_armature", "dof_damping",
    "dof_frictionloss", "dof_invweight0", "actuator_gainprm", "actuator_biasprm", "sensor_type",
    "sensor_objid",
)  # fmt: skip
# Sensors that see geoms of any body.
_SEEING = frozenset(
    int(getattr(mujoco.mjtSensor, f"mjSENS_{name}"))
    for name in ("RANGEFINDER", "GEOMDIST", "GEOMNORMAL", "GEOMFROMTO", "PLUGIN", "USER")
)
_ROUND = tuple(getattr(mujoco.mjtGeom, f"mjGEOM_{name}")
               for name in ("SPHERE", "CAPSULE", "ELLIPSOID", "CYLINDER"))  # fmt: skip
_PLACES = ("body_pos", "body_quat", "jnt_pos", "jnt_axis", "qpos0")


def remove_visuals(in_spec: Any) -> Any:
    """Return a copy of a spec without what only rendering needs, for faster compilation.

    Geoms that never collide go unless something refers to them, with their meshes, materials and
    textures; bodies whose inertia is inferred from such geoms keep it.

    Raises:
      ModelError: The spec does not compile.
    """
    spec: mujoco.MjSpec = in_spec.copy()
    _compiled_undrawn(spec)
    return spec


def discard_visuals(spec: mujoco.MjSpec) -> None:
    """Have a spec compile without its visual geoms; no body's inertia changes.

    Under ``inertiafromgeom="true"`` MuJoCo refuses that. "auto" infers the same inertias where
    bodies that have geoms give none, and keeps them.
    """
    spec.compiler.discardvisual = True
    for body in spec.bodies:
        if int(compiler_of(spec, body).inertiafromgeom) == ALWAYS_INFERRED and body.geoms:
            body.explicitinertial = False  # all of it, or the rest counts
            body.mass, body.inertia = 0.0, np.zeros(3)
            body.ipos, body.fullinertia = np.full(3, np.nan), np.full(6, np.nan)
    for body in spec.bodies:
        compiler = compiler_of(spec, body)
        if int(compiler.inertiafromgeom) == ALWAYS_INFERRED:
            compiler.inertiafromgeom = _AUTO


def _compiled_undrawn(spec: mujoco.MjSpec) -> mujoco.MjModel:
    """Remove what only rendering needs from a spec itself, and return what is left compiled."""
    drawn = spec.compiler.discardvisual
    discard_visuals(spec)
    try:
        model = spec.compile()  # which deletes it
    except ValueError as error:
        raise ModelError(f"the model does not compile: {error}") from error
    spec.compiler.discardvisual = drawn
    return model


def undrawn(spec: mujoco.MjSpec) -> mujoco.MjSpec:
    """Return a copy that compiles without its visual geoms, whose meshes take longest to read.

    One with a body that has no others keeps all, as they tell its size, if they can be read. Of
    textures that MuJoCo computes, which takes longer than a small model, one pixel is left.
    """
    copy = spec.copy()
    for texture in copy.textures:
        if int(texture.builtin):
            texture.width = texture.height = 1
    shaped = [body.geoms for body in spec.bodies[1:] if body.geoms]
    collide = [any(geom.contype or geom.conaffinity for geom in geoms) for geoms in shaped]
    if all(collide) or not _compiles(copy):
        discard_visuals(copy)
    return copy


def _compiles(spec: mujoco.MjSpec) -> bool:
    try:
        spec.copy().compile()
    except ValueError:
        return False
    return True


def without_visuals(
    spec: mujoco.MjSpec, disabled: int = 0, *, keep_wheels: bool = False
) -> mujoco.MjSpec:
    """Return a copy that moves exactly alike and compiles a hundred times faster with meshes.

    Where contacts are switched off it has no geoms at all, unless dropping them would change a
    body's inertia or take longer, and is simulated faster too.

    Args:
      spec: Not changed.
      disabled: Flags of what the copy does without besides, as in ``option.disableflags``.
      keep_wheels: Whether plain geoms of wheels stay, which tell how they roll.
    """
    slim = spec.copy()
    slim.option.disableflags |= disabled
    full = _compiled_undrawn(slim)
    if len(slim.geoms) <= _MANY and _nothing_touches(slim):
        _keep_inertia(slim, slim.geoms, full)
        dropped = [geom for geom in slim.geoms if not (keep_wheels and _is_wheel(geom))]
        _delete(slim, [*slim.pairs, *slim.excludes, *dropped])
        if _full_if_alike(full, slim, (*_SIZES, "nsensor", "nwrap")) is None:
            slim = remove_visuals(spec)
            slim.option.disableflags |= disabled
    return slim


def _is_wheel(geom: Any) -> bool:
    """Tell whether a geom is round, without a mesh, and turns without end."""
    joints = geom.parent.joints
    hinges = [one for one in joints if one.type == mujoco.mjtJoint.mjJNT_HINGE]
    endless = len(joints) == len(hinges) == 1 and not hinges[0].range[0] < hinges[0].range[1]
    return endless and geom.type in _ROUND


def _nothing_touches(spec: mujoco.MjSpec) -> bool:
    """Return whether no geom can matter to forces or sensors."""
    contacts = not int(spec.option.disableflags) & int(mujoco.mjtDisableBit.mjDSBL_CONTACT)
    fluid = bool(spec.option.density or spec.option.viscosity)
    seeing = any(int(sensor.type) in _SEEING for sensor in spec.sensors)
    return not (contacts or fluid or seeing or list(spec.plugins))


class SlimModel:
    """Decides whether a spec's geoms may be left out, and goes on asking.

    Args:
      spec: The user's spec; not changed.
      full: The same compiled, where it is already; with meshes that takes as long as a simulation.
    """

    def __init__(self, spec: Any, full: Any = None) -> None:
        self._spec = spec
        self._slim = _without_geoms(spec)
        self._full: Any = None
        self._data: mujoco.MjData | None = None  # of the full model, where it was asked
        if self._slim is not None:
            self._full = _full_if_alike(full or spec, self._slim, _SIZES)
        if self._full is None:
            self._slim = None

    @property
    def spec(self) -> Any:
        """The spec that models are made from."""
        return self._spec if self._slim is None else self._slim

    def touches(self, model: Any, states: Sequence[FloatArray], full: Any) -> bool:
        """Return whether left-out geoms would have touched; if so, the full spec is used.

        Args:
          model: The model without geoms that was simulated.
          states: Full-physics states of its simulations, (n, nstate) each.
          full: Makes the same model with geoms.
        """
        off = int(model.opt.disableflags) & int(mujoco.mjtDisableBit.mjDSBL_CONTACT)
        if self._slim is None or off:
            return False
        if self._full is None or not _same(self._full, model, _PLACES):
            self._full, self._data = full(), None
        data = self._data = self._data or mujoco.MjData(self._full)
        positions, nq = data.qpos, int(self._full.nq)
        for run in states:
            for state in run[:: max(1, len(run) // CHECKED_STATES)]:
                positions[:] = state[1 : 1 + nq]
                mujoco.mj_kinematics(self._full, data)
                mujoco.mj_collision(self._full, data)
                if data.ncon:
                    self._slim = self._full = self._data = None
                    return True
        return False


def _full_if_alike(spec: Any, slim: Any, sizes: Sequence[str]) -> Any:
    """The full model, given or compiled, where the slim one agrees; ``None`` elsewhere."""
    try:
        full = spec if isinstance(spec, mujoco.MjModel) else spec.copy().compile()
        other = slim.copy().compile()
    except ValueError:
        return None
    if any(getattr(full, name) != getattr(other, name) for name in sizes):
        return None
    return full if _same(full, other, _ALL) else None


def _same(a: Any, b: Any, names: Sequence[str]) -> bool:
    return all(np.array_equal(getattr(a, name), getattr(b, name)) for name in names)


def _without_geoms(spec: Any) -> Any:
    """A copy without the geoms of bodies whose inertia is given; ``None`` where there are none.

    MuJoCo looks through all elements for each that is deleted, but drops what is only drawn, with
    its meshes, at once.
    """
    if spec.option.density or spec.option.viscosity or int(spec.compiler.inertiafromgeom) != _AUTO:
        return None
    slim = spec.copy()
    geoms = [g for g in slim.geoms if g.parent.name == "world" or g.parent.explicitinertial]
    if not geoms:
        return None
    connected = [*slim.pairs, *slim.excludes]
    if len(geoms) < len(slim.geoms):
        _delete(slim, [*connected, *geoms])
        return slim
    _delete(slim, connected)
    for geom in geoms:
        geom.contype = geom.conaffinity = 0
    try:
        _compiled_undrawn(slim)
    except ModelError:
        return None
    return slim


def _delete(spec: Any, items: Sequence[Any]) -> None:
    """Delete geoms and what refers to them, and all that only rendering needs."""
    used = Counter(geom.meshname for geom in spec.geoms)
    used.subtract(item.meshname for item in items if isinstance(item, mujoco.MjsGeom))
    # Meshes go first: beside them MuJoCo takes fifty times as long to delete a geom.
    for item in [*(mesh for mesh in spec.meshes if not used[mesh.name]), *items]:
        spec.delete(item)
    for item in [*spec.geoms, *spec.sites, *spec.tendons]:
        item.material = ""
    for item in [*spec.materials, *spec.textures]:
        spec.delete(item)


def _keep_inertia(spec: Any, geoms: Sequence[Any], model: mujoco.MjModel) -> None:
    """Make the inertia of the bodies that these geoms belong to explicit, as it is compiled."""
    names = list(
        dict.fromkeys(geom.parent.name for geom in geoms if geom.parent.name not in ("world", ""))
    )
    if not names:
        return
    inertias = {name: read_inertia(spec, name, model) for name in names}
    heavy = {name: own for name, own in inertias.items() if own.mass > mujoco.mjMINVAL}
    write_inertias(spec, heavy)
