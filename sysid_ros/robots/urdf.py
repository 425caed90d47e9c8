# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""URDF as MuJoCo reads it: meshes found, links kept.

MuJoCo reads URDF itself. What it cannot know is where ``package://`` is and which files are on this
machine; and by default it merges links that do not move, whose names parameters and sensors need.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote, urlparse

from sysid_ros.errors import ModelError, listed
from sysid_ros.experiment import PACKAGE, Packages, as_uri
from sysid_ros.files import open_regular, parsed_xml
from sysid_ros.robots.urdf_inertia import make_physical

_READABLE = (".stl", ".obj", ".msh")  # by MuJoCo
_STL_HEADER, _STL_FACE = 84, 50  # bytes of a binary STL file
_SHOWN = 3  # meshes named in a warning
_XACRO = "ros.org/wiki/xacro"  # in the namespace of its elements


def prepare_urdf(
    text: str, source: str, folder: Path | None, packages: Packages
) -> tuple[str, tuple[str, ...]]:
    """Resolve the meshes of a URDF and keep the names of its links.

    Meshes that are only drawn are left out, as MuJoCo does, unless the file's own
    ``<mujoco><compiler discardvisual="false"/></mujoco>`` says otherwise. Its other settings count
    too. A mesh that is not on this machine or that MuJoCo cannot read is left out with a warning:
    it matters for contacts alone, since a link's inertia stands in the URDF itself. Inertias that
    no body can have are made physical, with a warning (:mod:`~sysid_ros.robots.urdf_inertia`).

    Args:
      text: The URDF.
      source: Where it came from, for messages.
      folder: The folder of its file; ``None`` for a topic's description.
      packages: Where ``package://`` is looked for.

    Returns:
      A URDF that MuJoCo can read, and what had to be left out, one sentence each.

    Raises:
      ModelError: It is not XML, or a xacro file that has not been expanded.
    """
    try:
        root = parsed_xml(text)
    except ET.ParseError as error:
        raise ModelError(f"the model from {source} is not XML: {error}") from error
    _refuse_xacro(root, source)
    compiler = _compiler(root)
    meshes = _Meshes(folder, packages, compiler.attrib.pop("meshdir", ""))
    drawn = compiler.get("discardvisual", "true") != "false"
    for part, shape in list(_mesh_parts(root)):
        if shape.tag == "visual" and drawn:
            part.remove(shape)
            continue
        mesh = next(shape.iter("mesh"))
        found = meshes.find(mesh.get("filename", ""))
        if found is None:
            part.remove(shape)
        else:
            mesh.set("filename", str(found))
    warnings = (*meshes.warnings(source), *make_physical(root))
    return ET.tostring(root, encoding="unicode"), warnings


def _refuse_xacro(root: ET.Element, source: str) -> None:
    elements = [element for element in root.iter() if isinstance(element.tag, str)]
    if any(_XACRO in one.tag or one.tag.startswith("{xacro}") for one in elements) or any(
        "${" in value for one in elements for value in one.attrib.values()
    ):
        raise ModelError(
            f"the model from {source} is a xacro file; expand it first: xacro FILE > robot.urdf"
        )


def _compiler(root: ET.Element) -> ET.Element:
    """The URDF's settings for MuJoCo, with ours where it has none."""
    extension = root.find("mujoco")
    if extension is None:
        extension = ET.SubElement(root, "mujoco")
    compiler = extension.find("compiler")
    if compiler is None:
        compiler = ET.SubElement(extension, "compiler")
    compiler.set("strippath", "false")  # the paths are resolved here
    compiler.attrib.setdefault("fusestatic", "false")
    return compiler


def _mesh_parts(root: ET.Element) -> Iterator[tuple[ET.Element, ET.Element]]:
    """Each link with each of its visual and collision elements that is a mesh."""
    for link in root.iter("link"):
        for tag in ("visual", "collision"):
            for shape in link.findall(tag):
                if shape.find("geometry/mesh") is not None:
                    yield link, shape


class _Meshes:
    """Finds the mesh files of one URDF and remembers those that it cannot use."""

    def __init__(self, folder: Path | None, packages: Packages, mesh_folder: str) -> None:
        self._folder = folder
        self._packages = packages if folder is None else packages.near(folder)
        self._mesh_folder = mesh_folder
        self._absent: list[str] = []
        self._unreadable: list[str] = []

    def find(self, name: str) -> Path | None:
        """The file of a mesh, or ``None`` if there is none that MuJoCo reads."""
        path = next((one.absolute() for one in self._candidates(name) if one.is_file()), None)
        if path is None:
            self._absent.append(name)
        elif path.suffix.lower() not in _READABLE or _is_text_stl(path):
            self._unreadable.append(name)
            path = None
        return path

    def warnings(self, source: str) -> tuple[str, ...]:
        """Return what was left out, one sentence each."""
        found = []
        if self._absent:
            found.append(
                f"{_meshes(self._absent)} of {source} cannot be found and do not collide; "
                "--package-path or package_path names the folder of their package."
            )
        if self._unreadable:
            found.append(
                f"{_meshes(self._unreadable)} of {source} do not collide: MuJoCo reads binary "
                "STL, OBJ and MSH."
            )
        return tuple(found)

    def _candidates(self, name: str) -> list[Path]:
        uri = as_uri(name)
        if uri.startswith(PACKAGE):
            found = self._packages.candidates(uri)
        elif uri.startswith("file:"):
            found = [Path(unquote(urlparse(uri).path))]
        else:
            folders = [self._folder] if self._folder is not None else self._packages.neighbours
            found = [folder / part / uri for folder in folders for part in (self._mesh_folder, "")]
        if self._folder is not None and self._mesh_folder:  # where MuJoCo itself would look
            found.append(self._folder / self._mesh_folder / Path(name).name)
        return found


def _is_text_stl(path: Path) -> bool:
    """Tell an STL file in text form, which also may start like a binary one, by its size."""
    if path.suffix.lower() != ".stl":
        return False
    with open_regular(path) as file:
        head = file.read(_STL_HEADER)
    faces = int.from_bytes(head[80:], "little")
    return path.stat().st_size < _STL_HEADER + _STL_FACE * faces and head.startswith(b"solid")


def _meshes(names: list[str]) -> str:
    distinct = list(dict.fromkeys(names))
    return f"{len(distinct)} mesh file{'s' * (len(distinct) != 1)} ({listed(distinct, _SHOWN)})"
