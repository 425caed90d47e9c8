# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Where derivatives are rollouts, as much is fitted as a usual time allows."""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import mujoco
import numpy as np
import pytest

from sysid_ros.proposal import fit_cost
from sysid_ros.proposal.experiment_text import Draft
from sysid_ros.proposal.fit_cost import in_a_usual_time, rolled_fit, shortened
from sysid_ros.proposal.recordings import Division

LINK = '<body><joint/><geom size=".1"/>'


def xml_of(joints: int) -> str:
    return f"<mujoco><worldbody>{LINK * joints}{'</body>' * joints}</worldbody></mujoco>"


def chain(joints: int) -> mujoco.MjModel:
    return mujoco.MjModel.from_xml_string(xml_of(joints))


@dataclass
class Asked:
    """As much of an experiment as is asked for."""

    sequences: tuple[str, ...]
    validation: Any = None


@pytest.mark.parametrize(("rolled", "because"), [(False, "touch-down"), (True, "simulations")])
def test_a_robot_that_stands_is_fitted_in_part_however_its_derivatives_are_found(
    rolled: bool, because: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec, recording = mujoco.MjSpec.from_string(xml_of(18)), SimpleNamespace(times=np.r_[0.0, 60.0])
    group = SimpleNamespace(spec=spec, sensordata=[recording])
    dataset: Any = SimpleNamespace(training=(group,))
    monkeypatch.setattr(fit_cost, "load_dataset", None)  # its length is known
    asked: Any = Asked(("bag",))
    draft = Draft("m.xml", Division(("bag",), (), 0.2), (), (), (), (), (), 1.0, "linear")
    found = in_a_usual_time(draft, asked, dataset, 50, touching=True, rolled=rolled)
    (part,) = found.recordings.fitted
    assert isinstance(part, dict)
    assert 0.0 < part["start"] < part["end"] < 60.0
    assert part["start"] == pytest.approx(60.0 - part["end"], abs=0.02)  # the middle
    assert because in found.cost
    group.spec = mujoco.MjSpec.from_string(xml_of(1))
    assert in_a_usual_time(draft, asked, dataset, 2, touching=True, rolled=rolled) is draft


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
