# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""``domain_randomization.yaml``: the uncertainty of a result as a distribution to draw from.

A policy or controller that is trained on one model trusts it too much. Parameters drawn from what
the data leaves open, together and with their correlations, are robots that it might as well have
been.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from sysid_ros.engine.uncertainty import ParameterEstimate
from sysid_ros.files import yaml_text
from sysid_ros.judgement import AppliedParameter, Outcome

_HEAD = """\
# Identified by sysid_ros: {title}. {verdict}
# Ranges for domain randomisation. Draw the parameters under covariance.names jointly from a normal
# distribution with their mean and covariance.matrix, and clip to bounds; or each from interval
# (95 %, within the bounds) where correlations do not matter. The others have no std, as the data
# claims none: the parameter is at a bound or not determined (see flags); choose their range.
#   applies_to: the model's element, names and attribute that the value is written into
"""


def randomization_yaml(outcome: Outcome) -> str:
    """Mean, standard deviation, interval and covariance of everything identified, as YAML."""
    fit = outcome.fit
    known = [
        i
        for i, parameter in enumerate(fit.parameters)
        if parameter.standard_error is not None and np.isfinite(fit.covariance[i, i])
    ]
    content = {
        "distribution": "normal",
        "parameters": {p.name: _entry(p, outcome.applied) for p in fit.parameters},
        "covariance": {
            "names": [fit.parameters[i].name for i in known],
            "matrix": fit.covariance[np.ix_(known, known)].tolist(),
        },
    }
    head = _HEAD.format(title=outcome.title, verdict=" ".join(outcome.verdict.split()))
    return head + yaml_text(content)


def _entry(parameter: ParameterEstimate, applied: tuple[AppliedParameter, ...]) -> dict[str, Any]:
    interval = parameter.interval()
    within = (
        (None, None) if interval is None else np.clip(interval, parameter.lower, parameter.upper)
    )
    return {
        "mean": float(parameter.value),
        "std": _number(parameter.standard_error),
        "interval": [_number(end) for end in within],
        "bounds": [_number(parameter.lower), _number(parameter.upper)],
        "unit": parameter.unit,
        "flags": list(parameter.flags),
        "applies_to": _target(parameter.name, applied),
    }


def _number(value: float | None) -> float | None:
    """Null where something is unknown or unbounded."""
    return None if value is None or not math.isfinite(value) else float(value)


def _target(name: str, applied: tuple[AppliedParameter, ...]) -> dict[str, Any] | None:
    """Return the place of one component; ``component`` where there are several."""
    for parameter in applied:
        target: dict[str, Any] = dict(parameter.modifier)
        if parameter.robot is not None:
            target["robot"] = parameter.robot
        if target and name == parameter.name:
            return target
        if target and name.startswith(parameter.name + "["):
            return {**target, "component": name[len(parameter.name) + 1 : -1]}
    return None
