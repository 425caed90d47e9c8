# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The experiment's Python hook: a function that adds parameters YAML cannot describe."""

from __future__ import annotations

import functools
import importlib
import importlib.util
from pathlib import Path
from typing import Any

from sysid_ros.engine.parameters import (
    AttributeModifier,
    ModifierFn,
    Parameter,
    ParameterDict,
    SignalModifier,
)
from sysid_ros.errors import ExperimentError, SysidError
from sysid_ros.experiment import Experiment


def call_hook(experiment: Experiment, parameters: ParameterDict, spec: Any) -> None:
    """Let the experiment's hook add to its parameters or change them.

    The hook is called as ``function(parameters, spec)`` with a copy of the model; what it adds are
    :class:`Parameter` objects with a modifier of their own.

    Args:
      experiment: Its ``modifiers`` names the hook as ``module:function``. The module is a file
        beside the experiment, or importable.
      parameters: Changed in place.
      spec: The model (an MjSpec).

    Raises:
      ExperimentError: There is no such function, or it raised; the message has its reason.
    """
    if experiment.modifiers is None:
        return
    module_name, _, function_name = experiment.modifiers.partition(":")
    what = f"{experiment.path or 'experiment'}: modifiers {experiment.modifiers!r}"
    try:
        function = getattr(_module(module_name, experiment.path), function_name, None)
    except (Exception, SystemExit) as error:  # whatever the user's module raises when imported
        raise ExperimentError(f"{what}: importing it failed: {_described(error)}") from error
    if not callable(function):
        raise ExperimentError(f"{what}: the module has no function {function_name!r}")
    try:
        function(parameters, spec.copy())
    except SysidError:
        raise
    except (Exception, SystemExit) as error:
        raise ExperimentError(f"{what} failed: {_described(error)}") from error
    for parameter in parameters.values():
        modifier = parameter.modifier
        if modifier is not None and not isinstance(modifier, (AttributeModifier, SignalModifier)):
            parameter.modifier = _attributed(modifier, f"{what}: modifier of {parameter.name!r}")


def _attributed(modifier: ModifierFn, what: str) -> ModifierFn:
    """The same modifier, whose errors say that they come from the hook."""

    @functools.wraps(modifier)
    def apply(spec: Any, parameter: Parameter) -> None:
        try:
            modifier(spec, parameter)
        except SysidError:
            raise
        except (Exception, SystemExit) as error:
            raise ExperimentError(f"{what} failed: {_described(error)}") from error

    return apply


def _module(name: str, experiment_file: Path | None) -> Any:
    """Import a module, a file beside the experiment first."""
    file = _file_beside(name, experiment_file)
    if file is not None:
        spec = importlib.util.spec_from_file_location(name, file)
        if spec is not None and spec.loader is not None:
            module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
            return module
    return importlib.import_module(name)


def hook_file(experiment: Experiment) -> Path | None:
    """The file beside the experiment that its hook is in; ``None`` where it is elsewhere."""
    name = (experiment.modifiers or "").partition(":")[0]
    return _file_beside(name, experiment.path) if name else None


def _file_beside(module: str, experiment_file: Path | None) -> Path | None:
    if experiment_file is None:
        return None
    file = experiment_file.parent.joinpath(*module.split(".")).with_suffix(".py")
    return file if file.is_file() else None


def _described(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"
