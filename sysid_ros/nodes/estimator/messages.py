# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Estimates as messages."""

from __future__ import annotations

import math
from collections.abc import Mapping

from diagnostic_msgs.msg import DiagnosticStatus, KeyValue
from std_msgs.msg import Float64MultiArray, MultiArrayDimension

from sysid_ros.engine.moving_horizon import HorizonEstimate
from sysid_ros.engine.uncertainty import ParameterEstimate
from sysid_ros.errors import listed
from sysid_ros.nodes.fit_server.messages import identified_parameter
from sysid_ros_interfaces.msg import IdentifiedParameters

LONGEST_SILENCE = 5.0  # s, some times what a search takes
COLUMNS = ("value", "lower", "upper")


def identified(estimate: HorizonEstimate, model: str, stamp_ns: int) -> IdentifiedParameters:
    """An estimate with its intervals and flags.

    Args:
      estimate: The estimate.
      model: Path or topic of the model.
      stamp_ns: Instant of the latest sample in it, nanoseconds since the epoch.
    """
    message = IdentifiedParameters(
        model=model,
        verdict=verdict(estimate),
        parameters=[identified_parameter(one) for one in estimate.parameters],
    )
    message.header.stamp.sec, message.header.stamp.nanosec = divmod(stamp_ns, 1_000_000_000)
    return message


def verdict(estimate: HorizonEstimate) -> str:
    """One sentence: can it be trusted, and why not."""
    if estimate.searching:
        return "the optimum is being searched for, and estimates rest meanwhile"
    if estimate.unexplained:
        return f"the model does not explain the motion: {'; '.join(estimate.unexplained)}"
    if estimate.wrong:
        return "; ".join(estimate.wrong)
    if not estimate.settled:
        return "too few windows yet to see how they scatter: intervals are wide, or not there yet"
    if estimate.undetermined:
        return f"not determined: {'; '.join(estimate.undetermined)}"
    if vague := [one.name for one in estimate.parameters if one.vague]:
        return (
            f"poorly determined, or at a bound, by {estimate.windows} windows: {listed(vague, 4)}"
        )
    return f"every parameter is determined, by {estimate.windows} windows"


def numbers(parameters: tuple[ParameterEstimate, ...]) -> Float64MultiArray:
    """Value and ends of the 95 % interval of every parameter, (p, 3), for tools that plot."""
    data = []
    for one in parameters:
        data += [one.value, *(one.interval() or (float("nan"), float("nan")))]
    rows, columns = len(parameters), len(COLUMNS)
    message = Float64MultiArray(data=data)
    message.layout.dim = [
        MultiArrayDimension(label="parameter", size=rows, stride=rows * columns),
        MultiArrayDimension(label=" ".join(COLUMNS), size=columns, stride=columns),
    ]
    return message


def silence(seconds: float) -> str:
    """One sentence where there has been no estimate for long; empty where there has been.

    Args:
      seconds: Since the latest estimate, NaN before the first one.
    """
    if math.isnan(seconds):
        return (
            "no estimate yet: the first takes seconds of motion, and half a minute more where code "
            "has to be compiled"
        )
    return f"no estimate for {seconds:.0f} s" if seconds > LONGEST_SILENCE else ""


def status(
    node: str,
    problem: str,
    values: Mapping[str, str],
    estimate: HorizonEstimate | None,
    left_out: int,
) -> DiagnosticStatus:
    """The node's health.

    Args:
      node: Its name.
      problem: Why nothing can be estimated; empty where it can.
      values: Numbers about its work.
      estimate: The latest one.
      left_out: Messages that were left out because there was no time for them.
    """
    level, message = DiagnosticStatus.OK, "estimating"
    late = left_out > 0 or (estimate is not None and estimate.thinned > 0.0)
    wrong = "" if estimate is None else "; ".join(estimate.wrong)
    if problem or wrong:
        level, message = DiagnosticStatus.WARN, problem or wrong
    elif late:
        level, message = DiagnosticStatus.WARN, "windows are left out: there is no time for them"
    pairs = [KeyValue(key=key, value=value) for key, value in values.items()]
    return DiagnosticStatus(
        level=level, name=f"{node}: {node}", message=message, hardware_id="", values=pairs
    )
