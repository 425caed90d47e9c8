# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The experiment's Python hook: a function that adds parameters YAML cannot describe."""

from __future__ import annotations

import contextlib
import functools
import importlib
import importlib.util
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sysid_ros.engine.parameters import (
    AttributeModifier,
    ModifierFn,
    Parameter,
    ParameterDict,
    SignalModifier,
)
from sysid_ros.errors import ExperimentError, SysidError
from sysid_ros.experiment import Experiment
from sysid_ros.processes import TimeOutInterrupt, interrupted_after

_LEAST = 5.0  # s that a call may take however little is left of the time limit


def call_hook(experiment: Experiment, parameters: ParameterDict, spec: Any) -> None:
    """Let the experiment's hook add to its parameters or change them.

    The hook is called as ``function(parameters, spec)`` with a copy of the model; what it adds are
    :class:`Parameter` objects with a modifier of their own. What it prints goes to the standard
    error stream, as the other one belongs to results.

    Args:
      experiment: Its ``modifiers`` names the hook as ``module:function``. The module is a file
        beside the experiment, or importable.
      parameters: Changed in place.
      spec: The model (an MjSpec).

    Raises:
      ExperimentError: There is no such function, it raised, or it left or returned something that
        cannot be used; the message has the reason.
    """
    if experiment.modifiers is None:
        return
    module_name, _, function_name = experiment.modifiers.partition(":")
    what = f"{experiment.path or 'experiment'}: modifiers {experiment.modifiers!r}"
    limit = _Limit(experiment.fit.time_limit, time.monotonic())
    with _foreign(f"{what}: importing it failed", limit):
        function = getattr(_module(module_name, experiment.path), function_name, None)
    if not callable(function):
        raise ExperimentError(f"{what}: the module has no function {function_name!r}")
    with _foreign(f"{what} failed", limit):
        returned = function(parameters, spec.copy())
    if returned is not None and returned is not parameters:
        raise ExperimentError(
            f"{what} returned a {type(returned).__name__}, which would be lost; it must add to the "
            "parameters that it is given, and change the model by their modifiers"
        )
    for name, parameter in parameters.items():
        _check(what, name, parameter)
        modifier = parameter.modifier
        if modifier is not None and not isinstance(modifier, (AttributeModifier, SignalModifier)):
            parameter.modifier = _attributed(modifier, f"{what}: modifier of {name!r}", limit)


@dataclass(frozen=True)
class _Limit:
    """The time limit of the command, which a hook that never returns must not outlast."""

    seconds: float | None  # ``None`` for as long as it takes
    began: float  # monotonic s

    @property
    def left(self) -> float | None:
        """The time that a call may take, s."""
        if self.seconds is None:
            return None
        return max(self.seconds - (time.monotonic() - self.began), _LEAST)


def _attributed(modifier: ModifierFn, what: str, limit: _Limit) -> ModifierFn:
    """The same modifier, whose errors say that they come from the hook."""

    @functools.wraps(modifier)
    def apply(spec: Any, parameter: Parameter) -> None:
        with _foreign(f"{what} failed", limit):
            modifier(spec, parameter)

    return apply


@contextlib.contextmanager
def _foreign(what: str, limit: _Limit) -> Iterator[None]:
    """Run the user's code: whatever it raises says where, and what it prints spoils no result."""
    left = limit.left
    late = None if left is None else f"it had not returned after {left:.0f} s; see fit.time_limit"
    try:
        with contextlib.redirect_stdout(sys.stderr), interrupted_after(left, late or ""):
            yield
    except (SysidError, KeyboardInterrupt):
        raise
    except BaseException as error:  # it may exit, or raise what nobody catches
        raise ExperimentError(f"{what}: {_described(error)}") from error


def _check(what: str, name: object, parameter: object) -> None:
    """Refuse what a hook left among the parameters that is none.

    Raises:
      ExperimentError: It is no parameter, its value is no finite number within its bounds, or
        what should write it into the model cannot be called.
    """
    if not isinstance(parameter, Parameter) or name != parameter.name:
        raise ExperimentError(
            f"{what} left {name!r} among the parameters, which is no Parameter of that name"
        )
    low, high = parameter.get_bounds()
    value = parameter.as_vector()
    if not np.all((low <= value) & (value <= high) & np.isfinite(value)):
        raise ExperimentError(
            f"{what}: the value of {name!r} is {value.tolist()}, not a finite number within "
            f"[{low.tolist()}, {high.tolist()}]"
        )
    if parameter.modifier is not None and not callable(parameter.modifier):
        raise ExperimentError(
            f"{what}: the modifier of {name!r} is a {type(parameter.modifier).__name__}, which "
            "cannot be called"
        )


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
    late = isinstance(error, TimeOutInterrupt)
    return str(error) if late else f"{type(error).__name__}: {error}"
