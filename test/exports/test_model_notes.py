# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A model file says at its top what it cannot carry."""

from __future__ import annotations

import mujoco
import pytest

from sysid_ros.exports.formats import with_notes
from sysid_ros.judgement.outcome import AppliedParameter
from sysid_ros.judgement.signal_corrections import corrections_warning, signal_corrections

MODEL = b'<?xml version="1.0"?>\n<!-- mine --><mujoco model="m"><worldbody/></mujoco>\n'


def applied(attribute: str, value: float, name: object = "servo") -> AppliedParameter:
    modifier = {"type": "signal", "name": name, "attribute": attribute}
    return AppliedParameter(f"servo_{attribute}", (value,), modifier)


@pytest.mark.parametrize(
    ("parameter", "said"),
    [
        (applied("delay", 0.012), "servo_delay (delay of servo: 0.012 s)"),
        (applied("gain", 1.2, ["a", "b"]), "servo_gain (gain of a, b: 1.2)"),
        (applied("bias", -0.1), "servo_bias (bias of servo: -0.1)"),
        (applied("gain", 1.0), None),
        (applied("delay", 0.0), None),
        (AppliedParameter("m", (2.0,), {"type": "attribute", "name": "b"}), None),
    ],
)
def test_what_changes_a_signal_is_named(parameter: AppliedParameter, said: str | None) -> None:
    assert signal_corrections([parameter]) == (() if said is None else (said,))


def test_of_many_signals_a_warning_names_some() -> None:
    (line,) = corrections_warning([applied("bias", 0.1, f"joint_{k}") for k in range(12)])
    assert "joint_3: 0.1) and 8 more: the scores are with them" in line


def test_notes_stand_before_the_model_whatever_they_contain() -> None:
    written = with_notes(MODEL, ["a--b---> <worldbody> -"])
    assert mujoco.MjModel.from_xml_string(written.decode()).nbody == 1
    head, _, model = written.decode().partition("<mujoco")
    assert "a- -b- - -> <worldbody>" in head
    assert model == MODEL.decode().partition("<mujoco")[2]
