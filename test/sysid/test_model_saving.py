# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Models as files that load on their own."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from sysid_ros import sysid
from sysid_ros.errors import ModelError, OutputError

XML = """<mujoco><worldbody><body name="arm"><joint name="hinge" damping="0.1"/>
  <geom type="capsule" fromto="0 0 0 0 0 .3" size=".02"/></body></worldbody>
  <actuator><general name="lag" joint="hinge" dyntype="filter" dynprm="0.1"/></actuator></mujoco>"""


@pytest.mark.parametrize("suffix", [".xml", ".mjb"])
def test_digits_and_start_state_are_kept(tmp_path, suffix):
    spec = mujoco.MjSpec.from_string(XML)
    spec.joint("hinge").armature = 1 / 3
    state = sysid.create_initial_state(spec.copy().compile(), [0.1], [0.2], [0.3])
    path = tmp_path / f"arm{suffix}"
    sysid.save_model(spec, path, start_state=state)
    load = mujoco.MjModel.from_xml_path if suffix == ".xml" else mujoco.MjModel.from_binary_path
    model = load(str(path))
    assert model.joint("hinge").armature[0] == 1 / 3
    key = model.key("start")
    np.testing.assert_allclose([key.qpos[0], key.qvel[0], key.act[0]], [0.1, 0.2, 0.3])
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


def test_mistakes_are_named(tmp_path):
    spec = mujoco.MjSpec.from_string(XML)
    with pytest.raises(OutputError, match=r"\.mjb"):
        sysid.save_model(spec, tmp_path / "arm.txt")
    with pytest.raises(ModelError, match="needs 4"):
        sysid.save_model(spec, tmp_path / "arm.xml", start_state=np.zeros(2))
    with pytest.raises(OutputError, match="cannot write"):
        sysid.save_model(spec, tmp_path / "absent" / "arm.xml")
