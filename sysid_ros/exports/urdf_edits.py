# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A URDF with the identified inertia, damping, friction and places, and nothing else changed."""

from __future__ import annotations

import warnings
from typing import Any

import mujoco
import numpy as np
import numpy.typing as npt
import scipy

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.elements import (
    BodyInertia,
    full_inertia,
    linear,
    orientation,
    pairs,
    read_inertia,
    rotation_matrix,
)
from sysid_ros.errors import ModelError
from sysid_ros.exports.inertial_edits import full_values, inertial_changed
from sysid_ros.robots import Element, ModelText, XmlText, number, numbers

_MOMENTS = ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")  # in the order of full_values
_DYNAMICS = (("damping", "damping"), ("friction", "frictionloss"))  # URDF, MuJoCo
_SAME = 1e-12  # relative difference that reading and writing a rotation may leave


def edited_urdf(source: ModelText, before: Any, after: Any) -> bytes:
    """Write the difference of two specs into the URDF of the first.

    Inertias go to ``<inertial>``, damping and dry friction to ``<dynamics>``, places of
    links to the ``<origin>`` of the joint they hang from. URDF has no place for
    anything else, such as armature or the gains of actuators.

    Args:
      source: The URDF.
      before: What MuJoCo reads from it (an MjSpec).
      after: The identified model, made from ``before``; neither is changed.

    Returns:
      The URDF's text with the values in place.

    Raises:
      ModelError: The text is no URDF, or has no place for that of a link.
    """
    document = XmlText(source.text)
    if document.root.tag != "robot":
        raise ModelError(f"{source.name} is no URDF: its root is <{document.root.tag}>")
    links = {link.attributes.get("name"): link for link in document.root.named("link")}
    for old, new in pairs(before, after, "body"):
        if old.name in links and inertial_changed(old, new):
            _edit_link(document, links[old.name], read_inertia(after, old.name))
        turned = not np.array_equal(orientation(before, old), orientation(after, new))
        if turned or not np.array_equal(old.pos, new.pos):
            rpy = _angles(orientation(after, new)) if turned else None
            _edit_origin(document, old, numbers(new.pos), rpy)
    joints = {joint.attributes.get("name"): joint for joint in document.root.named("joint")}
    for old, new in pairs(before, after, "joint"):
        if old.name in joints:
            _edit_dynamics(document, joints[old.name], old, new)
    return document.edited()


def _edit_link(document: XmlText, link: Element, now: BodyInertia) -> None:
    inertials = link.named("inertial")
    if not inertials:
        document.insert_first(link, _inertial(now))
        return
    inertial = inertials[0]
    origins, masses, moments = (inertial.named(tag) for tag in ("origin", "mass", "inertia"))
    xyz = origins[0].attributes.get("xyz", "0 0 0") if origins else "0 0 0"
    if not _close(now.ipos, [float(word) for word in xyz.split()]):
        if origins:
            document.set(origins[0], "xyz", numbers(now.ipos))
        else:
            document.insert_first(inertial, f'<origin xyz="{numbers(now.ipos)}" rpy="0 0 0"/>')
    if masses and now.mass != float(masses[0].attributes.get("value", 0.0)):
        document.set(masses[0], "value", number(now.mass))
    if moments:
        axes = _rotation(origins[0].attributes.get("rpy", "0 0 0") if origins else "0 0 0")
        values = full_values(axes.T @ full_inertia(now) @ axes)
        scale = float(np.abs(values).max())
        for name, value in zip(_MOMENTS, values, strict=True):
            # The file may say something else than what was read: what no body can have.
            if abs(value - float(moments[0].attributes.get(name, 0.0))) > _SAME * scale:
                document.set(moments[0], name, number(value))


def _edit_origin(document: XmlText, link: Any, xyz: str, rpy: str | None) -> None:
    """Move a link's frame in the frame of the link before; ``rpy`` of ``None`` stays as it is."""
    joints = [
        joint
        for joint in document.root.named("joint")
        for child in joint.named("child")
        if child.attributes.get("link") == link.name
    ]
    if not joints:
        raise ModelError(
            f"link {link.name!r} hangs from no joint, so that a URDF has no place for its own"
        )
    origins = joints[0].named("origin")
    written = origins[0].attributes.get("xyz", "0 0 0") if origins else "0 0 0"
    if not _close(link.pos, [float(word) for word in written.split()]):
        raise ModelError(f"the joint before link {link.name!r} is elsewhere in the file")
    if not origins:
        turn = "" if rpy is None else f' rpy="{rpy}"'
        document.insert_first(joints[0], f'<origin xyz="{xyz}"{turn}/>')
        return
    if not _close(link.pos, [float(word) for word in xyz.split()]):
        document.set(origins[0], "xyz", xyz)
    if rpy is not None:
        document.set(origins[0], "rpy", rpy)


def _edit_dynamics(document: XmlText, joint: Element, old: Any, new: Any) -> None:
    changed = {
        urdf: linear(getattr(new, attribute))
        for urdf, attribute in _DYNAMICS
        if linear(getattr(new, attribute)) != linear(getattr(old, attribute))
    }
    if not changed:
        return
    dynamics = joint.named("dynamics")
    if dynamics:
        for name, value in changed.items():
            document.set(dynamics[0], name, number(value))
        return
    attributes = " ".join(f'{name}="{number(value)}"' for name, value in changed.items())
    document.insert_last(joint, f"<dynamics {attributes}/>")


def _inertial(inertia: BodyInertia) -> str:
    moments = " ".join(
        f'{name}="{number(value)}"'
        for name, value in zip(_MOMENTS, full_values(full_inertia(inertia)), strict=True)
    )
    return (
        f'<inertial><origin xyz="{numbers(inertia.ipos)}" rpy="0 0 0"/>'
        f'<mass value="{number(inertia.mass)}"/><inertia {moments}/></inertial>'
    )


def _rotation(rpy: str) -> FloatArray:
    """The rotation matrix of fixed-axis roll, pitch and yaw, (3, 3)."""
    roll, pitch, yaw = (float(angle) for angle in rpy.split())
    quaternion = np.empty(4)
    mujoco.mju_euler2Quat(quaternion, np.array([roll, pitch, yaw]), "XYZ")
    return rotation_matrix(quaternion)


def _angles(quaternion: FloatArray) -> str:
    """The fixed-axis roll, pitch and yaw of a unit quaternion w x y z."""
    with warnings.catch_warnings():  # at a pitch of 90 degrees any roll will do
        warnings.simplefilter("ignore", UserWarning)
        angles = scipy.spatial.transform.Rotation.from_quat(np.roll(quaternion, -1)).as_euler("xyz")
    return numbers(np.round(angles, 15) + 0.0)  # without the rounding of right angles


def _close(left: npt.ArrayLike, right: npt.ArrayLike) -> bool:
    a, b = np.asarray(left), np.asarray(right)
    return bool(np.all(np.abs(a - b) <= _SAME * max(float(np.abs(b).max()), 1e-9)))
