# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""What a proposed file says."""

from __future__ import annotations

from dataclasses import replace

from sysid_ros.proposal.candidate import Candidate
from sysid_ros.proposal.experiment_text import Draft, SignalEntry
from sysid_ros.proposal.recordings import Division
from sysid_ros.proposal.set_points import Drive


def test_a_doubt_about_several_joints_is_told_once() -> None:
    """And names each once, whichever of its attributes it is about; each sentence is a comment."""
    draft = Draft("hand.xml", Division((), (), 0.2), (), (), (), (), (), 1.0, "linear")
    parameters = tuple(
        Candidate(
            element="joint",
            name=name,
            attribute=attribute,
            low=0.0,
            high=1.0,
            typical=0.1,
            doubt=f"who knows {name}\nnobody",
        )
        for name in ("thumb", "index", "ring")
        for attribute in ("frictionloss", "damping")
    )
    text = replace(draft, parameters=parameters).text()
    lines = [line.strip() for line in text.splitlines()]
    assert [line for line in lines if "who knows" in line or "nobody" in line] == [
        "# CHECK: who knows thumb, index, ring",
        "# CHECK: nobody",
    ]


def test_a_possible_input_says_why_it_is_one() -> None:
    values = {"actuator": "m0", "topic": "/a", "field": "data[0]"}
    entries = (
        SignalEntry(values, "", "from /a or /b"),
        SignalEntry(values, "m0 follows it with 0.5", ""),
    )
    draft = Draft("arm.xml", Division((), (), 0.2), (), (), (), (), (), 1.0, "linear")
    text = replace(draft, possible=entries).text()
    assert "# CHECK: from /a or /b; is this its input?" in text
    assert "# CHECK: m0 follows it with 0.5; is this its input?" in text


def test_gains_of_drives_whose_torque_is_sampled_once_are_to_be_checked() -> None:
    draft = Draft("arm.xml", Division((), (), 0.2), (), (), (), (), (), 1.0, "linear")
    torque = ({"joint": "j0", "damping": None},)
    drives = {"j0": Drive(stiffness=29.913, damping=0.99531, topic="/asked")}
    text = replace(draft, torque=torque, drives=drives).text()
    given = "{drive_stiffness: {j0: 29.9}, drive_damping: {j0: 0.995}}"
    assert f"fit: {{method: inverse_dynamics, inverse_dynamics: {given}}}" in text
    assert "# CHECK: torque is sampled about once" in text
    assert "drive" not in replace(draft, torque=torque).text()
