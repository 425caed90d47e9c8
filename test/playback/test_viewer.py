# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The viewer shows two robots, where there is a display, and says so where there is none."""

from __future__ import annotations

import os
import shutil
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import mujoco
import numpy as np
import pytest
from patience import PATIENCE
from pendulum_result import MODEL, write_pendulum_result

from sysid_ros.errors import ErrorCode
from sysid_ros.playback.viewer import draw_ghost

COMMAND = [sys.executable, "-u", "-m", "sysid_ros", "view"]


def test_the_ghost_is_the_robot_translucent() -> None:
    model = mujoco.MjModel.from_xml_string(MODEL)
    data = mujoco.MjData(model)
    scene = mujoco.MjvScene(model, maxgeom=100)
    for angle in (0.3, 0.9):
        data.qpos[0] = angle
        mujoco.mj_forward(model, data)
        draw_ghost(scene, model, data)
        assert scene.ngeom == 2  # drawn anew, not on top of the former
        for i in range(2):
            np.testing.assert_allclose(scene.geoms[i].pos, data.geom_xpos[i], atol=1e-6)
            assert 0.0 < scene.geoms[i].rgba[3] < 1.0


def test_without_a_display_there_is_a_sentence(tmp_path: Path) -> None:
    folder = write_pendulum_result(tmp_path)
    hidden = ("DISPLAY", "WAYLAND_DISPLAY", "XDG_RUNTIME_DIR")
    environment = {name: value for name, value in os.environ.items() if name not in hidden}
    if sys.platform != "linux":
        pytest.skip("elsewhere there is always a display")
    ended = subprocess.run(
        [*COMMAND, str(folder)], env=environment, capture_output=True, text=True, timeout=PATIENCE
    )
    assert ended.returncode == ErrorCode.DATA_UNUSABLE
    assert "there is no display" in ended.stderr
    assert "Traceback" not in ended.stderr


@pytest.fixture
def screen(tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """A virtual display, and the file that holds its picture."""
    server = shutil.which("Xvfb")
    if server is None:
        pytest.skip("no virtual display (apt install xvfb)")
    read, write = os.pipe()
    process = subprocess.Popen(
        [server, "-displayfd", str(write), "-screen", "0", "640x480x24", "-fbdir", str(tmp_path)],
        pass_fds=(write,),
        stderr=subprocess.DEVNULL,
    )
    os.close(write)
    try:
        with os.fdopen(read) as pipe:
            yield f":{pipe.readline().strip()}", tmp_path / "Xvfb_screen0"
    finally:
        process.terminate()
        process.wait()


def picture(file: Path) -> np.ndarray:
    """The pixels of an XWD file, (height, width, 3): red, green, blue."""
    content = file.read_bytes()
    header = struct.unpack(">25I", content[:100])
    width, height, line = header[4], header[5], header[12]
    start = header[0] + 12 * header[19]
    pixels = np.frombuffer(content[start : start + line * height], np.uint8)
    return pixels.reshape(height, line)[:, : 4 * width].reshape(height, width, 4)[:, :, 2::-1]


def test_a_window_shows_both_robots(screen: tuple[str, Path], tmp_path: Path) -> None:
    display, file = screen
    folder = write_pendulum_result(tmp_path / "results")
    process = subprocess.Popen(
        [*COMMAND, str(folder), "--rate", "0.01"],
        env={**os.environ, "DISPLAY": display},
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        deadline = time.monotonic() + PATIENCE
        while True:
            colours = picture(file).astype(int)
            red, blue = colours[:, :, 0], colours[:, :, 2]
            white, bluish = (red > 100) & (abs(blue - red) < 20), blue > red + 40
            if white.sum() > 100 and bluish.sum() > 100:
                break
            assert process.poll() is None, process.communicate()
            assert time.monotonic() < deadline, (white.sum(), bluish.sum())
            time.sleep(0.3)
    finally:
        process.terminate()
        said, _ = process.communicate(timeout=PATIENCE)
    assert "held_out: 2.0 s; solid: measured, translucent: fitted" in said
