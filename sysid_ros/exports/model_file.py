# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""``model.xml``: the identified model as one MJCF file that needs nothing but its own folder.

MuJoCo writes the MJCF; three things are added here: the files it names are copied beside it, the
numbers it rounds to six digits get all of theirs back, and the start state becomes a keyframe.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import mujoco
import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.elements import keep_authored
from sysid_ros.errors import ModelError
from sysid_ros.exports.assets import Assets
from sysid_ros.exports.full_precision import restore_precision
from sysid_ros.files import replace_file

MODEL = "model.xml"
ASSETS = "assets"  # folder of the files that it names


@dataclass(frozen=True)
class StartState:
    """The state in which a simulation of the recording starts; stored as a keyframe.

    Arrays have the model's own sizes nq, nv, na and nu, in MuJoCo's units.
    """

    qpos: Sequence[float]
    qvel: Sequence[float]
    act: Sequence[float] = ()
    ctrl: Sequence[float] = ()
    name: str = "start"

    @classmethod
    def of(cls, spec: mujoco.MjSpec, state: FloatArray) -> StartState:
        """Read the start off a state of MuJoCo's: time, qpos, qvel, act and what follows, (n,).

        Raises:
          ModelError: It is too short for the model.
        """
        model = spec.copy().compile()
        ends = np.cumsum([1, model.nq, model.nv, model.na])
        if len(state) < ends[-1]:
            raise ModelError(
                f"the start state has {len(state)} numbers, the model needs {ends[-1]}"
            )
        _, qpos, qvel, act, _ = np.split(np.asarray(state), ends)
        return cls(qpos.tolist(), qvel.tolist(), act.tolist())


def write_model(
    spec: mujoco.MjSpec, folder: Path, *, start_state: StartState | None = None
) -> Path:
    """Write ``spec`` as ``folder/model.xml``, with its assets in ``folder/assets``.

    Args:
      spec: The identified model; it is not changed.
      folder: An existing folder.
      start_state: Becomes a keyframe of that name, replacing one of the same name.

    Returns:
      The path of ``model.xml``, which has been loaded once from there as a check.

    Raises:
      ModelError: If the model does not compile, lacks a file, or does not load once written.
      OSError: If the folder cannot be written.
    """
    model_spec = _with_keyframe(spec, start_state)
    keep_authored(model_spec)
    try:
        model = model_spec.compile()
        root = _parsed(model_spec.to_xml())
    except ValueError as error:
        raise ModelError(f"the identified model does not compile: {error}") from error
    restore_precision(root, model_spec, model)
    _take_assets_along(root, model_spec, folder)
    path = folder / MODEL
    replace_file(path, ET.tostring(root, encoding="utf-8", xml_declaration=True) + b"\n")
    try:
        mujoco.MjModel.from_xml_path(str(path))
    except ValueError as error:
        raise ModelError(f"{path.name} does not load once written: {error}") from error
    return path


def _with_keyframe(spec: mujoco.MjSpec, start: StartState | None) -> mujoco.MjSpec:
    copy = spec.copy()
    if start is None:
        return copy
    for key in list(copy.keys):
        if key.name == start.name:
            copy.delete(key)
    sizes = {"qpos": start.qpos, "qvel": start.qvel, "act": start.act, "ctrl": start.ctrl}
    copy.add_key(name=start.name, **{name: list(v) for name, v in sizes.items() if len(v)})
    return copy


def _parsed(xml: str) -> ET.Element:
    """Parse MuJoCo's own output, comments included."""
    parser = ET.XMLParser(target=ET.TreeBuilder(insert_comments=True))  # noqa: S314
    return ET.fromstring(xml, parser=parser)  # noqa: S314


def _take_assets_along(root: ET.Element, spec: mujoco.MjSpec, folder: Path) -> None:
    """Copy every file the model names and let the model name the copies."""
    assets = Assets(spec)
    for element in root.iterfind("./asset/*"):
        for attribute in [key for key in element.attrib if key.startswith("file")]:
            given = element.attrib[attribute]
            element.set(attribute, assets.keep(given, texture=element.tag == "texture"))
            if attribute == "file" and "name" not in element.attrib:
                element.set("name", Path(given).stem)  # what MuJoCo derives from the old name
    compiler = root.find("compiler")
    if compiler is None:
        compiler = ET.Element("compiler")
        root.insert(0, compiler)
    for attribute in ("assetdir", "meshdir", "texturedir", "strippath"):
        compiler.attrib.pop(attribute, None)
    if assets.kept:
        compiler.set("assetdir", ASSETS)
        assets.write(folder / ASSETS)
