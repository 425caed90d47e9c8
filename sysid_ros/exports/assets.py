# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The files a model names, found wherever MuJoCo would have found them."""

from __future__ import annotations

from pathlib import Path

import mujoco

from sysid_ros.errors import ModelError
from sysid_ros.files import read_regular, replace_file


class Assets:
    """Collects the files of one model under names that are unique within one folder.

    Attributes:
      kept: Content by new file name.
      sources: Where it was read from, for what was a file.
    """

    def __init__(self, spec: mujoco.MjSpec, *, subfolders: bool = False) -> None:
        """Remember where ``spec`` has its files from: memory first, then its folders.

        Args:
          spec: The model.
          subfolders: Whether a name such as ``visual/arm.stl`` stays as it is.
        """
        self._subfolders = subfolders
        self.kept: dict[str, bytes] = {}
        self.sources: dict[str, Path] = {}
        self._names: dict[tuple[str, bool], str] = {}
        self._memory = {str(name): content for name, content in dict(spec.assets).items()}
        self._base = Path(spec.modelfiledir or ".")
        compiler = spec.compiler
        self._mesh_folder = str(compiler.meshdir or "")
        self._texture_folder = str(compiler.texturedir or "")

    def keep(self, given: str, *, texture: bool) -> str:
        """Find the file that the model calls ``given`` and return its new name.

        Args:
          given: The text of the MJCF attribute.
          texture: Whether ``texturedir`` applies; ``meshdir`` otherwise.

        Raises:
          ModelError: If there is no such file; says where it was looked for.
        """
        if (given, texture) not in self._names:
            folder = self._texture_folder if texture else self._mesh_folder
            content, source = self._read(given, folder)
            name = self._unique_name(Path(given), content)
            self._names[given, texture] = name
            if source is not None:
                self.sources[name] = source
        return self._names[given, texture]

    def write(self, folder: Path) -> None:
        """Write everything kept into ``folder``, which is created."""
        folder.mkdir(exist_ok=True)
        for name, content in self.kept.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            replace_file(path, content)

    def add(self, path: Path, content: bytes) -> str:
        """Keep a file that is not named by the model; returns its new name."""
        return self._unique_name(Path(path.name), content)

    def _read(self, given: str, folder: str) -> tuple[bytes, Path | None]:
        """Content, and the file that it was read from."""
        below = str(Path(folder) / given)
        for name in (given, below, Path(given).name):
            if name in self._memory:
                content = self._memory[name]
                return content.encode() if isinstance(content, str) else bytes(content), None
        candidates = [self._base / folder / given, self._base / given]  # absolute paths win in /
        for path in candidates:
            if path.is_file():
                return read_regular(path), path
        looked = ", ".join(str(path) for path in dict.fromkeys(candidates))
        raise ModelError(f"the model's file {given!r} was not found; looked for {looked}")

    def _unique_name(self, path: Path, content: bytes) -> str:
        """The file's own name, numbered where another file has it already."""
        number = 1
        inside = self._subfolders and not path.is_absolute() and ".." not in path.parts
        folder = path.parent if inside else Path()
        name = (folder / path.name).as_posix()
        while name in self.kept and self.kept[name] != content:
            number += 1
            name = (folder / f"{path.stem}_{number}{path.suffix}").as_posix()
        self.kept[name] = content
        return name
