# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The benchmark of reading runs, and what it measures keeps its bounds."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from rosbags.rosbag2 import StoragePlugin

from benchmark import ingest


def test_the_benchmark_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ingest, "RESULTS", tmp_path / "results")
    arguments = ["--messages", "200", "--repetitions", "1", "--gigabytes", "0.0002"]
    monkeypatch.setattr(sys, "argv", ["ingest", *arguments, "--folder", str(tmp_path)])
    assert ingest.main() == 0
    found = json.loads((tmp_path / "results" / "ingest.json").read_text())
    assert [case["joints"] for case in found["speed"]] == [7, 7, 29, 29]
    assert len(found["memory"]) == 4


@pytest.mark.slow
def test_memory_does_not_grow_with_what_is_not_mapped(tmp_path: Path) -> None:
    peaks = []
    for messages in (2_000, 200_000):  # 250 MB
        bag = tmp_path / str(messages)
        ingest.write_bag(bag, 29, messages, StoragePlugin.MCAP)
        peaks.append(ingest.peak(["info", str(bag)])[0])
    assert peaks[1] - peaks[0] < 60.0  # MiB
