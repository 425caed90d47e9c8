# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""MJCF whose meshes and textures are on another machine.

Motion needs no pictures. A mesh of a body whose inertia is written down matters for contacts alone,
and is left out with a warning, as that of a URDF is; one that a body's mass comes from is an error
that names the file.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path, PurePath

import mujoco

from sysid_ros.errors import ModelError, listed

_GIVEN = (0, 2)  # mjINERTIAFROMGEOM_FALSE and _AUTO: an inertia that is written down counts
_SHOWN = 3  # files named in a message


def without_missing_meshes(spec: mujoco.MjSpec, source: str) -> tuple[str, ...]:
    """Take out of a model, in place, what names mesh and texture files that are not there.

    Returns:
      What was left out, one sentence each; nothing if every file is there.

    Raises:
      ModelError: The mass of a moving body comes from such a mesh.
    """
    meshes = {mesh.name: mesh.file for mesh in spec.meshes if _absent(spec, mesh.file, meshes=True)}
    warnings = []
    if meshes:
        geoms = [geom for geom in spec.geoms if geom.meshname in meshes]
        _refuse_masses(spec, [geom for geom in geoms if _gives_mass(spec, geom)], meshes, source)
        _delete(spec, [*geoms, *(mesh for mesh in spec.meshes if mesh.name in meshes)])
        warnings.append(
            f"{_files(meshes.values())} of {source} cannot be found and do not collide; MuJoCo "
            f"looks for them in {_folder(spec, meshes=True)}."
        )
    textures = {one.name: one.file for one in spec.textures if _absent(spec, one.file)}
    if textures:
        drawn = [one for one in spec.materials if set(one.textures) & set(textures)]
        gone = {one.name for one in drawn}
        for item in (*spec.geoms, *spec.sites, *spec.tendons):
            if item.material in gone:
                item.material = ""
        _delete(spec, [*drawn, *(one for one in spec.textures if one.name in textures)])
        warnings.append(f"{_files(textures.values())} of {source} cannot be found; only drawn.")
    return tuple(warnings)


def _absent(spec: mujoco.MjSpec, file: str, *, meshes: bool = False) -> bool:
    stripped = PurePath(file).name if spec.strippath else file
    return bool(file) and not (_folder(spec, meshes=meshes) / stripped).is_file()


def _folder(spec: mujoco.MjSpec, *, meshes: bool) -> Path:
    """The folder in which MuJoCo looks for files."""
    return Path(spec.modelfiledir or ".", spec.meshdir if meshes else spec.texturedir)


def _gives_mass(spec: mujoco.MjSpec, geom: mujoco.MjsGeom) -> bool:
    """Tell whether a body's mass would be another without a geom."""
    body = geom.parent
    if body.name == "world" or (body.explicitinertial and spec.compiler.inertiafromgeom in _GIVEN):
        return False
    low, high = spec.compiler.inertiagrouprange
    weightless = geom.mass == 0.0 or (geom.density == 0.0 and not geom.mass > 0.0)
    return low <= geom.group <= high and not weightless


def _refuse_masses(
    spec: mujoco.MjSpec, geoms: Sequence[mujoco.MjsGeom], meshes: dict[str, str], source: str
) -> None:
    if not geoms:
        return
    files = _files(dict.fromkeys(meshes[geom.meshname] for geom in geoms))
    bodies = list(dict.fromkeys(repr(geom.parent.name) for geom in geoms))
    raise ModelError(
        f"{files} of {source} cannot be found in {_folder(spec, meshes=True)}, and the mass of "
        f"{'bodies' if len(bodies) > 1 else 'body'} {listed(bodies, _SHOWN)} comes from that; put "
        "the mesh there, or write the body's <inertial> into the model (then its meshes may be "
        "missing)"
    )


def _files(names: Iterable[str]) -> str:
    distinct = list(dict.fromkeys(names))
    return f"{len(distinct)} file{'s' * (len(distinct) != 1)} ({listed(distinct, _SHOWN)})"


def _delete(spec: mujoco.MjSpec, items: Iterable[object]) -> None:
    for item in list(items):
        spec.delete(item)
