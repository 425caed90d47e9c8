"""The animation is drawn by another process, which may fail without harm."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

VIDEO = "video.webp"  # in a result folder

NOTHING_TO_DRAW = 2  # exit status of the process where drawing would work

_REMEDY = "on Debian and Ubuntu, apt install libegl1 libgl1-mesa-dri lets EGL draw without a screen"
_PATIENCE = 60.0  # s; a few pictures take a few seconds even without a graphics card
_OFF = ("disable", "disabled", "off", "false", "0")  # as MuJoCo itself reads MUJOCO_GL


@dataclass(frozen=True)
class Video:
    """An animation as the content of a WebP file, or the reason why there is none."""

    content: bytes | None
    reason: str = ""


@contextmanager
def drawing(folder: Path, *, wanted: bool = True) -> Iterator[Callable[[], Video]]:
    """Draw the animation of a result in the background.

    ``MUJOCO_GL`` says with what, as everywhere in MuJoCo; without it EGL is used, which needs no
    screen. ``MUJOCO_GL=disabled`` draws nothing.

    Args:
      folder: Has the model and the signals; the animation is written into it.
      wanted: Whether there is anything to draw.

    Yields:
      A function that waits for the animation. Without that call nothing of it is left.
    """
    library = os.environ.get("MUJOCO_GL") or "egl"
    if not wanted or library.lower() in _OFF:
        reason = "MUJOCO_GL switches drawing off" if wanted else "the fit was stopped early"
        yield lambda: Video(None, reason)
        return
    process = subprocess.Popen(
        [sys.executable, "-m", "sysid_ros.video", str(folder)],
        env={**os.environ, "MUJOCO_GL": library},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield lambda: _drawn(process, folder, library)
    finally:
        if process.poll() is None:
            process.kill()
            process.communicate()


def _drawn(process: subprocess.Popen[str], folder: Path, library: str) -> Video:
    """Wait for the animation, and take what the process says last as the reason for none."""
    try:
        said = process.communicate(timeout=_PATIENCE)[1].strip().splitlines()
    except subprocess.TimeoutExpired:
        return Video(None, f"drawing took longer than {_PATIENCE:.0f} s")
    if process.returncode == 0:
        return read_video(folder)
    reason = said[-1] if said else f"status {process.returncode}"
    if process.returncode == NOTHING_TO_DRAW:
        return Video(None, reason)
    return Video(None, f"drawing with MUJOCO_GL={library} failed ({reason}); {_REMEDY}")


def read_video(folder: Path) -> Video:
    """The animation that a result folder has."""
    path = folder / VIDEO
    if not path.is_file():
        return Video(None, "it was not drawn when this result was written")
    return Video(path.read_bytes())
