# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Actuators without a name are called as what they act on, so that they can be mapped."""

from __future__ import annotations

from pathlib import Path

import pytest

from sysid_ros.robots.source import load_model, model_from_description

SWIMMER = """<mujoco><worldbody><body name="tail"><joint name="fin"/><geom size=".1"/></body>
  </worldbody><actuator>{}</actuator></mujoco>"""
MOTOR = '<motor joint="fin"/>'


@pytest.mark.parametrize(
    ("actuators", "names"),
    [
        (MOTOR, ["fin"]),
        (2 * MOTOR, ["fin", "fin_2"]),
        (MOTOR + '<motor name="fin" joint="fin"/>', ["fin_2", "fin"]),
        ('<motor name="drive" joint="fin"/>', ["drive"]),
    ],
)
def test_what_has_no_name_is_called_as_its_target(
    tmp_path: Path, actuators: str, names: list[str]
) -> None:
    text = SWIMMER.format(actuators)
    (tmp_path / "robot.xml").write_text(text)
    for loaded in (load_model(tmp_path / "robot.xml"), model_from_description(text, "text")):
        assert [one.name for one in loaded.spec.actuators] == names
        loaded.spec.compile()
        assert bool(loaded.warnings) == (names != ["drive"])
