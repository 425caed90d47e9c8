# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Names that mean the same joint."""

from __future__ import annotations

import pytest

from sysid_ros.proposal.signals import names
from sysid_ros.proposal.signals.names import Match, match_names, similarity


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("elbow", "elbow"),
        ("elbow", "elbow_joint"),
        ("robot/elbow_joint", "elbow"),
        ("left_elbow_pos", "LeftElbow"),
        ("joint_1", "Joint1"),
        ("j01", "joint_1"),
        ("elbow/position", "elbow"),
        ("arm/elbow/effort", "elbow_joint"),
        ("fins_id_0", "fin_0"),
    ],
)
def test_the_same_joint_is_sure(one: str, other: str) -> None:
    assert similarity(one, other) >= 0.9


@pytest.mark.parametrize(
    ("one", "other"), [("joint_1", "joint_2"), ("shoulder", "gripper"), ("elbow", "")]
)
def test_different_joints_never_match(one: str, other: str) -> None:
    assert match_names([one], [other]) == {}


def test_each_name_is_used_once() -> None:
    matches = match_names(["arm_1", "arm_2"], ["arm_2_joint", "arm_1_joint", "gripper"])
    assert {name: match.index for name, match in matches.items()} == {"arm_1": 1, "arm_2": 0}
    assert all(match.sure for match in matches.values())


@pytest.mark.parametrize("one", ["wheels", "lens", "left_fins"])
def test_a_plural_is_not_the_singular_where_both_are_there(one: str) -> None:
    wanted, given = [f"{one[:-1]}_joint", f"{one}_joint"], [one, one[:-1]]
    for first, second in (wanted, wanted[::-1]):
        found = match_names([first, second], given)
        assert {name: given[match.index] for name, match in found.items()} == {
            wanted[0]: one[:-1],
            wanted[1]: one,
        }


def test_a_prefix_that_all_names_have_is_no_doubt() -> None:
    given = ["left_arm_elbow_joint", "left_arm_wrist_joint", "left_gripper"]
    found = match_names(["elbow", "wrist"], given)
    assert {name: (match.index, match.sure) for name, match in found.items()} == {
        "elbow": (0, True),
        "wrist": (1, True),
    }
    two_arms = [*given, "right_arm_elbow_joint", "right_arm_wrist_joint"]
    assert not any(match.sure for match in match_names(["elbow", "wrist"], two_arms).values())


def test_a_prefix_with_a_number_is_a_prefix() -> None:
    joints = [f"joint_{k}" for k in range(1, 4)]
    given = [f"panda1_joint{k}" for k in (3, 1, 2)] + ["panda1_finger_joint1"]
    found = match_names(joints, given)
    assert {name: (match.index, match.sure) for name, match in found.items()} == {
        "joint_1": (1, True),
        "joint_2": (2, True),
        "joint_3": (0, True),
    }
    reverse = match_names(["ur5e_elbow_joint", "ur5e_wrist_joint"], ["wrist_joint", "elbow_joint"])
    assert {name: (match.index, match.sure) for name, match in reverse.items()} == {
        "ur5e_elbow_joint": (1, True),
        "ur5e_wrist_joint": (0, True),
    }


def test_joints_of_two_robots_in_one_message_are_not_mixed() -> None:
    given = ["left/joint_1", "right/joint_2", "right/joint_1", "left/joint_2"]
    found = match_names(["joint_1", "joint_2"], given)
    assert [found[name].index for name in ("joint_1", "joint_2")] in ([0, 3], [2, 1])
    assert not any(match.sure for match in found.values())


def test_names_that_are_all_there_are_not_compared_with_each_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(names, "similarity", lambda *_: pytest.fail("compared"))
    wanted = [f"joint_{k}" for k in range(48)]
    found = match_names(wanted, ["extra", *reversed(wanted)])
    assert found == {name: Match(48 - k, sure=True) for k, name in enumerate(wanted)}


LEGS = [f"{leg}_{joint}" for leg in ("fl", "hr") for joint in ("hx", "kn")]
SPELLED = [f"{leg}_{joint}" for leg in ("front_left", "rear_right") for joint in ("hip_x", "knee")]


def test_abbreviations_of_several_names_are_sure() -> None:
    """As Menagerie's Spot has them, and its driver."""
    for wanted, given in ((LEGS, SPELLED[::-1]), (SPELLED, LEGS[::-1])):
        found = match_names(wanted, given)
        expected = {name: Match(3 - place, sure=True) for place, name in enumerate(wanted)}
        assert found == expected


@pytest.mark.parametrize(("wanted", "given"), [
    (["pan", "tilt"], ["panda", "tilted_mast"]),  # of one word, and alone
    (["f_wheel", "b_arm"], ["front_wheel", "fixed_wheel", "back_arm"]),  # of two, and alone
])  # fmt: skip
def test_an_abbreviation_that_could_be_chance_is_not(wanted: list[str], given: list[str]) -> None:
    assert not any(match.sure for match in match_names(wanted, given).values())


def test_a_name_that_is_surely_ones_is_not_anothers_that_is_similar() -> None:
    """As of a controller of the left arm, whose state has each joint's name twice."""
    left, right = (["left_elbow_joint", "left_wrist_joint"], ["right_elbow_joint", "right_wrist_j"])
    found = match_names([*left, *right], [*left, *left])
    assert {name: match.sure for name, match in found.items()} == dict.fromkeys(left, True)
    assert match_names(right, ["right_elbow_jnt", "rite_wrist_j"])["right_wrist_j"].index == 1


def test_names_of_one_robot_are_surely_none_of_two_in_the_model() -> None:
    joints = [f"{arm}/{joint}" for arm in ("left_arm", "right_arm") for joint in ("elbow", "wrist")]
    found = match_names(joints, ["elbow", "wrist"])
    assert len(found) == 2 and not any(match.sure for match in found.values())
    assert all(match.sure for match in match_names(joints[:2], ["elbow", "wrist"]).values())
