# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The inertia of a body, written in the form in which the file writes it."""

from __future__ import annotations

from typing import Any

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.elements import BodyInertia, full_inertia
from sysid_ros.robots import Element, XmlText, numbers

_ORIENTATIONS = ("quat", "axisangle", "xyaxes", "zaxis", "euler")
_FULL = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))  # xx yy zz xy xz yz


def inertial_changed(before: Any, after: Any) -> bool:
    """Return whether the explicit inertia of a body of two specs differs."""
    if before.explicitinertial != after.explicitinertial:
        return True
    return any(
        not np.array_equal(getattr(before, field), getattr(after, field), equal_nan=True)
        for field in ("mass", "ipos", "iquat", "inertia", "fullinertia")
    )


def edit_inertial(
    document: XmlText, body: Element, was: BodyInertia | None, now: BodyInertia
) -> None:
    """Give the element of a body another inertia.

    Args:
      document: The file of the element.
      body: The ``<body>``.
      was: What the element says so far; ``None`` where that did not count.
      now: The identified one.
    """
    found = body.named("inertial")
    if not found:
        document.insert_first(body, _inertial(now))
        return
    inertial = found[0]
    if was is None or now.mass != was.mass:
        document.set(inertial, "mass", numbers(now.mass))
    if was is None or not np.array_equal(now.ipos, was.ipos):
        document.set(inertial, "pos", numbers(now.ipos))
    if "fullinertia" in inertial.attributes:
        if was is None or not np.allclose(
            full_inertia(now), full_inertia(was), rtol=1e-14, atol=0.0
        ):
            document.set(inertial, "fullinertia", numbers(full_values(full_inertia(now))))
        return
    if was is None or not np.array_equal(now.iquat, was.iquat):
        for name in _ORIENTATIONS[1:]:
            if name in inertial.attributes:
                document.set(inertial, name, None)
        document.set(inertial, "quat", numbers(now.iquat))
    if was is None or not np.array_equal(now.inertia, was.inertia):
        document.set(inertial, "diaginertia", numbers(now.inertia))


def full_values(matrix: FloatArray) -> FloatArray:
    """The six numbers of ``fullinertia``, (6,): xx, yy, zz, xy, xz, yz."""
    return np.array([matrix[i] for i in _FULL])


def _inertial(inertia: BodyInertia) -> str:
    turned = not np.array_equal(inertia.iquat, [1.0, 0.0, 0.0, 0.0])
    quat = f' quat="{numbers(inertia.iquat)}"' if turned else ""
    return (
        f'<inertial pos="{numbers(inertia.ipos)}"{quat} mass="{numbers(inertia.mass)}" '
        f'diaginertia="{numbers(inertia.inertia)}"/>'
    )
