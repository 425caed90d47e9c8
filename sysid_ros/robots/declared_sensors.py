# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Sensors that an experiment describes and its model lacks, such as the IMU of a URDF."""

from __future__ import annotations

import mujoco

from sysid_ros.engine.elements import SCALAR
from sysid_ros.errors import ModelError, unknown_name
from sysid_ros.experiment import SignalConfig

_ON_SITES = ("accelerometer", "gyro", "velocimeter", "magnetometer", "force", "torque")
_ON_JOINTS = ("jointpos", "jointvel", "jointactuatorfrc")
_AND = " + "  # between the joints behind each other that an encoder turns with
_O = mujoco.mjtObj
# the names of MJCF, where they differ from those of the enumeration
_ENUMERATED = {"jointactuatorfrc": "JOINTACTFRC"}


def add_declared_sensor(spec: mujoco.MjSpec, signal: SignalConfig) -> None:
    """Add the sensor that a signal's ``type`` and ``at`` describe.

    A sensor of the model that has its name and type is kept, wherever it is. At a body, the
    sensor gets the body's frame: that of the link in a URDF. A position at ``motor + spring`` is
    the sum of these joints', as an encoder behind the spring shows it.

    Args:
      spec: The model; gets the sensor, and a site where it needs one.
      signal: A sensor with ``type`` and ``at``.

    Raises:
      ModelError: The model has another sensor of that name, or nothing called ``at``.
    """
    kind = signal.type or ""
    is_sum = kind == "jointpos" and _AND in (signal.at or "")
    wanted = getattr(mujoco.mjtSensor, f"mjSENS_{_ENUMERATED.get(kind, kind.upper())}")
    wanted = mujoco.mjtSensor.mjSENS_TENDONPOS if is_sum else wanted
    existing = next((s for s in spec.sensors if s.name == signal.name), None)
    if existing is not None:
        if int(existing.type) != int(wanted):
            raise ModelError(
                f"{signal.place}: the model has a sensor {signal.name!r} that is no {kind}; "
                "leave type and at out to use it"
            )
        return
    objtype, name = _sum(spec, signal) if is_sum else _place(spec, signal, kind)
    spec.add_sensor(name=signal.name, type=wanted, objtype=objtype, objname=name)


def _sum(spec: mujoco.MjSpec, signal: SignalConfig) -> tuple[mujoco.mjtObj, str]:
    """A new tendon whose length is the sum of several joints' positions."""
    joints = [joint.name for joint in spec.joints if int(joint.type) in SCALAR]
    tendon = spec.add_tendon(name=f"{signal.name}_sum")
    for name in (signal.at or "").split(_AND):
        if name not in joints:
            known = unknown_name("hinge or slide", name, joints)
            raise ModelError(f"{signal.place}: {signal.name!r}: {known}")
        tendon.wrap_joint(name, 1.0)
    return _O.mjOBJ_TENDON, tendon.name


def _place(spec: mujoco.MjSpec, signal: SignalConfig, kind: str) -> tuple[mujoco.mjtObj, str]:
    """The element that a sensor is attached to."""
    at = signal.at or ""
    joints = [joint.name for joint in spec.joints]
    if kind in _ON_JOINTS:
        if at not in joints:
            known = unknown_name("joint", at, joints)
            raise ModelError(f"{signal.place}: {signal.name!r}: {known}")
        return _O.mjOBJ_JOINT, at
    sites = [site.name for site in spec.sites]
    if at in sites:
        return _O.mjOBJ_SITE, at
    bodies = [body.name for body in spec.bodies]
    if at not in bodies:
        named = [name for name in (*sites, *bodies) if name]
        known = unknown_name("site or body", at, named)
        raise ModelError(f"{signal.place}: {signal.name!r}: {known}")
    if kind not in _ON_SITES:
        return _O.mjOBJ_XBODY, at
    site = f"{signal.name}_site"
    if site not in sites:
        spec.body(at).add_site(name=site)
    return _O.mjOBJ_SITE, site
