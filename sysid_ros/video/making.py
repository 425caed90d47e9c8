# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The animation is drawn by another process, which may fail without harm."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

import mujoco
import numpy as np

from sysid_ros.errors import DataError
from sysid_ros.files import read_regular
from sysid_ros.judgement import SequenceFit
from sysid_ros.pictures import NOTHING_TO_DRAW, Poses, check_drawable
from sysid_ros.processes import return_freed_memory
from sysid_ros.results import VIDEO
from sysid_ros.video.poses import poses, telling_stretch

_REMEDY = "on Debian and Ubuntu, apt install libegl1 libgl1-mesa-dri lets EGL draw without a screen"
_LARGEST = 64 << 20  # bytes of an animation; ours have a hundredth of that
_PATIENCE = 60.0  # s; a few pictures take a few seconds even without a graphics card
# Of Mesa, where there is no graphics card: small pictures, which threads only wait for.
_ONE_THREAD = {"LP_NUM_THREADS": "1"}
_MODEL, _POSES = "model.mjb", "poses.npz"  # what is drawn
_SWITCHED_OFF = "MUJOCO_GL switches drawing off"
_OFF = ("disable", "disabled", "off", "false", "0")  # as MuJoCo itself reads MUJOCO_GL


@dataclass(frozen=True)
class Video:
    """An animation as the content of a WebP file, or the reason why there is none."""

    content: bytes | None
    reason: str = ""


@contextmanager
def drawing(
    model: Path, sequences: Sequence[SequenceFit], *, wanted: bool = True
) -> Iterator[Callable[[], Video]]:
    """Draw the animation of a result in the background.

    ``MUJOCO_GL`` says with what, as everywhere in MuJoCo; without it EGL is used, which needs no
    screen. ``MUJOCO_GL=disabled`` draws nothing.

    Args:
      model: The identified model's file; the animation is written beside it.
      sequences: What was scored.
      wanted: Whether to draw at all.

    Yields:
      A function that waits for the animation. Without that call nothing of it is left.
    """
    with tempfile.TemporaryDirectory(prefix="sysid_ros_") as scratch:
        scene = Path(scratch)
        reason = _set_up(scene, model, sequences) if wanted else "the fit was stopped early"
        with _drawing(scene, model.parent / VIDEO, reason) as video:
            yield video


@contextmanager
def drawing_poses(
    model: mujoco.MjModel, shown: Poses, folder: Path
) -> Iterator[Callable[[], Video]]:
    """Draw an animation of a model's poses into a folder in the background, see :func:`drawing`."""
    with tempfile.TemporaryDirectory(prefix="sysid_ros_") as scratch:
        _write_scene(Path(scratch), model, shown)
        with _drawing(Path(scratch), folder / VIDEO, "") as video:
            yield video


def _set_up(scene: Path, model: Path, sequences: Sequence[SequenceFit]) -> str:
    """Write what the process draws into a folder; the reason where there is nothing, or empty."""
    if (os.environ.get("MUJOCO_GL") or "").lower() in _OFF:
        return _SWITCHED_OFF
    stretch = telling_stretch(sequences)
    if stretch is None:
        return "no measured position is compared with a simulated one"
    try:
        compiled = mujoco.MjModel.from_xml_path(str(model))
        check_drawable(compiled)  # before a process is started for nothing
        _write_scene(scene, compiled, poses(compiled, sequences[stretch.sequence], stretch))
    except (DataError, ValueError) as error:
        return str(error)
    return ""


def _write_scene(scene: Path, model: mujoco.MjModel, shown: Poses) -> None:
    """Write a model as it is compiled, which takes a second where it has meshes, and its poses."""
    mujoco.mj_saveModel(model, str(scene / _MODEL), None)
    given = {name: each for name, each in asdict(shown).items() if each is not None}
    np.savez(scene / _POSES, **given)


@contextmanager
def _drawing(scene: Path, video: Path, reason: str) -> Iterator[Callable[[], Video]]:
    """Draw what is in a folder, unless there is a reason not to."""
    library = os.environ.get("MUJOCO_GL") or "egl"
    if library.lower() in _OFF:
        reason = reason or _SWITCHED_OFF
    if reason:
        yield lambda: Video(None, reason)
        return
    return_freed_memory()  # the model with all its meshes is loaded by that process as well
    files = [str(scene / _MODEL), str(scene / _POSES), str(video)]
    process = subprocess.Popen(
        [sys.executable, "-m", "sysid_ros.pictures", *files],
        env={**_ONE_THREAD, **os.environ, "MUJOCO_GL": library},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield lambda: _drawn(process, video, library)
    finally:
        if process.poll() is None:
            process.kill()
            process.communicate()
        video.with_suffix(".part").unlink(missing_ok=True)


def _drawn(process: subprocess.Popen[str], video: Path, library: str) -> Video:
    """Wait for the animation, and take what the process says last as the reason for none."""
    try:
        said = process.communicate(timeout=_PATIENCE)[1].strip().splitlines()
    except subprocess.TimeoutExpired:
        return Video(None, f"drawing took longer than {_PATIENCE:.0f} s")
    if process.returncode == 0:
        return read_video(video.parent)
    reason = said[-1] if said else f"status {process.returncode}"
    if process.returncode == NOTHING_TO_DRAW:
        return Video(None, reason)
    return Video(None, f"drawing with MUJOCO_GL={library} failed ({reason}); {_REMEDY}")


def read_video(folder: Path) -> Video:
    """The animation that a result folder has."""
    path = folder / VIDEO
    if not path.is_file():
        return Video(None, "it was not drawn when this result was written")
    try:
        return Video(read_regular(path, _LARGEST))
    except OSError as error:
        return Video(None, f"{path} cannot be read: {error.strerror}")
