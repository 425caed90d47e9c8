# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Windows keep away from stretches in which bodies of the model touch now and then."""

from __future__ import annotations

from pathlib import Path

import mujoco
import pytest

from sysid_ros.dataset import Dataset, load_dataset
from sysid_ros.dataset.contact_free import passing
from sysid_ros.engine.parameters import ParameterDict
from sysid_ros.engine.windows import model_group, touches
from sysid_ros.errors import DataError, ExperimentError
from sysid_ros.experiment import parse_experiment
from sysid_ros.rehearsal import Motion, RecordingPlan, generate

TAPPING = """<mujoco><option timestep="0.002"/><worldbody>
  <geom name="floor" type="plane" size="0 0 .1"/>
  <body name="arm" pos="0 0 {}"><joint name="leg" axis="0 1 0" damping="0.2"/>
  <geom name="tip" type="capsule" fromto="0 0 0 .3 0 -.19" size=".02" mass=".5"/></body></worldbody>
  <actuator><position name="servo" joint="leg" kp="30" kv="1"/></actuator></mujoco>"""
EXPERIMENT = """model: robot.xml
sequences: [bag]
signals:
  - {qpos: leg, topic: /joint_states, field: "position[leg]"}
  - {actuator: servo, topic: /position_controller/commands, field: "data[0]"}
windows: {length: 1.0, contacts: left_out}
parameters: []
"""


def tapping(folder: Path, height: float, text: str = EXPERIMENT) -> Dataset:
    """A recording of an arm that hangs so high above a floor [m]."""
    model = TAPPING.format(height)
    (folder / "robot.xml").write_text(model)
    plan = RecordingPlan(duration=8.0, motion=Motion(reach=0.5), settle=0.0)
    generate(mujoco.MjSpec.from_string(model), plan, folder / "bag")
    return load_dataset(parse_experiment(text, path=folder / "experiment.yaml"), None)


def test_windows_keep_away_from_taps_on_the_floor(tmp_path: Path) -> None:
    data = tapping(tmp_path, 0.28)
    (group,) = data.training
    simulated = EXPERIMENT.replace(", contacts: left_out", "")
    whole = load_dataset(parse_experiment(simulated, path=tmp_path / "experiment.yaml"), None)
    seen = touches(whole.training[0].gt_model, whole.training[0], 0)
    assert not group.gt_model.ngeom  # what is left needs no contacts
    tapped = [time for time, found in zip(seen.times, seen.depths, strict=True) if found]
    windows = model_group(
        group, ParameterDict(), window_length=1.0, estimate_starts=True, velocity_filter=30.0
    ).windows
    assert 5 < len(tapped) < 0.3 * len(seen.times)
    assert len(windows) > 3
    for window in windows:
        times = window.window.start + window.window.samples.times
        assert not [time for time in tapped if times[0] <= time <= times[-1]]
    said = [one for one in data.warnings if "left out" in one]
    assert len(said) == 1
    assert "'world' and 'arm'" in said[0]


def test_what_rests_on_the_floor_is_simulated(tmp_path: Path) -> None:
    data = tapping(tmp_path, 0.2)
    assert data.training[0].gaps == [()]
    assert data.training[0].gt_model.ngeom
    assert not [one for one in data.warnings if "left out" in one]


def test_what_is_drawn_too_large_passes_through(tmp_path: Path) -> None:
    tapping(tmp_path, 1.0)
    hull = '<body name="hull" pos=".3 0 .8"><geom type="box" size=".05 .1 .05"/></body>'
    drawn = TAPPING.format(1.0).replace("</worldbody>", f"{hull}</worldbody>")
    (tmp_path / "robot.xml").write_text(drawn)
    data = load_dataset(parse_experiment(EXPERIMENT, path=tmp_path / "experiment.yaml"), None)
    assert data.training[0].gaps == [()]
    assert not data.training[0].gt_model.ngeom
    assert not [one for one in data.warnings if "left out" in one]


def test_scores_are_over_the_same_stretches(tmp_path: Path) -> None:
    text = EXPERIMENT + "scoring: {length: 0.5, contacts: simulated}\n"
    with pytest.raises(ExperimentError, match=r"windows\.contacts 'left_out' says it for both"):
        parse_experiment(text, path=tmp_path / "experiment.yaml")


def test_a_recording_of_taps_alone_is_refused(tmp_path: Path) -> None:
    text = EXPERIMENT.replace("[bag]", "[{bag: bag, end: 4.4}, {bag: bag, start: 4.6, end: 4.9}]")
    with pytest.raises(DataError, match="simulate contacts"):
        tapping(tmp_path, 0.28, text)


def test_bodies_without_names_pass_through_each_other_too() -> None:
    text = """<mujoco><worldbody><body><joint/><geom size=".1"/><body pos=".05 0 0"><joint/>
      <geom size=".1"/><body pos=".05 0 0"><joint/><geom size=".1"/></body></body></body>
      </worldbody></mujoco>"""
    spec = mujoco.MjSpec.from_string(text)
    model = spec.compile()
    changed = passing(spec, model, [(1, 3)]).compile()
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    assert data.ncon == 1
    data = mujoco.MjData(changed)
    mujoco.mj_forward(changed, data)
    assert data.ncon == 0
    assert spec.bodies[1].name == ""
