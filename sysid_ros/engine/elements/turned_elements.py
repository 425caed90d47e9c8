# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Orientations of bodies and sites in a specification, however written, and small turns of them.

An element of an MjSpec has a quaternion, and beside it one of the other forms (Euler angles, an
axis and an angle, two axes, one axis), which takes precedence. A turned element keeps its own
orientation in the quaternion and has the turned one as two axes: what it was turned by can be read
again and replaced, and nothing has to be known of the model before. Its quaternion has no positive
real part then, which tells it from one that the other form merely hides: that is the identity.
"""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np
import numpy.typing as npt

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.elements.body_inertia import compiler_of
from sysid_ros.engine.elements.inertia import quaternion_of, rotation_matrix

_TWO_AXES = mujoco.mjtOrientation.mjORIENTATION_XYAXES
_PLAIN = mujoco.mjtOrientation.mjORIENTATION_QUAT


def orientation(spec: Any, element: Any) -> FloatArray:
    """The unit quaternion of an MjsBody or MjsSite within its parent or frame, (4,)."""
    if element.alt.type == _PLAIN:
        return _unit(element.quat)
    compiler, alone = compiler_of(spec, element), mujoco.MjSpec()
    alone.compiler.degree, alone.compiler.eulerseq = compiler.degree, compiler.eulerseq
    site = alone.worldbody.add_site()
    for name in ("axisangle", "euler", "xyaxes", "zaxis", "type"):
        setattr(site.alt, name, getattr(element.alt, name))
    return np.array(alone.compile().site_quat[0])


def turn(element: Any) -> FloatArray:
    """The rotation vector that an element has been turned by, about its own axes, rad, (3,)."""
    found = np.zeros(3)
    if _is_turned(element):
        x, y = np.reshape(element.alt.xyaxes, (2, 3))
        turned = quaternion_of(np.column_stack([x, y, np.cross(x, y)]))
        mujoco.mju_subQuat(found, turned, _unit(element.quat))
    return found


def set_turn(spec: Any, element: Any, vector: FloatArray) -> None:
    """Turn an element by a rotation vector from its own orientation, whatever it was turned by.

    Args:
      spec: The MjSpec that it belongs to.
      element: An MjsBody or MjsSite, changed.
      vector: About the element's own axes, rad, (3,). Zero leaves one as it is that was not turned.
    """
    if not _is_turned(element):
        if not np.any(vector):
            return
        own = orientation(spec, element)
        element.quat = own if own[0] <= 0.0 else -own
    turned = np.array(element.quat, dtype=np.float64)
    mujoco.mju_quatIntegrate(turned, np.asarray(vector, dtype=np.float64), 1.0)
    axes = rotation_matrix(turned)
    element.alt.type = _TWO_AXES
    element.alt.xyaxes = np.concatenate([axes[:, 0], axes[:, 1]])


def _unit(quaternion: npt.ArrayLike) -> FloatArray:
    given = np.array(quaternion, dtype=np.float64)
    return np.asarray(given / np.linalg.norm(given))


def _is_turned(element: Any) -> bool:
    return bool(element.alt.type == _TWO_AXES and element.quat[0] <= 0.0)
