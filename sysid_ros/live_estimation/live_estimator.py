# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The estimate of an experiment's parameters from messages as they come."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from sysid_ros.dataset import (
    compiled_digest,
    declared_noise,
    fit_settings,
    model_of,
    model_sequences,
    setting_digests,
    unusable,
)
from sysid_ros.engine.moving_horizon import (
    HorizonEstimate,
    HorizonSettings,
    Memory,
    MovingHorizon,
    SignalTrace,
    TorqueHorizon,
    TorqueMemory,
)
from sysid_ros.engine.signals import ModelSequences, TimeSeries
from sysid_ros.errors import BagError, DataError, ExperimentError, listed
from sysid_ros.experiment import Experiment, SequenceConfig, ValidationConfig
from sysid_ros.live_estimation.message_buffer import MessageBuffer, known_until
from sysid_ros.recording.bags import TopicTypes
from sysid_ros.recording.mapping import MappedRecording, control_time_series, measured_time_series
from sysid_ros.recording.messages import RawMessage
from sysid_ros.robots import build_parameters, by_sensor, have_own_parameters, with_namespace

PERIOD = 0.1  # s between estimates
LONGEST_FAILURE = 2.0  # s after which messages that cannot be used are forgotten
LONGEST_SILENCE = 2.0  # s after which a signal without samples is named where estimates rest
_SIGNALS = "the setting signals"
AT_FIRST = 0.3  # s that a robot is listened to before the first look, or a failure is told


@dataclass(frozen=True)
class LiveEstimate:
    """The answer to messages."""

    estimate: HorizonEstimate | None  # the latest estimate; ``None`` before the first whole window
    stamp_ns: int = 0  # instant of its latest sample, nanoseconds since the epoch
    problem: str = ""  # why the latest messages could not be used; empty where they could


class LiveEstimator:
    """Estimates parameters from messages, by the experiment's method."""

    def __init__(
        self,
        experiment: Experiment,
        recording: TopicTypes,
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
        # What other recordings are for is no matter of this one.
        experiment = replace(experiment, sequences=(bag,), validation=ValidationConfig())
        experiment = with_namespace(experiment, bag.robot, recording.topics)
        self._buffer = MessageBuffer(experiment, recording)
        self._spec = model_of(experiment, bag, data_dir).with_sensors
        params = build_parameters(experiment, self._spec)
        if not params.as_vector().size:
            raise ExperimentError("the experiment has no parameters to be estimated")
        signals = setting_digests(experiment)[_SIGNALS]
        self._inputs = {"the model": compiled_digest(self._spec), _SIGNALS: signals}
        self._name = bag.name
        self._robot = bag.robot if have_own_parameters(experiment) else None
        self._max_gap = experiment.fit.max_gap
        settings = replace(fit_settings(experiment), threads=1, model_error=False)
        noise = declared_noise(experiment)
        self._horizon: MovingHorizon | TorqueHorizon = (
            MovingHorizon(params, settings, horizon, noise, should_stop=should_stop)
            if experiment.fit.simulates
            else TorqueHorizon(params, settings, horizon)
        )
        self._latest = LiveEstimate(None)
        self._sequences: ModelSequences | None = None
        self._failing_since: int | None = None  # when messages were received, ns

    @property
    def topics(self) -> frozenset[str]:
        """The topics whose messages are wanted."""
        return self._buffer.topics

    def traces(self) -> tuple[SignalTrace, ...]:
        """The latest signals beside what the model makes of them."""
        return self._horizon.traces()

    def keep(self, path: Path) -> None:
        """Write a file with all that is known, whole or not at all; none before there is anything.

        Raises:
          OutputError: It cannot be written.
        """
        memory = self._horizon.memory
        if memory is not None:
            memory.write(path, self._inputs)

    def recall(self, path: Path) -> None:
        """Go on from what another run has kept; before the first update.

        Raises:
          DataError: The file is damaged, or of another model, other signals or parameters.
        """
        if isinstance(self._horizon, MovingHorizon):
            self._horizon.recall(Memory.read(path, self._inputs))
        else:
            self._horizon.recall(TorqueMemory.read(path, self._inputs))

    def update(
        self, messages: Iterable[RawMessage], *, ended: bool = False, most_behind: float = math.inf
    ) -> LiveEstimate:
        """Account for messages.

        Args:
          messages: New ones of :attr:`topics`, in the order of receipt.
          ended: Whether nothing follows.
          most_behind: s of data at most, besides a window, that are simulated; what is older is
            left out and counted.

        Raises:
          StopRequestedError: As asked for.
        """
        try:
            if back := self._buffer.add(messages):
                self._failing_since = None
                self._horizon.begin_anew()
                said = f"the clock was set back by {back:.3g} s; estimates go on on its new time"
                return replace(self._latest, problem=said)
            mapped = self._buffer.mapped(self._name)
            until = known_until(mapped)
            if until < AT_FIRST and not ended:
                return self._latest
            self._horizon.skip_to(until - most_behind)
            estimate = self._horizon.update(self._with(mapped, until), until, ended=ended)
        except BagError as error:  # a topic has not spoken yet
            return replace(self._latest, problem=str(error))
        except DataError as error:
            lasts = self._fails()
            return replace(self._latest, problem=str(error) if lasts or ended else "")
        self._failing_since = None
        before = self._latest.estimate
        rests = estimate is None or (before is not None and estimate.time <= before.time)
        if estimate is not None:
            stamp_ns = mapped.start_ns + round(1e9 * estimate.time)
            self._latest = LiveEstimate(estimate, stamp_ns)
        if not math.isnan(self._horizon.needed_from):
            self._buffer.forget_before(self._horizon.needed_from)
        return replace(self._latest, problem=_lost(mapped)) if rests else self._latest

    def _fails(self) -> bool:
        """Begin with new messages where those kept cannot be used: a clock was set, for example.

        Returns:
          Whether that lasts: a first command is received before what was measured then.
        """
        received = self._buffer.received_ns
        self._failing_since = self._failing_since or received
        failing = 1e-9 * (received - self._failing_since)
        if failing > LONGEST_FAILURE:
            self._failing_since = None
            self._buffer.begin_anew()
            self._horizon.begin_anew()
        return failing >= AT_FIRST

    def _with(self, mapped: MappedRecording, until: float) -> ModelSequences:
        """The recording as the sequence of its model, which is compiled once."""
        if self._sequences is None:
            recordings = {mapped.name: mapped}
            self._sequences = model_sequences("model", self._spec, recordings, self._robot)
        found = copy.copy(self._sequences)
        control = control_time_series(mapped, ended=False)
        found.control = [_held(control, until, self._max_gap)]
        found.sensordata = [by_sensor(self._spec, measured_time_series(mapped))]
        found.gaps = [unusable(mapped)]
        return found


def _lost(mapped: MappedRecording) -> str:
    """A sentence on signals that have no samples any more; empty where all have."""
    names = [
        signal.name
        for signal in mapped.measured
        if mapped.end - (signal.times[-1] if len(signal.times) else 0.0) > LONGEST_SILENCE
    ]
    if not names:
        return ""
    return (
        f"no sample of {listed(names, 4)} for more than {LONGEST_SILENCE:g} s, though its topic or "
        "others go on: are names in its messages still those that the experiment has?"
    )


def _held(control: TimeSeries, until: float, max_gap: float) -> TimeSeries:
    """Commands on change or as trajectories, in force until the latest measurement."""
    if until - control.times[-1] <= max_gap:
        return control
    return TimeSeries(
        np.append(control.times, until),
        np.vstack([control.data, control.data[-1:]]),
        control.signal_mapping,
        control.interpolation,
    )
