# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Candidates of the latest point are made once, also those that share a model."""

from __future__ import annotations

import mujoco
import numpy as np

from sysid_ros.engine.moving_horizon.kept_candidates import KeptCandidates
from sysid_ros.engine.parameters import ParameterDict
from sysid_ros.engine.parameters.modifiers import AttributeModifier
from sysid_ros.engine.parameters.parameter import Parameter

ARM = """<mujoco><worldbody><body><joint name="hinge"/><geom size="0.1"/></body></worldbody>
</mujoco>"""


def test_a_model_that_parameters_share_is_compiled_once_at_a_point() -> None:
    params = ParameterDict()
    for name in ("armature", "damping"):
        own = AttributeModifier("joint", "hinge", name)
        params.add(Parameter(name, 0.1, 0.0, 1.0, modifier=own))
    builder = KeptCandidates(mujoco.MjSpec.from_string(ARM), params)
    first = builder.build(np.array([0.1, 0.2]))
    values = {0: 0.3, 1: 0.4}
    model = builder.together(first, values)
    assert (model.dof_armature[0], model.dof_damping[0]) == (0.3, 0.4)
    assert builder.together(first, values) is model
    second = builder.build(np.array([0.2, 0.2]))
    moved = builder.together(second, values)
    assert moved is not model
    assert builder.together(second, values) is moved
