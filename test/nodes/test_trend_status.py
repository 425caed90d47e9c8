# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Trends over days reach diagnostics with the levels that were found."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from robot_days import robot

from sysid_ros.files import write_json
from sysid_ros.trend import trend_document, trends

pytest.importorskip("rclpy", reason="the messages need ROS 2 (rclpy)")

from diagnostic_msgs.msg import DiagnosticStatus  # after the skip

from sysid_ros.nodes.estimator.trend_status import TrendStatus


def written(file: Path, limit: float | None, *, change: float = 0.2) -> None:
    results = robot(np.random.default_rng(8), change=change, scatter=0.01, error=0.01, parameters=3)
    write_json(file, trend_document(trends(results, limit), results, limit, None))


def levels(found: list[DiagnosticStatus]) -> list[bytes]:
    return [one.level for one in found]


def test_each_parameter_has_the_level_of_its_trend(tmp_path: Path) -> None:
    file, ok = tmp_path / "trend.json", DiagnosticStatus.OK
    written(file, None)
    status = TrendStatus("estimator", file)
    found = status.statuses()
    assert found[0].name == "estimator: trend of joint0_friction"
    assert levels(found) == [DiagnosticStatus.WARN, ok, ok]
    assert "%" in found[0].message and float(found[0].values[0].value) > 10.0
    written(file, 10.0)  # a later look at the same robot
    assert levels(status.statuses()) == [DiagnosticStatus.ERROR, ok, ok]
    assert "the limit is 10 %" in status.statuses()[0].message


def test_a_file_of_equal_size_and_date_is_read_again(tmp_path: Path) -> None:
    file, ok = tmp_path / "trend.json", DiagnosticStatus.OK
    written(file, None)
    status, before = TrendStatus("estimator", file), file.stat()
    assert levels(status.statuses()) == [DiagnosticStatus.WARN, ok, ok]
    file.write_text(file.read_text().replace('"WARN"', '"OK"  '), encoding="utf-8")
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert file.stat().st_size == before.st_size
    assert levels(status.statuses()) == [ok, ok, ok]


def test_too_few_results_are_no_fault(tmp_path: Path) -> None:
    file = tmp_path / "trend.json"
    results = robot(np.random.default_rng(8), days=2, parameters=2)
    write_json(file, trend_document(trends(results), results, None, None))
    assert levels(TrendStatus("estimator", file).statuses()) == [DiagnosticStatus.OK] * 2


@pytest.mark.parametrize("text", [None, "", "[]", '{"parameters": {"a": {"level": "BAD"}}}'])
def test_a_file_that_is_none_is_said(tmp_path: Path, text: str | None) -> None:
    file = tmp_path / "trend.json"
    if text is not None:
        file.write_text(text, encoding="utf-8")
    status = TrendStatus("estimator", file)
    (found,) = status.statuses()
    assert found.level == DiagnosticStatus.WARN and "trend.json" in found.message
    written(file, None)
    assert len(status.statuses()) == 3
