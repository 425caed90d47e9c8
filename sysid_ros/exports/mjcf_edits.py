# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The changes of an identification, written into the model's MJCF and nowhere else.

The model before and after are compared as specifications, in which an attribute has the value, the
unit and the name it has in the file. What a default class or an included file says is left as it
is: the element itself gets the attribute, which takes precedence.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.elements import compiled, orientation, pairs, read_inertia, undrawn
from sysid_ros.exports.actuator_edits import force_law, force_law_changed
from sysid_ros.exports.inertial_edits import edit_inertial, inertial_changed
from sysid_ros.exports.mjcf_documents import MjcfDocuments
from sysid_ros.robots import Element, XmlText, numbers

# By kind of element: what MjSpec calls an attribute, and MJCF where that differs.
_ATTRIBUTES: dict[str, Sequence[str]] = {
    "joint": (
        "armature", "damping", "frictionloss", "stiffness", "springref", "ref", "pos", "axis",
        "range", "margin", "actfrcrange", "springdamper", "solref_limit", "solimp_limit",
        "solref_friction", "solimp_friction", "userdata",
    ),
    "geom": ("mass", "density", "friction", "pos", "size", "solref", "solimp", "margin", "gap",
             "solmix", "fluid_coefs"),
    "pair": ("friction", "solref", "solreffriction", "solimp", "margin", "gap"),
    "tendon": ("armature", "damping", "frictionloss", "stiffness", "springlength", "range",
               "margin", "solref_limit", "solimp_limit", "solref_friction", "solimp_friction"),
    "body": ("pos", "gravcomp"),
    "site": ("pos",),
    "actuator": ("gear", "forcerange", "ctrlrange", "actrange", "armature", "damping",
                 "cranklength", "lengthrange", "userdata"),
}  # fmt: skip
_VECTORS = ("pos", "axis", "gravity", "wind", "magnetic")  # of which MuJoCo takes no part
_ORIENTATIONS = ("euler", "axisangle", "xyaxes", "zaxis")  # besides quaternions
_OPTIONS = (
    "gravity", "wind", "magnetic", "density", "viscosity", "timestep", "impratio", "tolerance",
    "ls_tolerance", "noslip_tolerance", "ccd_tolerance", "o_margin", "o_solref", "o_solimp",
)  # fmt: skip
# Where friction models and servos keep what MuJoCo has no place for.
_SIZES = ("nuserdata", "nuser_jnt", "nuser_actuator")
_MJCF_NAMES = {
    "userdata": "user",
    "solref_limit": "solreflimit",
    "solimp_limit": "solimplimit",
    "solref_friction": "solreffriction",
    "solimp_friction": "solimpfriction",
    "fluid_coefs": "fluidcoef",
}


def edit_mjcf(documents: MjcfDocuments, before: Any, after: Any) -> None:
    """Write the difference of two specs into the files of the first.

    Args:
      documents: The files; edits are collected in them.
      before: The model as the files describe it (an MjSpec).
      after: The identified one, made from ``before``; neither is changed.

    Raises:
      ModelError: Something changed in an element that no file writes by its name.
    """
    for kind, attributes in _ATTRIBUTES.items():
        for old, new in pairs(before, after, kind):
            changes = list(_changes(old, new, attributes))
            if changes:
                document, element = documents.find(kind, old.name)
                _set(document, element, changes)
    for old, new in pairs(before, after, "actuator"):
        if force_law_changed(old, new):
            document, element = documents.find("actuator", old.name)
            tag, law = force_law(element.tag, old, new)
            if tag != element.tag:
                document.rename(element, tag)
            for name, value in law.items():
                document.set(element, name, value)
    _edit_orientations(documents, before, after)
    _edit_inertials(documents, before, after)
    _edit_global(documents, "option", before.option, after.option, _OPTIONS)
    _edit_global(documents, "size", before, after, _SIZES)


@dataclass(frozen=True)
class _Change:
    """One attribute's numbers, and how many of them have to be written."""

    name: str
    values: FloatArray
    count: int


def _changes(old: Any, new: Any, attributes: Sequence[str]) -> Iterator[_Change]:
    for attribute in attributes:
        if not hasattr(new, attribute):  # of a later MuJoCo
            continue
        was, now = (
            np.atleast_1d(np.array(getattr(item, attribute), dtype=np.float64))
            for item in (old, new)
        )
        was = np.concatenate([was, np.full(max(now.size - was.size, 0), np.nan)])[: now.size]
        different = np.flatnonzero((was != now) & ~(np.isnan(was) & np.isnan(now)))
        if different.size:
            yield _Change(_MJCF_NAMES.get(attribute, attribute), now, int(different[-1]) + 1)


def _set(document: XmlText, element: Element, changes: Iterable[_Change]) -> None:
    """Write attributes with as many numbers as the file has, or more where they differ.

    Numbers that are left out keep the default that the file gives them; vectors stay whole.
    """
    for change in changes:
        written = len(element.attributes.get(change.name, "").split())
        whole = change.name in _VECTORS
        values = change.values if whole else change.values[: max(written, change.count)]
        document.set(element, change.name, numbers(values))


def _edit_orientations(documents: MjcfDocuments, before: Any, after: Any) -> None:
    """Quaternions for what was turned, in place of whatever says its orientation."""
    for kind in ("body", "site"):
        for old, new in pairs(before, after, kind):
            if _oriented_alike(old, new):
                continue
            document, element = documents.find(kind, old.name)
            for name in _ORIENTATIONS:
                document.set(element, name, None)
            document.set(element, "quat", numbers(orientation(after, new)))


def _oriented_alike(old: Any, new: Any) -> bool:
    """Return whether two elements say their orientation in the same words."""
    pairs_of_numbers = [(getattr(old.alt, n), getattr(new.alt, n)) for n in _ORIENTATIONS]
    return old.alt.type == new.alt.type and all(
        np.array_equal(was, now, equal_nan=True)
        for was, now in [(old.quat, new.quat), *pairs_of_numbers]
    )


def _edit_inertials(documents: MjcfDocuments, before: Any, after: Any) -> None:
    overridden = _edit_compiler(documents, before, after)
    bodies = pairs(before, after, "body")
    changed = [old.name for old, new in bodies if inertial_changed(old, new)]
    model = compiled(undrawn(before)) if changed else None
    for name in changed:
        document, body = documents.find("body", name)
        was = None if overridden else read_inertia(before, name, model)
        edit_inertial(document, body, was, read_inertia(after, name))


def _edit_compiler(documents: MjcfDocuments, before: Any, after: Any) -> bool:
    """Settings that would replace explicit inertias have to go where one was identified.

    Returns:
      Whether there were any, so that no inertia in the files counted.
    """
    inferred = int(before.compiler.inertiafromgeom) != int(after.compiler.inertiafromgeom)
    total = before.compiler.settotalmass != after.compiler.settotalmass
    for document, compiler in documents.elements("compiler"):
        if inferred and "inertiafromgeom" in compiler.attributes:
            document.set(compiler, "inertiafromgeom", "auto")
        if total and "settotalmass" in compiler.attributes:
            document.set(compiler, "settotalmass", None)
    return inferred or total


def _edit_global(
    documents: MjcfDocuments, tag: str, old: Any, new: Any, attributes: Sequence[str]
) -> None:
    """An element that stands once for the whole model, or several times, one for the other."""
    changes = list(_changes(old, new, attributes))
    found = documents.elements(tag)
    for change in changes if found else ():
        # Of several elements the last one that has the attribute counts.
        having = [pair for pair in found if change.name in pair[1].attributes] or found
        _set(*having[-1], [change])
    if changes and not found:
        text = " ".join(f'{c.name}="{numbers(c.values)}"' for c in changes)
        documents.main.insert_first(documents.main.root, f"<{tag} {text}/>")
