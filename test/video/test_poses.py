# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Which seconds are shown, and where the joints are then."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest
from outcomes import outcome as synthetic

from sysid_ros.errors import DataError
from sysid_ros.judgement.outcome import SequenceFit, SignalFit
from sysid_ros.pictures import FRAMES_PER_SECOND
from sysid_ros.video.poses import SECONDS, Stretch, poses, telling_stretch

MODEL = """
<mujoco>
  <worldbody>
    <body>
      <joint name="a"/><geom size="0.1"/>
      <body><joint name="b" type="slide"/><geom size="0.1"/></body>
    </body>
  </worldbody>
  <sensor><jointpos name="a_angle" joint="a"/><jointvel name="a_rate" joint="a"/></sensor>
</mujoco>
"""


def signal(name: str, initial: np.ndarray, unit: str = "rad") -> SignalFit:
    times = np.arange(initial.size) / 100.0
    measured = np.sin(times)
    return SignalFit(name, unit, times, measured, initial, measured + 0.5)


def sequence(*signals: SignalFit, role: str = "validation") -> SequenceFit:
    return SequenceFit("swing", role, signals, np.zeros(1))


def test_the_stretch_is_where_the_initial_model_errs_most() -> None:
    times = np.arange(2000) / 100.0
    wrong = np.where((times > 11.0) & (times < 12.0), 5.0, np.sin(times))
    training = sequence(signal("a_angle", np.full(2000, 9.0)), role="training")
    found = telling_stretch([training, sequence(signal("a_angle", wrong))])
    assert found is not None
    assert found.sequence == 1
    assert found.start <= 11.0 and found.end >= 12.0
    assert found.end - found.start == pytest.approx(SECONDS)


def test_short_and_unmeasured_sequences() -> None:
    short = telling_stretch([sequence(signal("a_angle", np.zeros(100)))])
    assert short == Stretch(0, 0.0, 0.99)
    assert telling_stretch([]) is None
    assert telling_stretch([sequence(signal("a_rate", np.zeros(100), "rad/s"))]) is None


def test_joints_are_found_by_sensor_and_by_name() -> None:
    model = mujoco.MjModel.from_xml_string(MODEL)
    initial = np.zeros(400)
    initial[50:] = np.nan
    initial[49] = 0.7
    made = sequence(signal("a_angle", initial), signal("b_qpos", np.ones(400), "m"))
    found = poses(model, made, Stretch(0, 0.0, 3.0))
    assert found.measured.shape == (3 * FRAMES_PER_SECOND, 2)
    instants = np.arange(3 * FRAMES_PER_SECOND) / FRAMES_PER_SECOND
    np.testing.assert_allclose(found.measured[:, 0], np.sin(instants), atol=0.011)
    assert np.all(found.initial[5:, 0] == 0.7)  # where the simulation was last known to be
    assert np.all(found.initial[:, 1] == 1.0)
    np.testing.assert_allclose(found.fitted, found.measured + 0.5)


def test_what_is_no_position_cannot_be_shown() -> None:
    model = mujoco.MjModel.from_xml_string(MODEL)
    with pytest.raises(DataError, match="no signal is the position"):
        poses(model, sequence(signal("a_rate", np.zeros(9), "rad/s")), Stretch(0, 0.0, 1.0))


def test_synthetic_outcomes_have_a_stretch() -> None:
    found = telling_stretch(synthetic().sequences)
    assert found is not None and found.sequence == 2
