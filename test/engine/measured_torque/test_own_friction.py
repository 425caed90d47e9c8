# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""MuJoCo's own law of dry friction, whose range of velocities follows from what is fitted."""

from __future__ import annotations

import mujoco
import pytest
from torque_arm import true_spec

from sysid_ros.engine.measured_torque.own_friction import is_same_law


@pytest.mark.parametrize("attribute", ["frictionloss", "armature"])
def test_friction_and_the_inertia_it_works_against_make_another_law(attribute: str) -> None:
    spec = true_spec()
    before = spec.compile()
    assert is_same_law(before, spec.compile())
    joint = spec.joints[-1]
    setattr(joint, attribute, 1.1 * getattr(joint, attribute))
    assert not is_same_law(before, spec.compile())


def test_damping_leaves_the_law_as_it_is() -> None:
    spec = true_spec()
    before = spec.compile()
    spec.joints[0].damping = 2.0 * spec.joints[0].damping
    assert is_same_law(before, mujoco.MjSpec.from_string(spec.to_xml()).compile())
