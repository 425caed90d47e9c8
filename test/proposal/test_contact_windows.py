# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Windows that go with what touches, and simulations without contacts where nothing does."""

from __future__ import annotations

import pytest

from sysid_ros.diagnosis.simulated.contacts import Contacts
from sysid_ros.proposal.contact_windows import with_windows_for_contacts
from sysid_ros.proposal.experiment_text import Draft
from sysid_ros.proposal.recordings import Division

DRAFT = Draft("robot.urdf", Division((), (), 0.2), (), (), (), (), (), 1.0, "linear")
SOME, MUCH = Contacts(touching={("arm", "base"): 0.1}), Contacts(touching={("arm", "base"): 0.5})
HAND = Contacts(touching={("index", "middle"): 0.2, ("index", "ring"): 0.15})
RESTS = Contacts(touching={("arm", "base"): 0.35})
DRAWN = {("arm", "hull"): 0.012}


@pytest.mark.parametrize(
    ("seen", "meshes", "floating", "left_out", "window"),
    [(Contacts(), True, False, True, 1.0), (Contacts(), False, False, False, 1.0),
     (Contacts(), True, True, False, 1.0), (SOME, True, False, True, 1.0),
     (HAND, False, False, True, 1.0), (HAND, False, True, False, 0.4),
     (RESTS, False, False, False, 0.3), (MUCH, True, False, False, 0.3),
     (Contacts(drawn=DRAWN), False, False, True, 1.0),
     (Contacts(touching=SOME.touching, drawn=DRAWN), False, False, True, 1.0)],
)  # fmt: skip
def test_contacts_are_simulated_where_they_last(
    seen: Contacts, meshes: bool, floating: bool, left_out: bool, window: float
) -> None:
    found = with_windows_for_contacts(DRAFT, seen, floating=floating, meshes=meshes)
    assert (found.contacts_left_out, found.window) == (left_out, window)
    assert ("'arm' and 'hull' overlap by 12 mm" in found.window_reason) == bool(seen.drawn)


@pytest.mark.parametrize(
    ("floating", "interval", "window"),
    [(True, 0.005, 0.1), (True, 0.05, 0.2), (True, 0.2, 0.4), (False, 0.005, 0.3)],
)
def test_what_forces_alone_hold_up_has_fallen_in_a_usual_window(
    floating: bool, interval: float, window: float
) -> None:
    found = with_windows_for_contacts(DRAFT, MUCH, floating=floating, meshes=False, pushed=interval)
    assert found.window == pytest.approx(window)


@pytest.mark.parametrize(("floating", "loss"), [(True, "huber"), (False, "linear")])
def test_windows_of_a_robot_that_rests_on_contacts_do_not_count_by_squares(
    floating: bool, loss: str
) -> None:
    found = with_windows_for_contacts(DRAFT, MUCH, floating=floating, meshes=False)
    assert found.loss == loss
