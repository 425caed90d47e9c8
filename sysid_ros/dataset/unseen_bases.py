# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Free bodies whose pose nothing measures, as one that carries an IMU alone."""

from __future__ import annotations

from collections.abc import Collection

import mujoco

from sysid_ros.engine.elements import FREE

_PLACE, _TURN = mujoco.mjtSensor.mjSENS_FRAMEPOS, mujoco.mjtSensor.mjSENS_FRAMEQUAT


def unseen_bases(spec: mujoco.MjSpec, unmeasured: Collection[str]) -> list[str]:
    """Sentences about free bodies of which recordings do not tell where or how they are.

    Args:
      spec: The model with a sensor for every measured signal.
      unmeasured: Names of its sensors that no signal compares.
    """
    seen = {
        (sensor.type, _body_of(spec, sensor))
        for sensor in spec.sensors
        if sensor.type in (_PLACE, _TURN) and sensor.name not in unmeasured
    }
    found = []
    for joint in spec.joints:
        body = joint.parent.name
        lacking = [
            words
            for kind, words in ((_PLACE, "where it is"), (_TURN, "how it is turned"))
            if (kind, body) not in seen
        ]
        if int(joint.type) == FREE and lacking:
            found.append(
                f"Body {body!r} floats and nothing measures {' or '.join(lacking)}: simulations "
                f"begin with it as the model has it, upright where it is upright there, and "
                f"integrate from there."
            )
    return found


def _body_of(spec: mujoco.MjSpec, sensor: mujoco.MjsSensor) -> str:
    """The name of the body that a sensor of a frame is on; empty for that of a camera or geom."""
    if sensor.objtype == mujoco.mjtObj.mjOBJ_SITE:
        return str(spec.site(sensor.objname).parent.name)
    bodies = (mujoco.mjtObj.mjOBJ_BODY, mujoco.mjtObj.mjOBJ_XBODY)
    return str(sensor.objname) if sensor.objtype in bodies else ""
