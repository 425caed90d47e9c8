# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Images, which the middleware's default does not hold, are recorded with the profile for them."""

from __future__ import annotations

from pathlib import Path

import pytest
from warm_start import WarmProcesses

from benchmark import capture
from benchmark.capture import run

PROFILE = Path(__file__).parents[2] / "config" / "large_messages.xml"
COUNT, RATE = 30, 10.0


def test_images_arrive_whole_and_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(capture, "ChildProcesses", WarmProcesses)
    monkeypatch.delenv("FASTDDS_BUILTIN_TRANSPORTS", raising=False)
    monkeypatch.setenv("FASTDDS_DEFAULT_PROFILES_FILE", str(PROFILE))
    # A queue that holds all of them: how busy the machine is makes no difference.
    found = run(tmp_path, duration=COUNT / RATE, depth=2 * COUNT, images=(RATE, 2.0))
    (images,) = found.topics.values()
    assert (images.sent, images.recorded, images.said_lost) == (COUNT + 1, COUNT + 1, 0)
    assert found.megabytes > 2.0 * COUNT
