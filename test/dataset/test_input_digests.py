# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Digests differ where a fit would, and nowhere else."""

from __future__ import annotations

from pathlib import Path

from sysid_ros.dataset import setting_digests
from sysid_ros.experiment import parse_experiment


def test_conditions_count_whatever_their_names_are(tmp_path: Path) -> None:
    text = """model: arm.xml
sequences: [{bag: a, conditions: {motion: slow}}, {bag: b, conditions: {motion: fast}}]
signals: [{sensor: angle, topic: /a, field: x}]
parameters: [{joint: a, damping: {max: 1.0}}]
validation: {condition: {motion: slow}}
"""
    texts = (text, text.replace("condition: {motion: slow}", "condition: {motion: fast}"))
    slow, fast = (setting_digests(parse_experiment(t, path=tmp_path / "e.yaml")) for t in texts)
    assert [key for key in slow if slow[key] != fast[key]] == ["the setting validation"]


def test_where_a_setting_stands_does_not_count(tmp_path: Path) -> None:
    text = """model: arm.xml
sequences: [{bag: a}]
signals: [{sensor: angle, topic: /a, field: x}]
parameters: [{joint: a, damping: {max: 1.0}}]
"""
    here = setting_digests(parse_experiment(text, path=tmp_path / "e.yaml"))
    assert here == setting_digests(parse_experiment(f"\n{text}", path=tmp_path / "moved.yaml"))
