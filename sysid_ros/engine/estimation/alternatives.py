# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The choices of a fit that should not matter, and what they become when they are changed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sysid_ros.engine.estimation.fit_settings import FitSettings
from sysid_ros.engine.parameters import ParameterDict
from sysid_ros.engine.signals import ModelSequences
from sysid_ros.engine.windows import WindowGroup, error_in_shifts, model_group

TIME_STEP = "half the time step"
QUARTER = 4  # of the step: tells where the shift to half of it is not half of the error


@dataclass(frozen=True)
class Alternative:
    """One choice that should not matter, changed."""

    change: str  # in words, such as :data:`TIME_STEP`
    models_sequences: tuple[ModelSequences, ...]  # the models with their recordings
    settings: FitSettings  # how to fit them
    cost: float = 1.0  # of simulating it, relative to the fit as it is
    # how many times the shift that it causes the error is that the shift shows; 0 where that is not
    # known
    order: float = 0.0
    # whether its windows are those of the fit, with the same readings
    same_starts: bool = False
    extrapolated: bool = False  # whether its residuals are those of a time step of zero
    # the commands that are interpolated otherwise, and how much later those of the fit
    # act, s; none where something else is changed
    inputs: tuple[str, ...] = ()
    later: float = 0.0

    def of_no_time_step(self) -> Alternative:
        """The same of a fit whose residuals are extrapolated to a time step of zero.

        What is left of the error then is of the next order.
        """
        power = self.cost * self.order / (self.order - 1.0) if self.order else 0.0  # in the next
        order = power / (power - 1.0) if power else 0.0
        return replace(self, extrapolated=True, order=order)

    def groups(self, params: ParameterDict, of_fit: Sequence[WindowGroup]) -> list[WindowGroup]:
        """The windows to simulate; ``of_fit`` are those of the fit as it is."""
        if self.same_starts:
            pairs = zip(of_fit, self.models_sequences, strict=True)
            return [group.with_sequences(sequences, params) for group, sequences in pairs]
        given = self.models_sequences, params, self.settings
        return groups_of(*given, extrapolated=self.extrapolated)


def groups_of(
    models_sequences: Sequence[ModelSequences],
    params: ParameterDict,
    settings: FitSettings,
    *,
    extrapolated: bool = False,
) -> list[WindowGroup]:
    """Cut all recordings into windows, by model.

    Args:
      models_sequences: Recordings of each model.
      params: What is fitted.
      settings: How windows are cut and begun.
      extrapolated: Whether each group carries its windows at half the time step, too.

    Raises:
      DataError: A recording has no usable window, which the message names.
    """
    groups = [
        model_group(
            sequences,
            params,
            window_length=settings.window_length,
            estimate_starts=settings.estimate_starts,
            velocity_filter=settings.velocity_filter,
        )
        for sequences in models_sequences
    ]
    if not extrapolated:
        return groups
    return [
        group.with_finer(group.with_sequences(sequences.with_finer_step(2), params))
        for group, sequences in zip(groups, models_sequences, strict=True)
    ]


def alternatives(
    models_sequences: Sequence[ModelSequences], settings: FitSettings
) -> tuple[Alternative, ...]:
    """Return the fit with half the time step, half the window, and half the filter's cut-off."""
    longest = max(
        float(series.times[-1] - series.times[0])
        for sequences in models_sequences
        for series in sequences.sensordata
    )
    window = 0.5 * (settings.window_length or longest)
    cutoff = 0.5 * settings.velocity_filter
    given = tuple(models_sequences)
    return (
        finer_step(given, settings, 2),
        Alternative(
            f"windows of {window:.3g} s",
            given,
            replace(settings, window_length=window),
            cost=2.0 if settings.estimate_starts else 1.0,
        ),
        Alternative(
            f"a velocity filter of {cutoff:.3g} Hz",
            given,
            replace(settings, velocity_filter=cutoff),
        ),
    )


def finer_step(
    models_sequences: Sequence[ModelSequences], settings: FitSettings, times: int
) -> Alternative:
    """The fit with a time step that is so many times smaller."""
    return Alternative(
        TIME_STEP,
        tuple(sequences.with_finer_step(times) for sequences in models_sequences),
        settings,
        cost=float(times),
        order=max(
            error_in_shifts(int(one.spec.option.integrator), times) for one in models_sequences
        ),
        same_starts=True,
    )
