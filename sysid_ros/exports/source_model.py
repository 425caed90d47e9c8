# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""``model.xml`` as its author wrote it, with nothing but the identified values changed.

Comments, formatting, default classes and includes stay, so that a diff against the source shows
what was identified and no more. Files that the model names are copied beside it; where that takes
another name or folder, the attribute says so.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import mujoco

from sysid_ros.engine.elements import compiled, undrawn
from sysid_ros.errors import ModelError
from sysid_ros.exports.assets import Assets
from sysid_ros.exports.mjcf_documents import MjcfDocuments
from sysid_ros.exports.mjcf_edits import edit_mjcf
from sysid_ros.exports.model_difference import model_difference
from sysid_ros.exports.model_file import ASSETS, MODEL
from sysid_ros.files import replace_file
from sysid_ros.processes import return_freed_memory
from sysid_ros.robots import Element, ModelText, XmlText

_ASSET_TAGS = ("mesh", "texture", "hfield", "skin")
_FOLDERS = ("assetdir", "meshdir", "texturedir")


def write_source_model(
    source: ModelText, before: mujoco.MjSpec, after: mujoco.MjSpec, folder: Path
) -> Path:
    """Write the source's text with the difference of two specs, as ``folder/model.xml``.

    Args:
      source: The model as it was written, MJCF.
      before: What MuJoCo reads from it.
      after: The identified model, made from ``before``; neither is changed.
      folder: An existing folder; files the model needs go to ``folder/assets``.

    Returns:
      The path of ``model.xml``, which has been loaded from there and is the identified model.

    Raises:
      ModelError: That is not possible; the message says why, and nothing is left behind.
      OSError: The folder cannot be written.
    """
    if source.is_urdf:
        raise ModelError("the source is URDF")
    path = folder / MODEL
    try:
        documents = MjcfDocuments(source)
        edit_mjcf(documents, before, after)
        assets = _take_files_along(documents, before, folder)
        replace_file(path, documents.main.edited())
        identified = compiled(undrawn(after))
        return_freed_memory()  # before its meshes are there once more
        _check(path, identified, assets)
    except ModelError:
        path.unlink(missing_ok=True)
        shutil.rmtree(folder / ASSETS, ignore_errors=True)
        raise
    return path


def _check(path: Path, identified: mujoco.MjModel, assets: Assets) -> None:
    try:
        spec = mujoco.MjSpec.from_file(str(path))
        for mesh in spec.meshes:
            copied, source = path.parent / ASSETS / mesh.file, assets.sources.get(mesh.file)
            if source is not None and copied.is_file():
                mesh.file = str(source.absolute())  # MuJoCo has read this one, the copy it has not
        written = undrawn(spec).compile()
    except ValueError as error:
        reason = " ".join(str(error).split())
        raise ModelError(f"the source with the values in place does not load: {reason}") from error
    difference = model_difference(written, identified)
    if difference is not None:
        raise ModelError(
            f"the source with the values in place is not the identified model: {difference}"
        )


def _take_files_along(documents: MjcfDocuments, spec: mujoco.MjSpec, folder: Path) -> Assets:
    """Copy every file that is named, and let the copies be named; returns them."""
    assets = Assets(spec, subfolders=True)
    used: set[str] = set()
    for document in documents.all:
        for element in document.root.descendants():
            if element.tag == "model":
                raise ModelError("the source attaches other models")
            if element.tag in _ASSET_TAGS:
                used |= _keep(assets, document, element, strip=bool(spec.strippath))
    _name_folders(documents, used)
    for path, document in reversed(list(documents.included.items())):
        # A file is complete when those that it includes have their new names: the deepest first.
        name = assets.add(path, document.edited())
        for including, element, target in documents.includes:
            if target == path:
                including.set(element, "file", f"{ASSETS}/{name}")
    if assets.kept:
        assets.write(folder / ASSETS)
    return assets


def _name_folders(documents: MjcfDocuments, used: set[str]) -> None:
    """Have the compiler look for files of these kinds in the result's folder for them."""
    named = set()
    compilers = documents.elements("compiler")
    for document, compiler in compilers:
        for attribute in [name for name in _FOLDERS if name in compiler.attributes]:
            if Path(compiler.attributes[attribute]) != Path(ASSETS):
                document.set(compiler, attribute, ASSETS)
            named |= set(_FOLDERS) if attribute == "assetdir" else {attribute}
    missing = sorted(used - named)
    if not missing:
        return
    added = "assetdir" if not named else missing[0]
    if compilers:
        document, compiler = compilers[0]
        document.set(compiler, added, ASSETS)
    else:
        documents.main.insert_first(documents.main.root, f'<compiler {added}="{ASSETS}"/>')


def _keep(assets: Assets, document: XmlText, element: Element, *, strip: bool) -> set[str]:
    """Keep the files of one asset; returns the attributes that say which folder they are in."""
    texture = element.tag == "texture"
    files = {key: value for key, value in element.attributes.items() if key.startswith("file")}
    for attribute, written in files.items():
        given = Path(written).name if strip else written
        kept = assets.keep(given, texture=texture)
        if kept == written:
            continue
        document.set(element, attribute, kept)
        if attribute == "file" and "name" not in element.attributes:
            document.set(element, "name", Path(given).stem)  # which MuJoCo derived from the file
    return {"texturedir" if texture else "meshdir"} if files else set()
