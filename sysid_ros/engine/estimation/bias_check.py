# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Does an estimate depend on choices that should not matter?

Noise makes estimates uncertain, and the intervals say by how much. A time step that is too long, a
window that hides slow effects, or a filter that distorts the starts moves estimates without
widening any interval. Refitting with each choice changed shows it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.estimation.alternatives import alternatives
from sysid_ros.engine.estimation.fit import fit
from sysid_ros.engine.estimation.fit_result import FitResult
from sysid_ros.engine.estimation.fit_settings import FitSettings, SignalNoise
from sysid_ros.engine.least_squares import FitStatus
from sysid_ros.engine.parameters import ParameterDict, moves_with
from sysid_ros.engine.signals import ModelSequences
from sysid_ros.errors import SysidError

LEVEL = 0.95  # of the intervals that shifts are compared with


@dataclass(frozen=True)
class Refit:
    """The estimates with one choice changed."""

    change: str  # what was changed, such as ``"half the time step"``
    values: FloatArray  # the estimates, (p,), in the parameters' units
    # half of each 95 % interval by noise alone, (p,), NaN where none is claimed
    half_widths: FloatArray
    status: FitStatus  # how the refit ended
    problem: str = ""  # why it was not possible; the estimates are NaN then. Empty where it was


@dataclass(frozen=True)
class BiasCheck:
    """The shifts of estimates when choices that should not matter are changed."""

    names: tuple[str, ...]  # the free scalars, (p,)
    units: tuple[str, ...]  # their units
    values: FloatArray  # the estimates, (p,)
    # half of each 95 % interval by noise alone, (p,), NaN where none is claimed
    half_widths: FloatArray
    refits: tuple[Refit, ...]  # the estimates with other choices

    def moved(self, refit: Refit) -> tuple[str, ...]:
        """Parameters that ``refit`` moves by more than both intervals by noise; none without one.

        The wider one counts: shorter windows say less, and their estimate may differ by noise.
        """
        with np.errstate(invalid="ignore"):
            far = np.abs(refit.values - self.values) > np.maximum(
                self.half_widths, refit.half_widths
            )
        return tuple(name for name, is_far in zip(self.names, far, strict=True) if is_far)

    def sentences(self) -> tuple[str, ...]:
        """Return one sentence per refit that moved anything or came to no end."""
        said = []
        for refit in self.refits:
            moved = self.moved(refit)
            if moved:
                shifts = ", ".join(f"{name} ({self._shift(refit, name)})" for name in moved)
                said.append(
                    f"With {refit.change} the estimates move by more than noise explains: "
                    f"{shifts}. Their values hold for this choice only."
                )
            if refit.problem:
                said.append(f"The refit with {refit.change} was not possible: {refit.problem}.")
            elif refit.status not in (FitStatus.CONVERGED, FitStatus.STALLED):
                said.append(
                    f"The refit with {refit.change} did not converge "
                    f"({refit.status.value.lower()}), so that its part of the bias check is weak."
                )
        return tuple(said)

    def _shift(self, refit: Refit, name: str) -> str:
        k = self.names.index(name)
        shift = refit.values[k] - self.values[k]
        times = abs(shift) / self.half_widths[k] if self.half_widths[k] > 0.0 else math.inf
        return f"{shift:+.2g} {self.units[k]}".rstrip() + f", {times:.2g} times"


def bias_check(
    models_sequences: Sequence[ModelSequences],
    params: ParameterDict,
    result: FitResult,
    settings: FitSettings | None = None,
    *,
    known: SignalNoise | None = None,
    should_stop: Callable[[], bool] | None = None,
    on_refit: Callable[[str], None] | None = None,
    refit: Callable[..., FitResult] = fit,
) -> BiasCheck:
    """Refit with half the time step, with half the windows' length, and with another filter.

    Every refit starts at the fitted values, so that it costs a few steps only.

    Args:
      models_sequences: As they were fitted.
      params: The parameters as before the fit.
      result: What :func:`sysid_ros.engine.estimation.fit.fit` found.
      settings: The settings it was found with; default those of ``fit``.
      known: As for ``fit``.
      should_stop: Asked while simulating; true leaves out the refits that are not finished.
      on_refit: Told what is changed next.
      refit: What found the result, which is asked again.

    Returns:
      The estimates of every finished refit beside those of the fit.
    """
    fitted = params.at(result.values)
    # The search for the optimum is over; only what it depends on is asked.
    settings = replace(settings or FitSettings(), landscapes=0)
    known = known or SignalNoise()
    refits = []
    for alternative in alternatives(models_sequences, settings):
        change = alternative.change
        if should_stop is not None and should_stop():
            break
        if on_refit is not None:
            on_refit(change)
        try:
            again = refit(
                alternative.models_sequences,
                fitted,
                alternative.settings,
                known=known,
                should_stop=should_stop,
                judged=False,
            )
        except SysidError as error:  # such as windows that are too short for the samples
            nothing = np.full(len(result.parameters), math.nan)
            refits.append(Refit(change, nothing, nothing, FitStatus.STALLED, str(error)))
            continue
        if again.status is FitStatus.CANCELED:
            break
        refits.append(Refit(change, *_estimates(again), again.status))
    values, half_widths = _estimates(result)
    return BiasCheck(
        names=tuple(p.name for p in result.parameters),
        units=tuple(p.unit for p in result.parameters),
        values=values,
        half_widths=half_widths,
        refits=tuple(refits),
    )


def flagged(result: FitResult, check: BiasCheck) -> FitResult:
    """The result with the flag ``moves with ...`` at every parameter that the check moved."""
    parameters = []
    for parameter in result.parameters:
        flags = [
            moves_with(refit.change)
            for refit in check.refits
            if parameter.name in check.moved(refit)
        ]
        all_flags = tuple(dict.fromkeys((*parameter.flags, *flags)))
        parameters.append(replace(parameter, flags=all_flags))
    return replace(result, parameters=tuple(parameters))


def _estimates(result: FitResult) -> tuple[FloatArray, FloatArray]:
    """Values, and half widths of the intervals that noise alone would have."""
    intervals = [
        replace(p, standard_error=p.by_noise).interval(LEVEL) or (math.nan, math.nan)
        for p in result.parameters
    ]
    return (
        np.array([parameter.value for parameter in result.parameters]),
        np.array([0.5 * (high - low) for low, high in intervals]),
    )
