# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Parameter files in the form of BAM."""

from __future__ import annotations

import json
from pathlib import Path

import mujoco
import pytest

from sysid_ros.engine.friction import (
    FrictionParameters,
    MotorFile,
    joint_frictions,
    load_motor_file,
    save_motor_file,
)
from sysid_ros.errors import DataError

M6 = {
    "model": "m6", "actuator": "xl330", "kt": 2.21, "R": 2.03, "armature": 0.026,
    "friction_base": 1.0e-05, "friction_viscous": 0.051, "friction_stribeck": 0.122,
    "dtheta_stribeck": 1.75, "alpha": 1.14, "load_friction_motor": 0.198,
    "load_friction_external": 0.022, "load_friction_motor_stribeck": 0.199,
    "load_friction_external_stribeck": 0.087, "load_friction_motor_quad": 0.010,
    "load_friction_external_quad": 7.3e-05, "q_offset": 0.0,
}  # fmt: skip


def written(folder: Path, content: object) -> Path:
    file = folder / "motor.json"
    file.write_text(json.dumps(content))
    return file


def test_a_file_is_read_applied_and_written_as_it_was(tmp_path: Path) -> None:
    motor = load_motor_file(written(tmp_path, M6 | {"error_gain": 0.15}))
    assert (motor.model, motor.actuator, motor.kt, motor.R) == ("m6", "xl330", 2.21, 2.03)
    assert motor.friction.load_friction_motor == 0.198
    assert motor.other == {"error_gain": 0.15}
    save_motor_file(tmp_path / "again.json", motor)
    assert json.loads((tmp_path / "again.json").read_text()) == M6 | {"error_gain": 0.15}

    spec = mujoco.MjSpec.from_string(
        """<mujoco><worldbody><body><joint name="j"/><geom size="0.1"/></body></worldbody>
        </mujoco>"""
    )
    motor.apply(spec, "j")
    model = spec.compile()
    assert joint_frictions(model) == {"j": motor.friction}
    assert model.dof_armature[0] == 0.026


def test_what_is_not_known_is_left_out(tmp_path: Path) -> None:
    motor = MotorFile("m1", FrictionParameters(0.1, 0.2))
    save_motor_file(tmp_path / "m1.json", motor)
    assert set(json.loads((tmp_path / "m1.json").read_text())) == {
        "model", "actuator", "friction_viscous", "friction_base", "q_offset"
    }  # fmt: skip
    assert load_motor_file(tmp_path / "m1.json") == motor


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ([1, 2], "does not name a friction model"),
        ({"kt": 1.0}, "does not name a friction model"),
        (M6 | {"model": "m9"}, "unknown friction model 'm9'"),
        ({"model": "m2", "friction_base": 1.0, "alpha": 1.0}, "friction_viscous, friction_strib"),
        (M6 | {"kt": "big"}, "kt must be a number, given 'big'"),
        (M6 | {"friction_base": -1.0}, "friction_base of a friction must be at least 0"),
    ],
)
def test_other_files_are_refused(tmp_path: Path, content: object, said: str) -> None:
    with pytest.raises(DataError, match=said):
        load_motor_file(written(tmp_path, content))
    (tmp_path / "motor.json").write_text("{")
    with pytest.raises(DataError, match="is no JSON file"):
        load_motor_file(tmp_path / "motor.json")
    with pytest.raises(DataError, match="cannot be read: No such file"):
        load_motor_file(tmp_path / "absent.json")
