# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""From the text of an experiment file to a validated :class:`Experiment`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from sysid_ros.errors import ExperimentError
from sysid_ros.experiment.cross_checks import check_consistency
from sysid_ros.experiment.entries import (
    read_alternatives,
    read_parameters,
    read_sequences,
    read_signals,
    read_validation,
)
from sysid_ros.experiment.experiment_schema import Experiment, ValidationConfig
from sysid_ros.experiment.fit_schema import WindowConfig
from sysid_ros.experiment.locate import nearest_there
from sysid_ros.experiment.overrides import apply_overrides
from sysid_ros.experiment.problems import Problems
from sysid_ros.experiment.rules import rule
from sysid_ros.experiment.section import as_mapping, read_section
from sysid_ros.experiment.yaml_tree import Value, parse_yaml
from sysid_ros.files import read_regular_text, yaml_line

_HOOK = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*")


@dataclass(frozen=True)
class _ModelOfBag:
    """``model: {robot_description: TOPIC}``."""

    robot_description: str = field(metadata=rule("topic of the bag that holds MJCF or URDF"))


def load_experiment(path: Path | str, *, overrides: Sequence[str] = ()) -> Experiment:
    """Read and validate an experiment file.

    Args:
      path: The YAML file.
      overrides: Settings on top of it, see :func:`with_overrides`.

    Raises:
      ExperimentError: The file cannot be read, or is not a valid experiment; the message names
        the line, what was given and what is valid, for up to five mistakes.
    """
    path = Path(path)
    try:
        text = read_regular_text(path, "utf-8-sig")
    except UnicodeDecodeError as error:
        raise ExperimentError(f"{path}: not a text file in UTF-8") from error
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        near = nearest_there([path]) if isinstance(error, FileNotFoundError) else ""
        raise ExperimentError(f"cannot read the experiment file {path}: {reason}{near}") from error
    return parse_experiment(text, path=path, overrides=overrides)


def parse_experiment(
    text: str, *, path: Path | None = None, overrides: Sequence[str] = ()
) -> Experiment:
    """Validate the text of an experiment file.

    Args:
      text: YAML.
      path: The file it came from: models are looked for beside it, messages name it.
      overrides: Settings on top of it, see :func:`with_overrides`.

    Raises:
      ExperimentError: It is not a valid experiment.
    """
    root = apply_overrides(parse_yaml(text, str(path or "experiment")), overrides)
    problems = Problems()
    experiment = _read_experiment(root, path, text, tuple(overrides), problems)
    problems.raise_if_any()
    check_consistency(experiment, root, problems)
    problems.raise_if_any()
    return experiment


def with_overrides(experiment: Experiment, overrides: Sequence[str]) -> Experiment:
    """Change settings of an experiment.

    Args:
      experiment: The experiment; not modified.
      overrides: ``path=value`` each, such as ``fit.max_iterations=20``,
        ``parameters[0].armature.max=0.1`` or ``sequences+=bags/another``; values are YAML.

    Returns:
      A validated experiment whose ``overrides`` include the new ones; without any, the same one.

    Raises:
      ExperimentError: An override is malformed or its value invalid.
    """
    if not overrides:
        return experiment
    return parse_experiment(
        experiment.text, path=experiment.path, overrides=(*experiment.overrides, *overrides)
    )


def with_bags(
    experiment: Experiment, bags: Sequence[Path | str], replace: bool = False
) -> Experiment:
    """Add recordings to those that are fitted, or fit other ones.

    Args:
      experiment: The experiment; not modified.
      bags: Paths of bags.
      replace: Whether they take the place of the experiment's own sequences.

    Returns:
      A validated experiment; without ``bags``, the same one.

    Raises:
      ExperimentError: A bag is there already or is held out.
    """
    if not bags:
        return experiment
    sign = "=" if replace else "+="
    return with_overrides(experiment, [f"sequences{sign}{yaml_line([str(bag) for bag in bags])}"])


def with_folders(
    experiment: Experiment, *, package_path: Sequence[str], msg_path: Sequence[str] = ()
) -> Experiment:
    """Add folders in which packages and message definitions are looked for, before the others.

    Args:
      experiment: The experiment; not modified.
      package_path: As the experiment's ``package_path``.
      msg_path: As the experiment's ``msg_path``.

    Returns:
      A validated experiment; without folders, the same one.
    """
    overrides = [
        f"{name}={yaml_line([*added, *known])}"
        for name, added, known in (
            ("package_path", package_path, experiment.package_path),
            ("msg_path", msg_path, experiment.msg_path),
        )
        if added
    ]
    return with_overrides(experiment, overrides) if overrides else experiment


def _read_experiment(
    root: Value, path: Path | None, text: str, overrides: tuple[str, ...], problems: Problems
) -> Experiment:
    entries = as_mapping(root, "an experiment", problems)
    problems.raise_if_any()
    given: dict[str, object] = {"path": path, "text": text, "overrides": overrides}
    for key, read in (
        ("sequences", read_sequences),
        ("signals", read_signals),
        ("parameters", read_parameters),
    ):
        missing = key not in entries or entries[key].content is None
        given[key] = () if missing else read(entries[key], key, problems)
    given["validation"] = ValidationConfig()
    if "validation" in entries:
        given["validation"] = read_validation(entries["validation"], "validation", problems)
    given["alternatives"] = {}
    if "alternatives" in entries:
        given["alternatives"] = read_alternatives(entries["alternatives"], "alternatives", problems)
    windows = WindowConfig()
    if "windows" in entries:
        windows = read_section(WindowConfig, entries["windows"], "windows", problems)
    given["windows"] = windows
    given["scoring"] = None
    if "scoring" in entries:
        given["scoring"] = read_section(
            WindowConfig, entries["scoring"], "scoring", problems, defaults=windows
        )
    if "model" not in entries:
        given["model"] = None  # a model topic or models per sequence may replace it
    elif isinstance(entries["model"].content, dict):
        given["model"] = None
        given["model_topic"] = read_section(
            _ModelOfBag, entries["model"], "model", problems
        ).robot_description
        if "model_topic" in entries:
            problems.add(entries["model_topic"].place, "give model or model_topic, not both")
    experiment = read_section(Experiment, root, "", problems, given=given)
    if experiment.modifiers is not None and not _HOOK.fullmatch(experiment.modifiers):
        problems.add(
            entries["modifiers"].place,
            f"modifiers must look like my_module:function, given {experiment.modifiers!r}",
        )
    return experiment
