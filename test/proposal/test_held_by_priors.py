# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Friction and armature on which hangs what is free of a joint are not taken for certain."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sysid_ros.proposal.candidate import Candidate
from sysid_ros.proposal.held_by_priors import chosen


def of_joint(attribute: str, joint: str = "finger", *, on_demand: bool = False) -> Candidate:
    return Candidate(
        element="joint",
        name=joint,
        attribute=attribute,
        low=0.0,
        high=10.0,
        typical=0.2,
        on_demand=on_demand,
    )


@pytest.mark.parametrize(
    ("determined", "priors"),
    [
        ("damping armature", {"frictionloss": 0.2, "damping": None, "armature": None}),
        ("armature", {"frictionloss": 0.2, "armature": None}),
        ("frictionloss damping armature", dict.fromkeys(("frictionloss", "damping", "armature"))),
        ("frictionloss", {"frictionloss": None, "armature": 0.2}),
        ("damping", {"frictionloss": 0.2, "damping": None, "armature": 0.2}),
        ("", {}),
    ],
)
def test_friction_and_armature_that_others_hang_on_are_held_by_priors(
    determined: str, priors: dict[str, float | None]
) -> None:
    offered = [of_joint(attribute) for attribute in ("frictionloss", "damping", "armature")]
    kept, dropped = chosen(offered, [one.attribute in determined.split() for one in offered])
    assert {one.attribute: one.std for one in kept} == priors
    assert {one.attribute for one in kept}.isdisjoint(one.attribute for one in dropped)
    assert len(kept) + len(dropped) == 3


@pytest.mark.parametrize(("model_has", "std"), [(True, 0.2), (False, 5.0)])
def test_a_prior_is_as_wide_as_the_guess_that_it_hangs_on(*, model_has: bool, std: float) -> None:
    # Rotors behind gears have armatures of decades; with a usual size as its prior, of 51 intervals
    # of twelve wheels under servos whose gains nobody knew 7 held the truth.
    armature = replace(of_joint("armature"), initial=None if model_has else 0.04)
    kept, _ = chosen([of_joint("damping"), armature], [True, False])
    assert [(one.attribute, one.std) for one in kept] == [("damping", None), ("armature", std)]
    assert model_has or 2.0 * std >= armature.high


def test_what_a_model_lacks_and_what_other_joints_have_stay_as_they_are() -> None:
    offered = [
        of_joint("frictionloss", on_demand=True),
        of_joint("armature"),
        of_joint("frictionloss", "wrist"),
    ]
    kept, dropped = chosen(offered, [False, True, False])
    assert kept == (offered[1],)
    assert dropped == (offered[0], offered[2])


def test_a_delay_that_slow_motion_does_not_tell_from_damping_has_a_prior() -> None:
    delay = Candidate(
        element="signal", name="/commands", attribute="delay", low=0.0, high=0.1, typical=0.01,
        initial=0.01, shared=True,
    )  # fmt: skip
    kept, _ = chosen([of_joint("damping"), delay], [True, False])
    assert [(one.attribute, one.std) for one in kept] == [("damping", None), ("delay", 0.01)]
    assert chosen([of_joint("damping"), delay], [False, False])[0] == ()
