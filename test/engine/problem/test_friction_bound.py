# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A friction loss that starts at its bound is found all the same."""

from __future__ import annotations

import mujoco
import mujoco.rollout
import numpy as np

from sysid_ros import sysid

MODEL = """<mujoco><option timestep="0.002"/><worldbody><body><joint name="j" axis="0 1 0"
  armature="0.1"/><inertial pos="0 0 -0.2" mass="1" diaginertia="0.01 0.01 0.01"/></body>
  </worldbody>
  <actuator><motor name="m" joint="j"/></actuator>
  <sensor><jointpos name="angle" joint="j"/></sensor></mujoco>"""


def test_a_search_leaves_the_bound() -> None:
    spec = mujoco.MjSpec.from_string(MODEL)
    true = spec.copy()
    true.joint("j").frictionloss = 0.3
    model = true.compile()
    times = np.arange(1000) * 0.002
    control = 3.0 * np.sin(4.0 * times)[:, None]
    start = sysid.create_initial_state(model, model.qpos0)
    states, sensors = mujoco.rollout.rollout(model, mujoco.MjData(model), start, control[:-1])
    recording = sysid.ModelSequences(
        "pendulum",
        spec,
        "run",
        start,
        sysid.TimeSeries.from_control_names(times, control, model),
        sysid.TimeSeries.from_names(states[0, :, 0], sensors[0], model),
    )
    params = sysid.ParameterDict()
    modifier = sysid.AttributeModifier("joint", "j", "frictionloss")
    params.add(sysid.Parameter("friction", 0.0, 0.0, 5.0, modifier=modifier))

    found, _ = sysid.optimize(
        params, sysid.build_residual_fn(models_sequences=[recording]), verbose=False
    )

    assert abs(found["friction"].value[0] - 0.3) < 1e-3
