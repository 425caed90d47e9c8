# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Identifiable attributes of bodies: mass, centre of mass, inertia, gravity compensation."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.attributes.attribute import Attribute, non_negative, scalar, scaled
from sysid_ros.engine.elements import (
    BodyInertia,
    find,
    inertia_from_theta,
    read_inertia,
    theta_from_inertia,
    write_inertia,
    write_moving_inertia,
)
from sysid_ros.errors import ModelError

THETA_NAMES = ("alpha", "d1", "d2", "d3", "s12", "s23", "s13", "t1", "t2", "t3")

# Coordinates that a mirror image across a plane normal to an axis has with the other sign: those of
# the Cholesky factor of the pseudo-inertia in the row and the column of that axis.
_ODD = {"x": ("s12", "s13", "t1"), "y": ("s12", "s23", "t2"), "z": ("s23", "s13", "t3")}
# Attributes that are a body's whole inertia.
INERTIAS = (
    "inertia",
    *(f"inertia_{kind}_{axis}" for kind in ("symmetric", "mirrored") for axis in _ODD),
)
_MASS_FACTOR = (0.1, 10.0)
_STRETCH_FACTOR = (0.5, 2.0)
_OFFSET = (-0.5, 0.5)  # m for the centre of mass, none for shears


def body_attributes() -> list[Attribute]:
    """The rows for bodies.

    ``mass`` and ``mass_ipos`` scale the rotational inertia about the centre of mass with the
    mass: the same body of another density. ``gyration`` scales it alone, the same body of another
    size: the root mean square distance of its mass from the centre. ``com_x`` to ``com_z``
    move the centre of mass in the body's frame and keep the inertia about it. ``inertia`` is free
    in all ten parameters;
    ``inertia_symmetric_y`` in the seven of a body that is its own mirror image across the plane of
    its frame normal to y; ``inertia_mirrored_y`` is shared by a body and mirror images of it.
    """
    return [
        Attribute(
            "body", "mass", "kg", 1, scaled(*_MASS_FACTOR), _read_mass, _write_mass, least=0.0
        ),
        Attribute(
            "body", "mass_ipos", "kg, m, m, m", 4, _mass_ipos_bounds, _read_mass_ipos,
            _write_mass_ipos, ("mass", "x", "y", "z"), least=0.0,
        ),
        Attribute(
            "body", "gyration", "m", 1, scaled(*_STRETCH_FACTOR), _read_gyration, _write_gyration,
            least=0.0,
        ),
        *(
            Attribute(
                "body", f"com_{axis}", "m", 1, _com_bounds, partial(_read_com, i),
                partial(_write_com, i),
            )
            for i, axis in enumerate("xyz")
        ),
        Attribute("body", "inertia", "", 10, theta_bounds, _read_theta, _write_theta, THETA_NAMES),
        *(_symmetric(axis) for axis in _ODD),
        *(
            Attribute(
                "body", f"inertia_mirrored_{axis}", "", 10, theta_bounds, _read_theta,
                _write_theta, THETA_NAMES,
                tuple(-1.0 if name in odd else 1.0 for name in THETA_NAMES),
            )
            for axis, odd in _ODD.items()
        ),
        Attribute("body", "gravcomp", "", 1, non_negative(2.0), _read_gravcomp, _write_gravcomp),
    ]  # fmt: skip


def _symmetric(axis: str) -> Attribute:
    """The inertia of a body that is its own mirror image across a plane normal to an axis."""
    kept = np.array([i for i, name in enumerate(THETA_NAMES) if name not in _ODD[axis]])

    def whole(value: FloatArray) -> FloatArray:
        theta: FloatArray = np.zeros(len(THETA_NAMES))
        theta[kept] = value
        return theta

    def bounds(nominal: FloatArray) -> tuple[FloatArray, FloatArray]:
        lower, upper = theta_bounds(whole(nominal))
        return lower[kept], upper[kept]

    def read(spec: Any, name: str) -> FloatArray:
        return np.asarray(_read_theta(spec, name)[kept])

    def write(spec: Any, name: str, value: FloatArray) -> None:
        _write_theta(spec, name, whole(value))

    names = tuple(THETA_NAMES[i] for i in kept)
    return Attribute("body", f"inertia_symmetric_{axis}", "", len(kept), bounds, read, write, names)


def theta_bounds(
    theta: FloatArray,
    mass_factor: tuple[float, float] = _MASS_FACTOR,
    offset: tuple[float, float] = _OFFSET,
    stretch_factor: tuple[float, float] = _STRETCH_FACTOR,
    shear: tuple[float, float] = _OFFSET,
) -> tuple[FloatArray, FloatArray]:
    """Bounds around an inertia in the coordinates of :mod:`sysid_ros.engine.elements.inertia`.

    Args:
      theta: The nominal inertia, (10,).
      mass_factor: Smallest and largest mass, relative to the nominal.
      offset: Reach of the centre of mass along each axis, m.
      stretch_factor: Smallest and largest second moment along each axis, relative to the nominal.
      shear: Reach of the shears.

    Returns:
      Lower and upper bounds, each (10,).
    """
    mass, stretch = (0.5 * np.log(factor) for factor in (mass_factor, stretch_factor))
    ends = [
        np.concatenate([[mass[i]], np.full(3, stretch[i]), np.full(3, shear[i]), np.full(3, o)])
        for i, o in enumerate(offset)
    ]
    return theta + ends[0], theta + ends[1]


def mass_scaled(inertia: BodyInertia, mass: float) -> BodyInertia:
    """The same body of another density.

    Raises:
      ModelError: It has no mass to scale.
    """
    if inertia.mass <= 0.0:
        raise ModelError("a body without mass has no inertia that could follow its mass")
    factor = mass / inertia.mass
    return BodyInertia(mass, inertia.ipos, inertia.iquat, inertia.inertia * factor)


def _read_mass(spec: Any, name: str) -> FloatArray:
    return scalar(read_inertia(spec, name).mass)


def _write_mass(spec: Any, name: str, value: FloatArray) -> None:
    write_inertia(spec, name, mass_scaled(read_inertia(spec, name), float(value[0])))


def _read_gyration(spec: Any, name: str) -> FloatArray:
    inertia = read_inertia(spec, name)
    if inertia.mass <= 0.0 or not np.any(inertia.inertia):
        raise ModelError(f"body {name!r} has no mass, or all of it in one point: no gyration")
    return scalar(np.sqrt(0.5 * np.sum(inertia.inertia) / inertia.mass))


def _write_gyration(spec: Any, name: str, value: FloatArray) -> None:
    own, before = read_inertia(spec, name), float(_read_gyration(spec, name)[0])
    inertia = own.inertia * (float(value[0]) / before) ** 2
    write_inertia(spec, name, BodyInertia(own.mass, own.ipos, own.iquat, inertia))


def _read_mass_ipos(spec: Any, name: str) -> FloatArray:
    inertia = read_inertia(spec, name)
    return np.concatenate([[inertia.mass], inertia.ipos])


def _write_mass_ipos(spec: Any, name: str, value: FloatArray) -> None:
    inertia = mass_scaled(read_inertia(spec, name), float(value[0]))
    moved = BodyInertia(inertia.mass, value[1:4], inertia.iquat, inertia.inertia)
    write_moving_inertia(spec, name, moved)


def _mass_ipos_bounds(nominal: FloatArray) -> tuple[FloatArray, FloatArray]:
    lower, upper = nominal + _OFFSET[0], nominal + _OFFSET[1]
    lower[0], upper[0] = _MASS_FACTOR[0] * nominal[0], _MASS_FACTOR[1] * nominal[0]
    return lower, upper


def _com_bounds(nominal: FloatArray) -> tuple[FloatArray, FloatArray]:
    return nominal + _OFFSET[0], nominal + _OFFSET[1]


def _read_com(axis: int, spec: Any, name: str) -> FloatArray:
    return scalar(read_inertia(spec, name).ipos[axis])


def _write_com(axis: int, spec: Any, name: str, value: FloatArray) -> None:
    inertia = read_inertia(spec, name)
    ipos = np.array(inertia.ipos, dtype=float)
    ipos[axis] = value[0]
    moved = BodyInertia(inertia.mass, ipos, inertia.iquat, inertia.inertia)
    write_moving_inertia(spec, name, moved)


def _read_theta(spec: Any, name: str) -> FloatArray:
    return theta_from_inertia(read_inertia(spec, name))


def _write_theta(spec: Any, name: str, value: FloatArray) -> None:
    write_moving_inertia(spec, name, inertia_from_theta(value), turning=True)


def _read_gravcomp(spec: Any, name: str) -> FloatArray:
    return scalar(find(spec, "body", name).gravcomp)


def _write_gravcomp(spec: Any, name: str, value: FloatArray) -> None:
    find(spec, "body", name).gravcomp = float(value[0])
