# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The animation is drawn by another process; where it cannot, there is a reason and no harm."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
from outcomes import outcome as synthetic
from PIL import Image

from sysid_ros.exports import MODEL
from sysid_ros.judgement.outcome import SequenceFit, SignalFit
from sysid_ros.pictures import FRAMES_PER_SECOND
from sysid_ros.pictures.animation import HEIGHT, WIDTH
from sysid_ros.report import render_report
from sysid_ros.results.result_folder import VIDEO
from sysid_ros.video import Video, drawing, read_video

ROBOT = """
<mujoco>
  <worldbody>
    <body>
      <joint name="a" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 0 0 -1" size="0.1"{geom}/>
    </body>
  </worldbody>
  <sensor><jointpos name="signal_0" joint="a"/></sensor>
</mujoco>
"""
HANGING = """
<mujoco>
  <worldbody>
    <body>
      <joint name="a" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 0 0 -0.3" size="0.02"/>
      <body pos="0 0 -0.3">
        <joint name="b" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 0 0 -0.2" size="0.02"/>
      </body>
    </body>
  </worldbody>
  <sensor><jointpos name="signal_0" joint="b"/></sensor>
</mujoco>
"""
TRAVELLER = """
<mujoco><worldbody><body><freejoint name="base"/><geom size="0.1"/></body></worldbody></mujoco>
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a result, as far as it is needed."""
    monkeypatch.setenv("MUJOCO_GL", "egl")
    (tmp_path / MODEL).write_text(ROBOT.format(geom=""))
    return tmp_path


def drawn(folder: Path) -> Video:
    with drawing(folder / MODEL, synthetic().sequences) as video:
        return video()


def content_of(video: Video) -> bytes:
    """What was drawn; skips where there is nothing to draw with, and only there."""
    if video.reason.startswith("drawing with MUJOCO_GL=egl failed"):
        pytest.skip(video.reason)
    assert video.content is not None, video.reason
    return video.content


def test_measured_robot_with_both_ghosts(folder: Path) -> None:
    video = drawn(folder)
    content = content_of(video)
    assert read_video(folder) == video
    assert len(content) < 1e6
    with Image.open(io.BytesIO(content)) as animation:
        assert animation.size == (2 * WIDTH, HEIGHT)
        assert animation.n_frames == 4 * FRAMES_PER_SECOND
        pictures = []
        for second in (0, 1, 3):
            animation.seek(second * FRAMES_PER_SECOND)
            pictures.append(np.asarray(animation.convert("RGB"), dtype=float))
    assert np.abs(pictures[0] - pictures[1]).max() > 50.0  # it moves
    left, right = pictures[1][:, :WIDTH], pictures[1][:, WIDTH:]
    orange, blue = (part[..., 0] - part[..., 2] for part in (left, right))
    assert orange.max() > 40.0 and blue.min() < -40.0
    page = render_report(synthetic(), video=video)
    assert "trajectory_02, held out" in page and "There is none" not in page


def test_the_whole_robot_is_seen(folder: Path) -> None:
    (folder / MODEL).write_text(HANGING)
    with Image.open(io.BytesIO(content_of(drawn(folder)))) as animation:
        for index in range(animation.n_frames):
            animation.seek(index)
            picture = np.asarray(animation.convert("RGB"), dtype=float)
            for edge in (picture[0], picture[-1], picture[:, 0], picture[:, -1]):
                assert np.abs(edge - np.median(edge, axis=0)).max() < 20.0  # nothing crosses it


def test_of_more_than_can_be_drawn_some_is(folder: Path) -> None:
    """There is no room for the background either."""
    stones = "".join(
        f'<geom type="box" size=".001 .001 .001" pos="{k % 100} {k // 100} 0" contype="0"/>'
        for k in range(10_000)
    )
    (folder / MODEL).write_text(ROBOT.format(geom="").replace("<body>", f"{stones}<body>"))
    times = np.arange(20) / 100.0
    signal = SignalFit("signal_0", "rad", times, times, times, times)
    with drawing(
        folder / MODEL, [SequenceFit("short", "training", (signal,), np.zeros(1))]
    ) as made:
        video = made()
    assert "index" not in video.reason
    content_of(video)


def test_a_robot_that_travels_is_followed(folder: Path) -> None:
    """Also out of the view that MuJoCo derives from the model's own size."""
    (folder / MODEL).write_text(TRAVELLER)
    times = np.arange(400) / 100.0
    signals = tuple(
        SignalFit(f"base_qpos_position[{k}]", "m", times, *(speed * times + d for d in (0, 0.5, 0)))
        for k, speed in enumerate((30.0, 0.0, 5.0))
    )
    with drawing(folder / MODEL, [SequenceFit("flight", "training", signals, np.zeros(1))]) as made:
        video = made()
    with Image.open(io.BytesIO(content_of(video))) as animation:
        animation.seek(animation.n_frames - 1)
        last = np.asarray(animation.convert("RGB"), dtype=float)
    assert last.std(axis=(0, 1)).max() > 5.0  # there is something to see


def test_a_reason_where_there_is_nothing_to_see(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / MODEL).write_text(ROBOT.format(geom=' group="3"'))
    monkeypatch.setattr("sys.executable", "/none")  # no process is started to find that out
    video = drawn(folder)
    assert video == Video(None, "the model has no visible geoms to draw")
    assert "There is none: the model has no visible geoms" in render_report(
        synthetic(), video=video
    )


def test_a_reason_where_no_joint_is_known(folder: Path) -> None:
    with drawing(folder / MODEL, []) as video:
        assert video().reason == "no measured position is compared with a simulated one"
    (folder / MODEL).write_text(ROBOT.format(geom="").replace("signal_0", "other"))
    assert "no signal is the position" in drawn(folder).reason
    (folder / MODEL).unlink()
    assert "model.xml" in drawn(folder).reason


@pytest.mark.parametrize("library", ["glfw", "osmesa"])
def test_a_reason_where_the_graphics_library_fails(
    folder: Path, monkeypatch: pytest.MonkeyPatch, library: str
) -> None:
    monkeypatch.setenv("MUJOCO_GL", library)
    monkeypatch.setenv("PYOPENGL_PLATFORM", library)
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    video = drawn(folder)
    if video.content is None:  # a machine may have it
        assert video.reason.startswith(f"drawing with MUJOCO_GL={library} failed (")
        assert "libegl1" in video.reason and "\n" not in video.reason
        assert not (folder / VIDEO).exists()


def test_switched_off_and_not_wanted(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with drawing(folder / MODEL, synthetic().sequences, wanted=False) as video:
        assert video().reason == "the fit was stopped early"
    monkeypatch.setenv("MUJOCO_GL", "disabled")
    assert drawn(folder) == Video(None, "MUJOCO_GL switches drawing off")
    assert not (folder / VIDEO).exists()
    assert read_video(folder).content is None


def test_nothing_goes_on_after_an_error(folder: Path) -> None:
    with pytest.raises(RuntimeError), drawing(folder / MODEL, synthetic().sequences):
        raise RuntimeError
    assert not (folder / VIDEO).exists()
