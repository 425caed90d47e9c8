# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Settings that the rest of an experiment leaves without effect: they are said, not ignored."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from typing import Any

from sysid_ros.errors import listed
from sysid_ros.experiment.experiment_schema import Experiment
from sysid_ros.experiment.fit_schema import (
    FitConfig,
    InitialStateConfig,
    TorqueFitConfig,
    WindowConfig,
)
from sysid_ros.recording.mapping import SignalKind

_OF_SIMULATION = ("loss", "intervals", "engine")  # of ``fit``
# Of ``fit.inverse_dynamics``, what torque beside a simulation uses too.
_OF_BOTH = ("motion_cutoff", "row_cutoff", "beside_simulation")
_NAMED = 6


def idle_settings(experiment: Experiment) -> tuple[str, ...]:
    """Return a sentence about each group of settings that change nothing in this experiment.

    Settings that stand at their default are not mentioned, nor those that only say how fast the
    same answer is found.
    """
    found = []
    names = [*(_of_torque(experiment) if experiment.fit.simulates else _of_windows(experiment))]
    if names:
        found.append(
            f"With fit.method {experiment.fit.method} these settings change nothing in a fit: "
            f"{listed(names, _NAMED)}."
        )
    inputs = [
        signal.label
        for signal in experiment.signals
        if signal.kind is SignalKind.ACTUATOR and signal.noise is not None
    ]
    if inputs:
        found.append(
            f"The noise of inputs is not used, but given for {listed(map(repr, inputs), _NAMED)}: "
            "an input is taken as it was recorded."
        )
    return tuple(found)


def _of_torque(experiment: Experiment) -> Iterator[str]:
    for name in _changed(experiment.fit.inverse_dynamics, TorqueFitConfig()):
        if name not in _OF_BOTH:
            yield f"fit.inverse_dynamics.{name}"


def _of_windows(experiment: Experiment) -> Iterator[str]:
    if experiment.windows.length != WindowConfig().length:
        yield "windows.length"
    for name in _changed(experiment.fit, FitConfig()):
        if name in _OF_SIMULATION:
            yield f"fit.{name}"
    for name in _changed(experiment.initial_state, InitialStateConfig()):
        yield f"initial_state.{name}"


def _changed(given: Any, usual: Any) -> list[str]:
    """Names of the settings that are not at their default."""
    names = [field.name for field in fields(usual)]
    return [name for name in names if getattr(given, name) != getattr(usual, name)]
