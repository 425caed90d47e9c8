# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A motor that turns with two joints, as in many wrists, as a fixed tendon."""

from __future__ import annotations

import mujoco

from sysid_ros.errors import ModelError, unknown_name

TENDON_ATTRIBUTES = ("armature", "damping", "frictionloss")


def coupling_name(joint: str, other: str) -> str:
    """The name of the tendon that stands for the motor."""
    return f"{joint}_with_{other}"


def with_coupling(spec: mujoco.MjSpec, joint: str, other: str, ratio: float = 1.0) -> mujoco.MjSpec:
    """A copy of a specification with a fixed tendon of length joint + ratio * other.

    The rotor's inertia and the friction of its bearings and gear act along the tendon, that is on
    both joints. They are zero in the copy.

    Args:
      spec: Left as it is.
      joint: That the motor drives.
      other: That turns the motor as well.
      ratio: Of the motor's turns.

    Raises:
      ModelError: There is no such joint, or a tendon of that name already.
    """
    copy = spec.copy()
    names = [one.name for one in copy.joints]
    for name in (joint, other):
        if name not in names:
            raise ModelError(f"couplings: {unknown_name('joint', name, names)}")
    own = coupling_name(joint, other)
    if own in [tendon.name for tendon in copy.tendons]:
        raise ModelError(f"couplings: the model has a tendon {own!r} already")
    tendon = copy.add_tendon(name=own)
    tendon.wrap_joint(joint, 1.0)
    tendon.wrap_joint(other, ratio)
    return copy
