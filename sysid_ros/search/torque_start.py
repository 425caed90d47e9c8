# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The start of a forward fit from measured torque: no trials, one regression."""

from __future__ import annotations

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.choices import INVERSE_DYNAMICS
from sysid_ros.dataset import FitInputs
from sysid_ros.engine.measured_torque import fit_torque, speaks_of_torque
from sysid_ros.errors import ExperimentError
from sysid_ros.robots import build_parameters

_INSIDE = 0.01  # of the bounds' width that a start keeps from them, where a search has no slope


def torque_start(inputs: FitInputs) -> tuple[FloatArray, str]:
    """Find the parameters that torque speaks of by inverse dynamics.

    Others, such as gains of servos and delays, start where the experiment says.

    Returns:
      Values of the free parameters within their bounds, (p,), and a sentence.

    Raises:
      SysidError: No torque or no positions are measured, or no parameter has to do with torque.
    """
    experiment = inputs.experiment
    torque = experiment.with_fit(method=INVERSE_DYNAMICS, search=None)
    params = build_parameters(torque, inputs.dataset.training[0].spec)
    for parameter in params.values():
        own = parameter.name in inputs.params and not speaks_of_torque(parameter)
        parameter.frozen = parameter.frozen or own  # what was added by itself stays free
    wanted = inputs.params.scalar_names()
    if not set(params.scalar_names()) & set(wanted):
        raise ExperimentError(
            "search: {method: inverse_dynamics} finds inertia, armature, damping and dry friction; "
            f"none of them is among the parameters ({', '.join(wanted[:6])})"
        )
    found = fit_torque(inputs.dataset.training, params, inputs.settings, known=inputs.known)
    values = {p.name: p.value for p in found.parameters}
    start, (lower, upper) = inputs.params.as_vector(), inputs.params.get_bounds()
    for i, name in enumerate(wanted):
        start[i] = values.get(name, start[i])
    width = np.where(np.isfinite(upper - lower), upper - lower, 0.0)
    inside = np.clip(start, lower + _INSIDE * width, upper - _INSIDE * width)
    moved = [n for n, a, b in zip(wanted, start, inside, strict=True) if n in values and a != b]
    summary = f"inverse dynamics of {len(set(values) & set(wanted))} parameters"
    if moved:
        summary += f", moved into the bounds of {', '.join(moved[:4])}"
    changed = np.isin(wanted, list(values))
    return np.where(changed, inside, start), summary
