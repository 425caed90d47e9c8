# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The estimate of an experiment's parameters from messages as they come."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from sysid_ros.dataset import declared_noise, fit_settings, model_of, model_sequences, unusable
from sysid_ros.engine.moving_horizon import HorizonEstimate, HorizonSettings, MovingHorizon
from sysid_ros.engine.signals import TimeSeries
from sysid_ros.errors import DataError, ExperimentError
from sysid_ros.experiment import Experiment, SequenceConfig
from sysid_ros.live_estimation.message_buffer import MessageBuffer, known_until
from sysid_ros.recording.bags import Recording
from sysid_ros.recording.messages import RawMessage
from sysid_ros.robots import build_parameters, have_own_parameters, with_namespace

PERIOD = 0.1  # s between estimates
BEFORE = 2.0  # s before the first window that is still needed, for filters and delays
AT_FIRST = 0.3  # s that a robot is listened to before the first look


@dataclass(frozen=True)
class LiveEstimate:
    """The answer to messages.

    Attributes:
      estimate: The latest estimate; ``None`` before the first whole window.
      problem: Why the latest messages could not be used; empty where they could.
    """

    estimate: HorizonEstimate | None
    problem: str = ""


class LiveEstimator:
    """Estimates parameters from messages, by simulation."""

    def __init__(
        self,
        experiment: Experiment,
        recording: Recording,
        bag: SequenceConfig,
        horizon: HorizonSettings,
        *,
        data_dir: Path | None = None,
        should_stop: Callable[[], bool] | None = None,
    ) -> None:
        """Begin without messages.

        Args:
          experiment: The experiment.
          recording: Tells the types of topics.
          bag: What the messages belong to: its name, robot and model.
          horizon: How far to look back.
          data_dir: Where models are found first.
          should_stop: Asked while simulating; true ends an update with StopRequestedError.

        Raises:
          SysidError: The model or a topic is missing, or nothing is to be estimated.
        """
        experiment = with_namespace(experiment, bag.robot, recording.topics)
        self._buffer = MessageBuffer(experiment, recording)
        self._spec = model_of(experiment, bag, data_dir).with_sensors
        params = build_parameters(experiment, self._spec)
        if not params.as_vector().size:
            raise ExperimentError("the experiment has no parameters to be estimated")
        self._name = bag.name
        self._robot = bag.robot if have_own_parameters(experiment) else None
        self._max_gap = experiment.fit.max_gap
        self._horizon = MovingHorizon(
            params,
            replace(fit_settings(experiment), threads=1, model_error=False),
            horizon,
            declared_noise(experiment),
            should_stop=should_stop,
        )
        self._latest: HorizonEstimate | None = None

    @property
    def topics(self) -> frozenset[str]:
        """The topics whose messages are wanted."""
        return self._buffer.topics

    def update(self, messages: Iterable[RawMessage], *, ended: bool = False) -> LiveEstimate:
        """Account for messages.

        Args:
          messages: New ones of :attr:`topics`, in the order of receipt.
          ended: Whether nothing follows.

        Raises:
          StopRequestedError: As asked for.
        """
        try:
            self._buffer.add(messages)
            mapped = self._buffer.mapped(self._name)
            until = known_until(mapped)
            if until < AT_FIRST and not ended:
                return LiveEstimate(None)
            found = model_sequences("model", self._spec, {mapped.name: mapped}, self._robot)
            if all(signal.held for signal in mapped.controls):
                found.control = [_held(found.control[0], until, self._max_gap)]
            estimate = self._horizon.update(found, until, unusable(mapped), ended=ended)
        except DataError as error:
            return LiveEstimate(self._latest, str(error))
        self._latest = estimate or self._latest
        if not math.isnan(self._horizon.needed_from):
            self._buffer.forget_before(self._horizon.needed_from - BEFORE)
        return LiveEstimate(self._latest)


def _held(control: TimeSeries, until: float, max_gap: float) -> TimeSeries:
    """Commands that are published on change, in force until the latest measurement."""
    if until - control.times[-1] <= max_gap:
        return control
    return TimeSeries(
        np.append(control.times, until),
        np.vstack([control.data, control.data[-1:]]),
        control.signal_mapping,
        control.interpolation,
    )
