# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A model whose dry friction is as sharp as MuJoCo allows, as the regression takes it to be."""

from __future__ import annotations

from collections.abc import Mapping

import mujoco
import numpy as np

from sysid_ros.engine.elements import fixed_tendons
from sysid_ros.engine.regressor import SHARP, sharp_friction


def sharpen_friction(spec: mujoco.MjSpec, creep: Mapping[str, float] = SHARP) -> None:
    """Give dry friction of joints and tendons the law of ``engine.regressor.sharp_friction``.

    Args:
      spec: With the friction and inertia that were found; changed.
      creep: By joint, rad/s or m/s from which on its friction is whole.
    """
    model = spec.copy().compile()
    solref, solimp = sharp_friction(model, creep)
    for element in (*spec.joints, *spec.tendons):
        if not element.name:  # MJCF tells elements apart by name
            continue
        if isinstance(element, mujoco.MjsJoint):
            row = int(model.joint(element.name).dofadr[0])
            loss = float(model.dof_frictionloss[row])
        else:
            tendon = model.tendon(element.name).id
            loss = float(model.tendon_frictionloss[tendon])
            if tendon not in fixed_tendons(model):
                continue
            row = model.nv + fixed_tendons(model).index(tendon)
        if loss > 0.0:
            element.solref_friction = solref
            own = np.array(element.solimp_friction)
            own[:2] = solimp[row]
            element.solimp_friction = own
