# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Links of a URDF that are drawn into each other do not collide, all others do."""

from __future__ import annotations

import mujoco
import numpy as np

from sysid_ros.robots.source import LoadedModel, model_from_description

_LINK = """<link name="{name}"><inertial><mass value="1"/><inertia ixx=".1" iyy=".1" izz=".1"
  ixy="0" ixz="0" iyz="0"/></inertial><collision><geometry><sphere radius="{radius}"/></geometry>
  </collision></link>"""
_JOINT = """<joint name="{name}" type="{kind}"><parent link="{above}"/><child link="{name}"/>
  <origin xyz="{x} 0 0"/><axis xyz="0 1 0"/>
  <limit lower="{low}" upper="2" effort="1" velocity="1"/></joint>"""
# From the base in the world: next to it, between two, a far one, and one that limits keep away.
PLACES = (
    ("thigh", "base", 0.0999, 0.05, -2.0),
    ("knee", "thigh", 0.05, 0.01, -2.0),
    ("shank", "knee", 0.04, 0.05, -2.0),
    ("foot", "shank", 0.19, 0.05, -2.0),
)


Place = tuple[str, str, float, float, float]


def robot(places: tuple[Place, ...] = PLACES, *, kind: str = "revolute") -> LoadedModel:
    parts = [_LINK.format(name="base", radius=0.05)]
    for name, above, x, radius, low in places:
        parts.append(_LINK.format(name=name, radius=radius))
        parts.append(_JOINT.format(name=name, above=above, x=x, low=low, kind=kind))
    return model_from_description(f'<robot name="r">{"".join(parts)}</robot>', "text")


def test_links_that_overlap_as_drawn_do_not_collide() -> None:
    loaded = robot()
    assert {(one.bodyname1, one.bodyname2) for one in loaded.spec.excludes} == {
        ("base", "thigh"),  # a tenth of a millimetre, but the base stands still
        ("thigh", "shank"),
    }
    (warning,) = loaded.warnings  # neighbours overlap in every bearing, of which nothing is said
    assert warning.endswith("do not collide with each other: thigh and shank by 10 mm.")
    model = loaded.spec.compile()
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    assert data.ncon == 0


def test_others_still_collide_and_nothing_is_said_of_them() -> None:
    model = robot().spec.compile()
    data = mujoco.MjData(model)
    data.qpos[2] = np.pi  # the shank turns: the foot comes back onto the base
    mujoco.mj_forward(model, data)
    assert data.ncon > 0


def test_a_link_may_come_near_the_base_that_carries_it() -> None:
    _, *others = PLACES
    far = robot((("thigh", "base", 0.2, 0.05, -2.0), *others))  # nothing touches as it is drawn
    assert ("base", "thigh") in {(one.bodyname1, one.bodyname2) for one in far.spec.excludes}
    assert "base" not in " ".join(far.warnings)
