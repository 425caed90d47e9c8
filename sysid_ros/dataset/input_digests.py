# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Digests of models and settings, by which what was kept of others is recognised."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict
from enum import Enum
from typing import Any

import mujoco
import numpy as np

from sysid_ros.experiment import Experiment

# What may change between an interrupted fit and its continuation: limits, and what comes after.
_FREE_SETTINGS = (
    "max_iterations",
    "time_limit",
    "threads",
    "model_error",
    "bias_check",
    "window_check",
    "landscapes",
)
_NOT_SETTINGS = (
    "path",
    "text",
    "overrides",
    "output",
    "scoring",
    "place",
    "alternatives",
    "logs",
    "motion",
)

_OF_THE_USER = ("condition", "conditions")  # whose keys are names that users give


def compiled_digest(spec: mujoco.MjSpec) -> str:
    """A digest of every number of a model, with its options."""
    model, digest = spec.copy().compile(), hashlib.sha256()
    for part in (model, model.opt):
        for name in sorted(dir(part)):
            value = None if name.startswith("_") else getattr(part, name)
            if isinstance(value, (np.ndarray, int, float)):
                digest.update(name.encode() + np.asarray(value).tobytes())
    return digest.hexdigest()


def setting_digests(experiment: Experiment) -> dict[str, str]:
    """A digest of each setting of an experiment file, by a name that people understand."""
    settings = _settings(experiment)
    return {f"the setting {name}": _digest(value) for name, value in settings.items()}


def _settings(experiment: Experiment) -> dict[str, Any]:
    settings: dict[str, Any] = {}
    for name, value in asdict(experiment).items():
        if name == "fit":
            settings.update(
                {f"fit.{key}": item for key, item in value.items() if key not in _FREE_SETTINGS}
            )
        elif name not in _NOT_SETTINGS:
            settings[name] = value
    return settings


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(_plain(value), sort_keys=True).encode()).hexdigest()


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {
            str(k): dict(v) if k in _OF_THE_USER and isinstance(v, Mapping) else _plain(v)
            for k, v in value.items()
            if k not in _NOT_SETTINGS
        }
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return value.value if isinstance(value, Enum) else value
