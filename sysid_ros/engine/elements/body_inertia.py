# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Reading and writing the inertia of one body of an MjSpec, and of that body only.

A body's inertia is either written in the spec ("explicit") or inferred from its geoms by the
compiler, body by body, under ``compiler/inertiafromgeom``: never, where none is written ("auto"),
or always. Writing an inertia under "always" would have no effect, and lifting it would give
every other body another inertia than before; both are avoided here. So is the rescaling of all
bodies by ``compiler/settotalmass``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import mujoco
import numpy as np

from sysid_ros.engine.elements.inertia import BodyInertia
from sysid_ros.engine.elements.named_elements import find
from sysid_ros.errors import ModelError

_UNSEEN = 1e-6  # of an offset (m) or of a quaternion's vector part: the compiler sees none
ALWAYS_INFERRED = int(mujoco.mjtInertiaFromGeom.mjINERTIAFROMGEOM_TRUE)
_AUTO = mujoco.mjtInertiaFromGeom.mjINERTIAFROMGEOM_AUTO


def read_inertia(spec: Any, name: str, model: Any = None) -> BodyInertia:
    """The inertia that body ``name`` has in the simulation.

    Args:
      spec: An MjSpec; it is not changed.
      name: The body's name.
      model: The spec compiled, where at hand; saves compiling it here, unless bodies are fused.

    Raises:
      ModelError: The model does not compile, or lacks the body.
    """
    body = find(spec, "body", name)
    if model is None and _is_plain(spec, body) and not _overridden(spec):
        return BodyInertia(
            float(body.mass), np.array(body.ipos), np.array(body.iquat), np.array(body.inertia)
        )
    if model is None or spec.compiler.fusestatic:
        model = _compiled_unfused(spec)
    return _from_model(model, name)


def write_inertia(spec: Any, name: str, inertia: BodyInertia) -> None:
    """Give body ``name`` of an MjSpec an explicit inertia; all other bodies keep theirs.

    Raises:
      ModelError: The model lacks the body, or does not compile where that is needed.
    """
    write_inertias(spec, {name: inertia})


def write_inertias(spec: Any, inertias: Mapping[str, BodyInertia]) -> None:
    """Like :func:`write_inertia` for several bodies, by name; one look at the compiler's options.

    Raises:
      ModelError: The model lacks a body, or does not compile where that is needed.
    """
    bodies = {name: find(spec, "body", name) for name in inertias}
    if _overridden(spec):
        _make_all_explicit(spec)
    for name, body in bodies.items():
        set_inertia(body, inertias[name])


def write_moving_inertia(
    spec: Any, name: str, inertia: BodyInertia, *, turning: bool = False
) -> None:
    """Like :func:`write_inertia`, where the centre, or if ``turning`` the axes, are identified.

    MuJoCo's compiler takes offsets and turns below 1e-6 for none, so that a derivative there would
    be zero. An inertia that is centred or aligned to that precision is moved by a few micrometres,
    or turned by a few microradians, which nothing can measure.

    Raises:
      ModelError: The model lacks the body, or does not compile where that is needed.
    """
    ipos, iquat = np.array(inertia.ipos), np.array(inertia.iquat)
    if np.all(np.abs(ipos) < 2.0 * _UNSEEN):
        ipos[0] += 4.0 * _UNSEEN
    if turning and np.all(np.abs(iquat[1:]) < 2.0 * _UNSEEN):
        iquat[1:] += 4.0 * _UNSEEN
        iquat /= np.linalg.norm(iquat)
    write_inertia(spec, name, BodyInertia(inertia.mass, ipos, iquat, inertia.inertia))


def make_explicit(spec: Any, names: list[str]) -> None:
    """Write the inertia that the compiler infers for these bodies into the spec.

    Later reads and writes of them need no compilation then.

    Args:
      spec: The MjSpec to change; its simulation stays the same.
      names: The bodies.

    Raises:
      ModelError: The model lacks a body or does not compile.
    """
    bodies = {name: find(spec, "body", name) for name in names}
    if _overridden(spec):
        _make_all_explicit(spec)
    pending = {name: body for name, body in bodies.items() if not _is_plain(spec, body)}
    if not pending:
        return
    model = _compiled_unfused(spec)
    for name, body in pending.items():
        set_inertia(body, _from_model(model, name))


def keep_authored(spec: Any) -> None:
    """Mark inertias that were set in code as explicit, without which they are not saved as XML.

    Args:
      spec: The MjSpec to change; its simulation stays the same.
    """
    for body in spec.bodies:
        if not body.explicitinertial and body.mass > 0.0 and not body.geoms:
            body.explicitinertial = True
            body.ipos = np.nan_to_num(body.ipos)  # not set means at the body's origin


def compiled(spec: Any) -> Any:
    """The spec as an MjModel, compiled from a copy so that the spec stays as it is.

    Raises:
      ModelError: It does not compile; the message is the compiler's.
    """
    try:
        return spec.copy().compile()
    except ValueError as error:
        raise ModelError(f"the model does not compile: {error}") from error


def _compiled_unfused(spec: Any) -> Any:
    """The spec compiled such that each body has its own inertia.

    URDF models are compiled with the links of fixed joints fused into their parents: written back
    to the parent, their sum would count those links twice.

    Raises:
      ModelError: It does not compile.
    """
    if not spec.compiler.fusestatic:
        return compiled(spec)
    copy = spec.copy()
    copy.compiler.fusestatic = False
    return compiled(copy)


def _from_model(model: Any, name: str) -> BodyInertia:
    index = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY.value, name)
    if index < 0:
        raise ModelError(f"body {name!r} is missing from the compiled model")
    return BodyInertia(
        float(model.body_mass[index]),
        model.body_ipos[index].copy(),
        model.body_iquat[index].copy(),
        model.body_inertia[index].copy(),
    )


def _is_plain(spec: Any, body: Any) -> bool:
    """Return whether mass, ipos, iquat and inertia alone say what the body's inertia is."""
    bounds = compiler_of(spec, body)
    return bool(
        body.explicitinertial
        and body.mass >= bounds.boundmass
        and np.all(body.inertia >= bounds.boundinertia)
        and np.isnan(body.fullinertia[0])
        and body.ialt.type == mujoco.mjtOrientation.mjORIENTATION_QUAT
        and np.all(np.isfinite(body.ipos))
    )


def _overridden(spec: Any) -> bool:
    """Return whether the compiler would replace or rescale an explicit inertia."""
    if spec.compiler.settotalmass > 0.0:
        return True
    inferred = {int(compiler_of(spec, body).inertiafromgeom) for body in spec.bodies}
    return ALWAYS_INFERRED in inferred


def _make_all_explicit(spec: Any) -> None:
    """Write every body's compiled inertia, then let the compiler leave explicit ones alone."""
    model = _compiled_unfused(spec)
    for body in spec.bodies:
        if body.name != "world" and body.name:
            set_inertia(body, _from_model(model, body.name))
        elif not body.name:
            raise ModelError(
                "a body without a name keeps the inertia of others from being identified, because "
                "the compiler sets inertiafromgeom='true' or settotalmass; give all bodies a name"
            )
        compiler = compiler_of(spec, body)
        if int(compiler.inertiafromgeom) == ALWAYS_INFERRED:
            compiler.inertiafromgeom = _AUTO
    spec.compiler.settotalmass = -1.0


def compiler_of(spec: Any, body: Any) -> Any:
    """The compiler options that apply to a body: its own where it was attached from elsewhere."""
    return getattr(body, "compiler", spec.compiler)


def set_inertia(body: Any, inertia: BodyInertia) -> None:
    """Give a body of an MjSpec an explicit inertia, whatever the compiler then makes of it."""
    body.explicitinertial = True
    body.mass = inertia.mass
    body.ipos = inertia.ipos
    body.iquat = inertia.iquat
    body.inertia = inertia.inertia
    # Either of these would take precedence over iquat and inertia.
    body.fullinertia = np.full(6, np.nan)
    body.ialt.type = mujoco.mjtOrientation.mjORIENTATION_QUAT
