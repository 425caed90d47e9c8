# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The files of a result that other programs take: their model, their parameters, their ranges."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import mujoco

from sysid_ros.errors import ModelError, OutputError
from sysid_ros.exports.bam import bam_documents
from sysid_ros.exports.model_text import ModelText
from sysid_ros.exports.randomization import randomization_yaml
from sysid_ros.exports.ros2_control import ros2_control_yaml
from sysid_ros.exports.urdf import edited_urdf
from sysid_ros.files import replace_file, translated_os_errors, write_json
from sysid_ros.outcome import Outcome
from sysid_ros.results.model_file import StartState, write_model
from sysid_ros.results.result_folder import BAM, MODEL, RANDOMIZATION, ROS2_CONTROL, URDF
from sysid_ros.results.source_model import write_source_model
from sysid_ros.sysid.body_inertia import compiled


@dataclass(frozen=True)
class SourceModel:
    """The model that was identified, as it was given."""

    text: ModelText
    spec: mujoco.MjSpec


def write_models(
    outcome: Outcome,
    spec: mujoco.MjSpec,
    folder: Path,
    *,
    source: SourceModel | None,
    start_state: StartState | None,
) -> Outcome:
    """Write ``model.xml`` and, where the source is one, ``model.urdf``.

    Args:
      outcome: What was identified.
      spec: The identified model.
      folder: An existing folder.
      source: Where the model came from; without it the model is written anew.
      start_state: The keyframe of a model that is written anew.

    Returns:
      The outcome, whose provenance says how the model was written, with a warning where it could
      not be.

    Raises:
      OSError: The folder cannot be written.
    """
    try:
        if source is None:
            write_model(spec, folder, start_state=start_state)
            return outcome
        how = _write_model(source, spec, folder, start_state)
    except ModelError as error:
        how = "missing"
        warning = f"There is no model.xml: {error}."
        outcome = replace(outcome, warnings=(*outcome.warnings, warning))
    if source is not None and source.text.is_urdf:
        replace_file(folder / URDF, edited_urdf(source.text, source.spec, spec))
    return replace(outcome, provenance={**outcome.provenance, "model.xml": how})


def _write_model(
    source: SourceModel, spec: mujoco.MjSpec, folder: Path, start_state: StartState | None
) -> str:
    """Write ``model.xml`` in one way or the other, and say which."""
    try:
        write_source_model(source.text, source.spec, spec, folder)
    except ModelError as reason:
        write_model(spec, folder, start_state=start_state)
        return f"written anew by MuJoCo, because {reason}"
    return "the source with nothing but the identified and the frozen values changed"


def write_ranges(outcome: Outcome, folder: Path) -> None:
    """Write the ranges for domain randomisation into an existing folder.

    Raises:
      OSError: The folder cannot be written.
    """
    replace_file(folder / RANDOMIZATION, randomization_yaml(outcome))


def write_tables(outcome: Outcome, spec: mujoco.MjSpec, folder: Path) -> None:
    """Write what one robot's controllers and BAM take.

    Args:
      outcome: What was identified.
      spec: The identified model; not changed.
      folder: An existing folder.

    Raises:
      OSError: The folder cannot be written.
    """
    try:
        model = compiled(spec)
    except ModelError:  # a file is missing, as the warning about model.xml says
        return
    replace_file(folder / ROS2_CONTROL, ros2_control_yaml(outcome, model))
    for joint, document in bam_documents(outcome, model).items():
        (folder / BAM).mkdir(exist_ok=True)
        write_json(folder / BAM / f"{joint.replace('/', '_')}.json", document)


def write_applied(
    text: ModelText, before: mujoco.MjSpec, after: mujoco.MjSpec, folder: Path
) -> Path:
    """Write a model file with other values into a new folder.

    Args:
      text: The file.
      before: What MuJoCo reads from it.
      after: The model with the new values, made from ``before``.
      folder: Created; it must not hold a model already.

    Returns:
      The path of ``model.xml`` or ``model.urdf``.

    Raises:
      ModelError: The text cannot say what changed; the message says why.
      OutputError: The folder cannot be written or holds a model.
    """
    path = folder / (URDF if text.is_urdf else MODEL)
    if path.exists():
        raise OutputError(f"{path} exists; choose another folder")
    with translated_os_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
        if text.is_urdf:
            replace_file(path, edited_urdf(text, before, after))
        else:
            write_source_model(text, before, after, folder)
    return path
