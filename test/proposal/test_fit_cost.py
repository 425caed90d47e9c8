# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Where derivatives are rollouts, as much is fitted as a usual time allows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import mujoco
import numpy as np
import pytest

from sysid_ros.proposal import fit_cost
from sysid_ros.proposal.experiment_text import Draft
from sysid_ros.proposal.fit_cost import in_a_usual_time, rolled_fit, shortened
from sysid_ros.proposal.identifiability import Determined
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


@pytest.fixture
def proposed(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Draft]:
    """The proposal for a chain of joints that touches something, of 60 s of which 48 are fitted."""

    def of(joints: int, parameters: int, found: Determined) -> Draft:
        spec, recording = mujoco.MjSpec.from_string(xml_of(joints)), {"times": np.r_[0.0, 60.0]}
        group = SimpleNamespace(spec=spec, sensordata=[SimpleNamespace(**recording)])
        dataset: Any = SimpleNamespace(training=SimpleNamespace(groups=[group]))
        monkeypatch.setattr(fit_cost, "load_dataset", lambda *_: dataset)
        asked: Any = Asked(("bag",))
        draft = Draft("m.xml", Division(("bag",), (), 0.2), (), (), (), (), (), 1.0, "linear")
        return in_a_usual_time(draft, asked, dataset, parameters, touching=True, found=found)

    return of


def length_of(draft: Draft) -> float:
    """The part of the recording that is proposed, from its middle, s."""
    (part,) = draft.recordings.fitted
    if part == "bag":
        return 60.0
    assert isinstance(part, dict)
    assert part["start"] == pytest.approx(60.0 - part["end"], abs=0.02)
    return float(part["end"] - part["start"])


@pytest.mark.parametrize(("rolled", "because"), [(False, "touch-down"), (True, "simulations")])
def test_a_robot_that_stands_is_fitted_in_part_however_its_derivatives_are_found(
    rolled: bool, because: str, proposed: Callable[..., Draft]
) -> None:
    found = proposed(12, 20, Determined([], rolled))
    assert 0.0 < length_of(found) == length_of(proposed(12, 20, Determined([], not rolled))) < 60.0
    assert because in found.cost
    assert length_of(proposed(1, 2, Determined([], rolled))) == 60.0


@pytest.mark.parametrize(
    ("rolled", "doubted", "seconds"), [(True, 0.0, 2.0), (False, 0.0, 9.9), (False, 0.3, 4.7)]
)
def test_where_that_would_be_next_to_nothing_the_cost_of_exact_derivatives_counts(
    rolled: bool, doubted: float, seconds: float, proposed: Callable[..., Draft]
) -> None:
    found = proposed(18, 57, Determined([], rolled, doubted))
    assert 0.8 * length_of(found) == pytest.approx(seconds, rel=0.02)


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
