# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The files of a result that other programs take: one row of a table each.

A new format is a module that makes its text and a row in :data:`FORMATS`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import mujoco

from sysid_ros.engine.elements import compiled, undrawn
from sysid_ros.errors import ModelError
from sysid_ros.exports.bam import bam_documents
from sysid_ros.exports.model_file import MODEL, StartState, write_model
from sysid_ros.exports.randomization import randomization_yaml
from sysid_ros.exports.ros2_control import ros2_control_yaml
from sysid_ros.exports.source_model import write_source_model
from sysid_ros.exports.urdf_edits import edited_urdf
from sysid_ros.files import dumps, read_regular, replace_file, untaken
from sysid_ros.judgement import Outcome, signal_corrections
from sysid_ros.processes import return_freed_memory
from sysid_ros.robots import LoadedModel, XmlText

Texts = Mapping[str, bytes | str]  # by path in the result folder


@dataclass(frozen=True)
class Identified:
    """The material of all formats."""

    outcome: Outcome  # what was identified
    spec: mujoco.MjSpec  # the model with the identified values in place, of one robot; not changed
    # where the model came from; without it ``model.xml`` is written anew
    source: LoadedModel | None = None
    start_state: StartState | None = None  # the keyframe of a model that is written anew

    @cached_property
    def model(self) -> mujoco.MjModel | None:
        """``spec`` compiled; ``None`` where a file is missing, of which ``model.xml`` warns."""
        try:
            return compiled(undrawn(self.spec))
        except ModelError:
            return None


@dataclass(frozen=True)
class ExportFormat:
    """One form in which other programs take what was identified."""

    name: str  # its file, or its folder of files, in a result
    user: str  # who takes it
    texts: Callable[[Identified], Texts]  # makes the files; none where they would say nothing
    per_robot: bool = True  # whether each of several robots gets its own


def _urdf(found: Identified) -> Texts:
    if found.source is None or not found.source.text.is_urdf:
        return {}
    return {URDF: edited_urdf(found.source.text, found.source.spec, found.spec)}


def _ros2_control(found: Identified) -> Texts:
    if found.model is None:
        return {}
    return {"ros2_control.yaml": ros2_control_yaml(found.outcome, found.model)}


def _randomization(found: Identified) -> Texts:
    return {"domain_randomization.yaml": randomization_yaml(found.outcome)}


def _bam(found: Identified) -> Texts:
    documents = {} if found.model is None else bam_documents(found.outcome, found.model)
    names: dict[str, str] = {}
    for joint in documents:  # names of joints may have what those of files have not
        names[untaken(joint.replace("/", "_"), {*documents} - {joint} | {*names})] = joint
    return {f"bam/{name}.json": f"{dumps(documents[joint])}\n" for name, joint in names.items()}


URDF = "model.urdf"
FORMATS = (  # beside model.xml, which can be written in two ways
    ExportFormat(URDF, "ROS", _urdf),
    ExportFormat("ros2_control.yaml", "controllers", _ros2_control),
    ExportFormat("domain_randomization.yaml", "training", _randomization, per_robot=False),
    ExportFormat("bam", "BAM", _bam),
)


def write_exports(found: Identified, folder: Path, *, of_one_robot: bool = False) -> Outcome:
    """Write ``model.xml`` and every other format.

    Args:
      found: What was identified.
      folder: An existing folder.
      of_one_robot: Whether the folder is that of one of several robots.

    Returns:
      The outcome, whose provenance says how the model was written, with a warning for what could
      not be.

    Raises:
      OutputError: The folder cannot be written.
    """
    outcome = found.outcome
    corrections = signal_corrections(outcome.applied)
    try:
        how = _write_model(found, folder)
        _add_notes(folder / MODEL, corrections)
    except ModelError as error:
        how = "missing"
        outcome = _without("model.xml", outcome, error)
    return_freed_memory()  # of models with all their meshes, which were compared
    if found.source is not None:
        outcome = replace(outcome, provenance={**outcome.provenance, "model.xml": how})
    for kind in FORMATS:
        if of_one_robot and not kind.per_robot:
            continue
        try:
            texts = kind.texts(found)
        except ModelError as error:
            outcome = _without(kind.name, outcome, error)
            continue
        for path, text in texts.items():
            (folder / path).parent.mkdir(exist_ok=True)
            replace_file(folder / path, text)
    if (folder / URDF).is_file():
        _add_notes(folder / URDF, corrections)
    return outcome


def _without(name: str, outcome: Outcome, error: ModelError) -> Outcome:
    return replace(outcome, warnings=(*outcome.warnings, f"There is no {name}: {error}."))


def _write_model(found: Identified, folder: Path) -> str:
    """Write ``model.xml`` in one way or the other, and say which."""
    reason: ModelError | None = None
    if found.source is not None:
        try:
            write_source_model(found.source.text, found.source.spec, found.spec, folder)
            return "the source with nothing but the identified and the frozen values changed"
        except ModelError as error:
            reason = error
    write_model(found.spec, folder, start_state=found.start_state)
    return f"written anew by MuJoCo, because {reason}"


def _add_notes(path: Path, corrections: Sequence[str]) -> None:
    """Say in a model file what was identified and is not in it; nothing where all of it is."""
    if corrections:
        replace_file(path, with_notes(read_regular(path), corrections))


def with_notes(text: bytes, corrections: Sequence[str]) -> bytes:
    """Return an XML text with a comment in front of its root."""
    lines = [
        "Identified by sysid_ros. Not in this file, as no model has a place for it:",
        *(f"  {one}" for one in corrections),
        "Whoever simulates with this file has to do that to the signals.",
    ]
    said = re.sub(r"-(?=-)|-$", "- ", "\n".join(lines))  # XML allows no two hyphens in a comment
    start = XmlText(text).root.start
    return text[:start] + f"<!--\n{said}\n-->\n".encode() + text[start:]
