# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Saving a model as a file that loads on its own."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

import mujoco

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.simulation import model_content
from sysid_ros.errors import OutputError, unknown_name
from sysid_ros.files import replacing

_SUFFIXES = (".xml", ".mjb")


def save_model(
    spec: Any, path: str | os.PathLike[str], *, start_state: FloatArray | None = None
) -> None:
    """Write a model as MJCF with its files in ``assets`` beside it, or as MuJoCo's binary.

    Numbers keep all their digits.

    Args:
      spec: The MjSpec; not changed.
      path: The file; its suffix, ``.xml`` or ``.mjb``, says which. Models in one folder share
        its ``assets``.
      start_state: A full-physics state, as from :func:`create_initial_state`, that becomes the
        keyframe ``start``.

    Raises:
      ModelError: The model does not compile or lacks a file.
      OutputError: The suffix is another, or a file cannot be written.
    """
    target = Path(path)
    if target.suffix not in _SUFFIXES:
        raise OutputError(f"{target}: {unknown_name('suffix', target.suffix, _SUFFIXES)}")
    # The files that make a model complete belong to exports, which know the library.
    from sysid_ros.exports import ASSETS, StartState, write_model

    start = None if start_state is None else StartState.of(spec, start_state)
    try:
        with tempfile.TemporaryDirectory(dir=target.parent, prefix=".model-") as temporary:
            written = write_model(spec, Path(temporary), start_state=start)
            if target.suffix == ".mjb":
                _save_binary(written, target)
                return
            for asset in sorted((written.parent / ASSETS).glob("*")):
                _copy_asset(asset, target.parent / ASSETS / asset.name)
            with replacing(target) as stream:
                stream.write(written.read_bytes())
    except OSError as error:
        raise OutputError(f"cannot write {target}: {error.strerror}") from error


def _save_binary(xml: Path, target: Path) -> None:
    with replacing(target) as stream:
        stream.write(model_content(mujoco.MjModel.from_xml_path(str(xml))))


def _copy_asset(asset: Path, target: Path) -> None:
    content = asset.read_bytes()
    if target.exists() and target.read_bytes() != content:
        raise OutputError(
            f"{target} exists with other content; models of one folder cannot have different "
            "files of the same name"
        )
    target.parent.mkdir(exist_ok=True)
    with replacing(target) as stream:
        stream.write(content)
