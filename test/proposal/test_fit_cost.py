# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Where derivatives are rollouts, as much is fitted as a usual time allows."""

from __future__ import annotations

import mujoco
import pytest

from sysid_ros.proposal.fit_cost import rolled_fit, shortened
from sysid_ros.proposal.recordings import Division

LINK = '<body><joint/><geom size=".1"/>'


def chain(joints: int) -> mujoco.MjModel:
    return mujoco.MjModel.from_xml_string(
        f"<mujoco><worldbody>{LINK * joints}{'</body>' * joints}</worldbody></mujoco>"
    )


def test_a_small_robot_is_fitted_whole() -> None:
    fit = rolled_fit(chain(3), 10, [10.0], touching=False)
    assert fit.affordable == fit.seconds == 10.0


def test_a_hand_is_fitted_in_part_at_the_price_that_is_accepted() -> None:
    whole = rolled_fit(chain(12), 40, [30.0, 30.0], touching=False)
    assert whole.columns == 40 + 24 + 1
    part = rolled_fit(chain(12), 40, [whole.affordable], touching=False)
    assert part.cost == pytest.approx(120.0)
    assert rolled_fit(chain(12), 40, [60.0], touching=True).cost == 2.0 * whole.cost


def test_parts_are_from_the_middle_and_last_as_long_as_wanted() -> None:
    (part,) = shortened(Division(("bag",), (), 0.2), 30.0, 8.0, lambda places: [30.0]).fitted
    assert part == {"bag": "bag", "start": 10.0, "end": 20.0}  # of which a fifth is held out


def test_of_many_recordings_some_are_fitted_and_the_others_listed() -> None:
    bags = tuple(f"bag_{k}" for k in range(6))
    found = shortened(Division(bags, ("held",), None), 10.0, 20.0, lambda places: [10.0, 10.0])
    assert found.fitted == ("bag_1", "bag_4")
    assert sorted([*found.unused, "bag_1", "bag_4"]) == list(bags)
    assert found.held_out == ("held",)


def test_each_part_is_from_the_middle_of_its_own_recording() -> None:
    found = shortened(Division(("a", "b", "c"), (), None), 12.0, 36.0, lambda places: [12, 3, 20])
    assert found.fitted == ("a", "b", {"bag": "c", "start": 4.0, "end": 16.0})
