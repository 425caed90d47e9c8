# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Mistakes planted into generated recordings are found, and none where there are none."""

from __future__ import annotations

from dataclasses import replace

import pytest
from planted_mistakes import Mistake, Recordings, checked, pairs, recordings, singles
from robot_kinds import servo_arm
from robot_matrix import based_model
from robot_to_try import ARM_PLAN, hidden

from sysid_ros.diagnosis import FindingKind


@pytest.fixture(scope="module")
def arm(tmp_path_factory: pytest.TempPathFactory) -> Recordings:
    """A servo arm of three joints with other friction than its model."""
    spec = servo_arm()
    plan = replace(ARM_PLAN, truth=hidden(based_model(spec, ARM_PLAN), 3))
    return recordings(spec, plan, tmp_path_factory.mktemp("arm"))


def missed(robot: Recordings, mistakes: list[Mistake]) -> list[str]:
    """Sentences about mistakes that are not told as they are."""
    found = []
    for one in mistakes:
        told = checked(robot, one.signals, late=one.late)
        if not one.is_told(told):
            found.append(f"{one.expected}: {[(f.kind.value, f.signals) for f in told]}")
    return found


def test_no_mistake_is_found_where_there_is_none(arm: Recordings) -> None:
    assert checked(arm, arm.signals, late=False) == ()


@pytest.mark.parametrize("kind", [FindingKind.SIGN, FindingKind.SWAP, FindingKind.LAG])
def test_a_planted_mistake_is_found(arm: Recordings, kind: FindingKind) -> None:
    one = [one for one in singles(arm) if one.expected[0][0] is kind][-1:]
    assert missed(arm, one) == []


@pytest.mark.slow
def test_every_planted_mistake_and_every_pair_is_found(arm: Recordings) -> None:
    mistakes = [*singles(arm), *pairs(arm)]
    wrong = missed(arm, mistakes)
    print(f"{len(mistakes) - len(wrong)} of {len(mistakes)} found")
    assert wrong == []
