# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Bodies touch where MuJoCo pushes them apart, which may be before they meet."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from sysid_ros.engine.windows import drawn_overlaps, pushed, touches_at

LIFT = """<mujoco><worldbody><geom type="plane" size="1 1 1"/><body name="lift" pos="0 0 .1">
  <joint name="height" type="slide" axis="0 0 1"/><geom size=".1" margin="{margin}"/></body>
  </worldbody></mujoco>"""


@pytest.mark.parametrize(
    ("margin", "within", "touching"),
    [(0.0, 0.0, [True, False, False]), (2e-3, 0.0, [True, True, False]),
     (0.0, 2e-3, [True, True, False]), (2e-3, 2e-3, [True, True, True])],
)  # fmt: skip
def test_a_margin_touches_as_a_surface_does(
    margin: float, within: float, touching: list[bool]
) -> None:
    model = mujoco.MjModel.from_xml_string(LIFT.format(margin=margin))
    heights = np.array([[-1e-4], [1e-3], [3e-3]])
    seen = touches_at(model, np.arange(3.0), heights, base_is_known=True, within=within)
    assert [bool(pairs) for pairs in seen.pairs()] == touching
    assert seen.depths[0][0, 1] == pytest.approx(1e-4)
    assert model.geom_margin[1] == margin  # the caller's model is as it was


def test_fingers_and_tendons_push_joints_and_floors_and_free_ones_do_not() -> None:
    finger = """<body pos="{0} 0 0"><joint name="{1}" axis="0 1 0"/>
      <geom type="capsule" size=".01" fromto="0 0 0 0 0 .1" mass=".1"/></body>"""
    fingers = "".join(finger.format(0.05 * k, f"j{k}") for k in range(4))
    model = mujoco.MjModel.from_xml_string(
        f"""<mujoco><worldbody><geom type="plane" size="1 1 1" pos="0 0 -.02"/>{fingers}
        </worldbody><tendon><fixed limited="true" range="-.5 .5"><joint joint="j2" coef="1"/>
        </fixed></tendon></mujoco>"""
    )
    postures = np.array([[0.0, 0.0, 0.0, 0.0], [0.4, -0.4, 0.0, 0.0], [0.0, 0.0, 0.6, 3.0]])
    # The last of them is turned into the floor.
    assert pushed(model, postures) == pytest.approx([1 / 3, 1 / 3, 1 / 3, 0.0])


@pytest.mark.parametrize(
    ("joint", "around", "passes"),
    [
        ("hinge", "base", True),
        ("slide", "base", False),  # a slide may rest on what stands below it
        ("hinge", "world", False),  # as may an arm on a table
    ],
)
def test_a_link_passes_through_the_base_that_it_turns_on(
    joint: str, around: str, passes: bool
) -> None:
    stand = '<geom type="box" size=".1 .1 .1"/>'
    link = f'''<body name="link" pos="0 0 .1499"><joint type="{joint}" axis="0 0 1"/>
      <geom type="box" size=".05 .05 .05"/></body>'''
    base = f'<body name="base">{stand}{link}</body>' if around == "base" else stand + link
    model = mujoco.MjModel.from_xml_string(f"<mujoco><worldbody>{base}</worldbody></mujoco>")
    turned = np.array([[0.0], [0.2], [0.4]]) if joint == "hinge" else np.zeros((3, 1))
    seen = touches_at(model, np.arange(3.0), turned, base_is_known=True)
    assert all(seen.pairs())
    assert bool(drawn_overlaps(model, [seen])) == passes
