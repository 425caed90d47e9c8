# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Fixed tendons: those whose length is linear in joint positions."""

from __future__ import annotations

from typing import Any

import mujoco

_JOINT = int(mujoco.mjtWrap.mjWRAP_JOINT)


def fixed_tendons(model: Any) -> list[int]:
    """The numbers of the tendons that are linear in joint positions."""
    return [t for t in range(model.ntendon) if int(model.wrap_type[model.tendon_adr[t]]) == _JOINT]


def joints_of_tendon(model: Any, tendon: int) -> dict[int, float]:
    """The joints of a fixed tendon by number, with their coefficients; none of another tendon."""
    first, found = int(model.tendon_adr[tendon]), dict[int, float]()
    for wrap in range(first, first + int(model.tendon_num[tendon])):
        if int(model.wrap_type[wrap]) == _JOINT:
            joint = int(model.wrap_objid[wrap])
            found[joint] = found.get(joint, 0.0) + float(model.wrap_prm[wrap])
    return found
