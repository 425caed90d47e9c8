# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""QoS files as rosbag2 takes them."""

from __future__ import annotations

from pathlib import Path

import pytest

from sysid_ros.errors import ExperimentError
from sysid_ros.nodes.recorder.qos_overrides import QosOverride, read_qos_overrides


def written(folder: Path, text: str) -> Path:
    path = folder / "qos.yaml"
    path.write_text(text)
    return path


def test_policies_are_read(tmp_path: Path):
    text = """
/imu:
  reliability: best_effort
  history: keep_last
  depth: 50
  deadline: {sec: 1, nsec: 0}
/tf_static: {durability: transient_local}
"""
    assert read_qos_overrides(written(tmp_path, text)) == {
        "/imu": QosOverride("best_effort", None, "keep_last", 50),
        "/tf_static": QosOverride(durability="transient_local"),
    }


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("/imu: {reliabilty: reliable}", "reliability"),
        ("/imu: {reliability: maybe}", "valid: reliable, best_effort"),
        ("/imu: {depth: 0}", "positive integer, given 0"),
        ("/imu: reliable", "give policies"),
        ("[1, 2]", "must map topics"),
        ("{", "cannot be read"),
    ],
)
def test_mistakes_are_named(tmp_path: Path, text: str, complaint: str):
    with pytest.raises(ExperimentError, match=complaint):
        read_qos_overrides(written(tmp_path, text))


def test_missing_file_is_named(tmp_path: Path):
    with pytest.raises(ExperimentError, match=r"nowhere\.yaml"):
        read_qos_overrides(tmp_path / "nowhere.yaml")
