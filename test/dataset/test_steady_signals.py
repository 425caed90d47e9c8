# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Encoders of joints that rest are told from dead ones by what else moves, and when."""

from __future__ import annotations

import numpy as np
import pytest

from sysid_ros.dataset.steady_signals import check_steady_signals
from sysid_ros.errors import DataError
from sysid_ros.recording.mapping.mapped_recording import MappedRecording, MappedSignal
from sysid_ros.recording.mapping.mapping_settings import SignalKind

TIMES = np.arange(0.0, 1.0, 0.1)


def recording(name: str, **moves: bool) -> MappedRecording:
    """Positions of joints, and whether each one moves."""
    measured = [
        MappedSignal(SignalKind.QPOS, joint, TIMES, TIMES, held=False, noise=None, steady=said)
        for joint, live in moves.items()
        for said in ["" if live else f"qpos {joint!r} is constant"]
    ]
    return MappedRecording(name, 0, 1.0, (), tuple(measured))


def test_joints_that_are_moved_one_by_one_rest_meanwhile() -> None:
    check_steady_signals(
        [recording("a", hip=True, knee=False), recording("b", hip=False, knee=True)]
    )


@pytest.mark.parametrize(
    "recordings",
    [
        [recording("a", hip=True, knee=False), recording("b", hip=True, knee=False)],  # never moves
        [
            recording("a", hip=False, knee=False),
            recording("b", hip=True, knee=True),
        ],  # nothing does
        [recording("a", hip=False), recording("b", hip=True)],
    ],
)
def test_a_signal_that_is_dead_is_refused_with_its_recording(
    recordings: list[MappedRecording],
) -> None:
    with pytest.raises(DataError, match=r"a: qpos '(hip|knee)' is constant"):
        check_steady_signals(recordings)


def test_one_that_moves_only_in_what_is_held_out_is_dead_in_what_is_fitted() -> None:
    one, other = recording("a", hip=True, knee=False), recording("b", hip=False, knee=True)
    with pytest.raises(DataError, match="a: qpos 'knee' is constant"):
        check_steady_signals([one], [other])
    check_steady_signals([one, other], [recording("c", hip=True, knee=False)])
