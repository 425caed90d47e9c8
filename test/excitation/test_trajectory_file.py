# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Trajectory files: read strictly, straight between rows, with corners a joint can follow."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sysid_ros.excitation import ExcitationError, TabulatedReference, read_trajectory

JOINTS = ("shoulder", "elbow")


def test_trajectory_file_is_read_and_interpolated(tmp_path: Path):
    path = tmp_path / "motion.csv"
    path.write_text("time,elbow,shoulder\n5.0,1,0\n6.0,1,1\n7.0,3,1\n")
    reference = read_trajectory(path).reference(JOINTS, np.full(2, 10.0))
    assert reference.joints == JOINTS
    assert reference.duration == 2.0
    values = reference.values(np.array([0.5, 1.5]))
    np.testing.assert_allclose(values, [[0.5, 1.0], [1.0, 2.0]])


@given(
    rows=st.lists(st.floats(-1.0, 1.0), min_size=3, max_size=12),
    apart=st.floats(0.2, 2.0),
    spare=st.floats(1.0, 10.0),
)
def test_corners_are_blended_at_the_acceleration_limit(rows, apart, spare):
    times = apart * np.arange(len(rows))
    table = np.array(rows)[:, None]
    slopes = np.diff(table[:, 0]) / apart
    turns = np.abs(np.diff(slopes))
    limit = spare * max(turns.max() / apart, 1.0)
    reference = TabulatedReference(("a",), times, table, np.full(1, limit))
    fine = 1e-3
    values = reference.values(np.arange(0.0, times[-1], fine))[:, 0]
    turning = np.abs(np.diff(values, 2)) / fine**2
    assert turning.max(initial=0.0) <= limit * 1.001 + 1e-6
    aside = np.abs(reference.values(times[1:-1])[:, 0] - table[1:-1, 0])
    np.testing.assert_allclose(aside, turns**2 / (8.0 * limit), atol=1e-9)


def test_corners_too_sharp_for_the_rows_are_refused():
    table = np.array([[0.0], [0.1], [0.0], [0.1]])
    with pytest.raises(ExcitationError, match=r"'a' around 0\.01 s.*of 2000, above 30 \(0\.8"):
        TabulatedReference(("a",), 0.01 * np.arange(4.0), table, np.full(1, 30.0))


def test_trajectory_of_other_joints_is_refused(tmp_path: Path):
    path = tmp_path / "motion.csv"
    path.write_text("time,wrist,elbow\n0,0,1\n1,1,1\n")
    with pytest.raises(ExcitationError, match="moves wrist, elbow; parameter joints names shou"):
        read_trajectory(path).reference(JOINTS, np.ones(2))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "needs a first line"),
        ("t,a\n0,1\n1,2\n", "needs a first line"),
        ("time,a\n0,1\n1,x\n", "not a table of numbers"),
        ("time,a\n0,1\n1\n", "not a table of numbers"),
        ("time,a\n0,1\n1,nan\n", "finite numbers"),
        ("time,a\n0,1\n0,2\n", "times must increase"),
    ],
)
def test_bad_trajectory_file_is_refused_with_its_name(tmp_path: Path, text: str, words: str):
    path = tmp_path / "motion.csv"
    path.write_text(text)
    with pytest.raises(ExcitationError, match=words) as caught:
        read_trajectory(path)
    assert "motion.csv" in str(caught.value)


def test_missing_trajectory_file_is_refused(tmp_path: Path):
    with pytest.raises(ExcitationError, match="cannot be read"):
        read_trajectory(tmp_path / "absent.csv")
