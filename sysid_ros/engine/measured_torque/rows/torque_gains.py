# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Gains of torque signals: a sensor shows gain * torque + bias."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from sysid_ros.engine.measured_torque.rows.torque_signals import TorqueSignal
from sysid_ros.engine.parameters import Parameter, ParameterDict, corrects
from sysid_ros.errors import ParameterError


class TorqueGain(NamedTuple):
    """A free factor of one degree of freedom's torque."""

    parameter: Parameter
    dof: int
    of_input: bool  # which it divides; it multiplies what a sensor shows


def is_gain(p: Parameter) -> bool:
    """Return whether a parameter is a signal's gain."""
    return bool(corrects(p, "gain"))


def free_gains(
    params: ParameterDict, signal_of: Callable[[Parameter], TorqueSignal]
) -> dict[str, TorqueGain]:
    """Free factors of torque signals by parameter.

    Args:
      params: All parameters.
      signal_of: The signal that a parameter belongs to.

    Raises:
      ParameterError: A factor is of several signals, or of one that acts on several joints.
    """
    found = {}
    for p in params.free():
        if not is_gain(p):
            continue
        signal = signal_of(p)
        if len(corrects(p, "gain")) > 1:
            raise ParameterError(
                f"parameter {p.name!r}: inverse dynamics fits a gain to one signal, not to "
                "several at once; give each its own, or freeze it"
            )
        if signal.dof is None:
            raise ParameterError(
                f"parameter {p.name!r}: the torque of {signal.name!r} acts on several "
                "joints, so that its gain cannot be fitted by inverse dynamics; freeze it"
            )
        found[p.name] = TorqueGain(p, signal.dof, signal.control)
    return found


def gain_before(p: Parameter, gains: Mapping[str, TorqueGain]) -> Parameter | None:
    """The free gain that the bias of a sensor stands behind, if ``p`` is such a bias.

    Args:
      p: Any parameter.
      gains: Free gains by name.

    Raises:
      ParameterError: The bias is of several sensors, of which one has a free gain.
    """
    names = corrects(p, "bias")
    for gain, _, of_input in gains.values():
        if of_input or p.frozen or gain.robot not in (None, p.robot):
            continue
        if set(corrects(gain, "gain")) & set(names):
            if len(names) > 1:
                raise ParameterError(
                    f"parameter {p.name!r} is the bias of several signals, of which "
                    f"{gain.name!r} scales one; give each its own, or freeze one of them"
                )
            return gain
    return None


def known_gain(params: ParameterDict, signal: str, robot: str | None) -> float:
    """The frozen gain of a sensor, which measurements are divided by, or one."""
    for p in params.values():
        if p.frozen and p.robot in (None, robot) and signal in corrects(p, "gain"):
            return float(p.value.item())
    return 1.0
