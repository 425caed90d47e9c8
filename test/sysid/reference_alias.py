# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A pytest plugin that lets mujoco.sysid's own tests meet this library instead."""

from __future__ import annotations

import sys
import types

import mujoco

from sysid_ros import sysid
from sysid_ros.engine.attributes import attribute
from sysid_ros.engine.elements import inertia, slim_model
from sysid_ros.engine.estimation import optimize
from sysid_ros.engine.parameters import body_modifiers, model_modifier, parameter, parameter_dict
from sysid_ros.engine.problem import residual
from sysid_ros.engine.residuals import signal_modifier, signal_transform
from sysid_ros.engine.signals import mappings, timeseries, trajectory
from sysid_ros.sysid import results_io


def _infer_inertial(spec, body_name):
    """What the reference's fixtures use to make an inertia explicit."""
    from sysid_ros.engine.elements.body_inertia import make_explicit

    make_explicit(spec, [body_name])
    return spec.body(body_name)


def _module(name: str, *sources: object, **extra: object) -> types.ModuleType:
    module = types.ModuleType(name)
    for source in sources:
        for key, value in vars(source).items():
            if not key.startswith("__"):
                setattr(module, key, value)
    for key, value in extra.items():
        setattr(module, key, value)
    return module


_PARTS = {
    "parameter": _module("parameter", inertia, parameter_dict, parameter),
    "timeseries": _module("timeseries", mappings, timeseries),
    "trajectory": _module("trajectory", trajectory, sysid),
    "model_modifier": _module(
        "model_modifier",
        attribute,
        body_modifiers,
        model_modifier,
        slim_model,
        _infer_inertial=_infer_inertial,
    ),
    "signal_modifier": signal_modifier,
    "signal_transform": signal_transform,
    "residual": residual,
    "optimize": optimize,
    "io": results_io,
}

_SRC = _module("mujoco.sysid._src", **_PARTS)
sysid._src = _SRC  # type: ignore[attr-defined]  # in the test's process only
mujoco.sysid = sysid
sys.modules["mujoco.sysid"] = sysid
sys.modules["mujoco.sysid._src"] = _SRC
for _name, _part in _PARTS.items():
    sys.modules[f"mujoco.sysid._src.{_name}"] = _part
