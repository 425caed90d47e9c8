# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Sufficiency of a bag that is still being written for an experiment's parameters."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

import mujoco

from sysid_ros.dataset import declared_noise, fit_settings, model_of, model_sequences, unusable
from sysid_ros.engine.estimation import Information, RunningInformation
from sysid_ros.errors import BagError, ExperimentError
from sysid_ros.experiment import Experiment, SequenceConfig, ValidationConfig, message_paths_of
from sysid_ros.recording.bags import ColumnReader, GrowingBag, open_recording
from sysid_ros.recording.mapping import MappedRecording, WantedFields, map_columns
from sysid_ros.robots import build_parameters, have_own_parameters, with_namespace

_TOO_LONG = 20.0  # times the recording so far: nobody waits for that
PRECISION = 0.05  # standard error over magnitude that counts as enough


@dataclass(frozen=True)
class ParameterSufficiency:
    """The information of the data so far about one parameter, in SI units.

    Attributes:
      name: Its name.
      unit: Its unit.
      value: Where the model is linearized: the initial value, or another that the data prefers.
      standard_error: To be expected of a fit; NaN where the data does not determine it.
      target: The standard error that counts as enough.
      progress: Share of the information that is needed, 0 to 1.
      remaining: s of recording still missing, if it goes on as before; infinite where it would
        never be enough.
    """

    name: str
    unit: str
    value: float
    standard_error: float
    target: float
    progress: float
    remaining: float

    @property
    def sufficient(self) -> bool:
        """True if there is enough information."""
        return self.progress >= 1.0


@dataclass(frozen=True)
class Sufficiency:
    """The information in a recording so far.

    Attributes:
      parameters: Each free scalar.
      windows: How many windows were used.
      duration: s of the recording that they cover.
      undetermined: Combinations that the data leaves open, one sentence each.
      settled: Whether there are enough windows for the standard errors to be trusted.
    """

    parameters: tuple[ParameterSufficiency, ...]
    windows: int
    duration: float
    undetermined: tuple[str, ...]
    settled: bool

    @property
    def sufficient(self) -> bool:
        """True if there is enough information about every parameter."""
        return self.settled and all(parameter.sufficient for parameter in self.parameters)

    def __str__(self) -> str:
        after = f"after {self.duration:.0f} s"
        missing = [parameter for parameter in self.parameters if not parameter.sufficient]
        if self.sufficient:
            return f"{after} every parameter is determined well enough"
        if not missing:
            return f"{after} there are too few windows to be sure; go on"
        never = [parameter.name for parameter in missing if math.isinf(parameter.remaining)]
        if never:
            return f"{after} nothing determines {', '.join(never)}"
        missing.sort(key=lambda parameter: -parameter.remaining)
        longest, others = missing[0], len(missing) - 1
        text = f"{after} {longest.name} needs about {_time(longest.remaining)} more of the same"
        if others:
            text += f", {others} other{'s' * (others > 1)} less"
        if longest.remaining > _TOO_LONG * self.duration:
            text += "; another motion would tell sooner"
        return text


class LiveSufficiency:
    """Follows one bag and judges it again and again; only what was added is read and simulated."""

    def __init__(
        self,
        experiment: Experiment,
        bag: Path,
        *,
        data_dir: Path | None = None,
        robot: str | None = None,
        precision: float = PRECISION,
        should_stop: Callable[[], bool] | None = None,
    ) -> None:
        """Begin with a bag.

        Args:
          experiment: What the bag is recorded for.
          bag: The folder of an MCAP bag.
          data_dir: Where models are found first.
          robot: Which one is recorded, where the experiment has several identical ones.
          precision: Standard error over magnitude that counts as enough.
          should_stop: Asked while simulating; true ends :meth:`update` with StopRequestedError.
        """
        self._should_stop = should_stop
        self._recorded = SequenceConfig(str(bag.absolute()), robot=robot)
        # What other recordings are for is no matter of this one.
        self._experiment = replace(
            experiment, sequences=(self._recorded,), validation=ValidationConfig()
        )
        self._bag = bag
        self._data_dir = data_dir
        self._precision = precision
        self._reading: _Reading | None = None

    def update(self) -> Sufficiency | None:
        """Judge what has been recorded so far.

        Returns:
          The judgement; ``None`` while there is not a whole window.

        Raises:
          SysidError: Nothing can be said, and why: a topic or motion is missing, say.
          StopRequestedError: As asked for.
        """
        if self._reading is None:
            self._reading = self._begin()
        mapped = self._mapped(self._reading)
        robot = self._recorded.robot if have_own_parameters(self._experiment) else None
        sequences = model_sequences("model", self._reading.model, {mapped.name: mapped}, robot)
        found = self._reading.information.update(sequences, unusable(mapped))
        return None if found is None else _judged(found, self._precision)

    def _begin(self) -> _Reading:
        """Prepare to read, once the bag has all topics."""
        experiment = self._experiment
        with open_recording(self._bag, msg_paths=message_paths_of(experiment)) as recording:
            experiment = with_namespace(experiment, self._recorded.robot, recording.topics)
            wanted = WantedFields.of(recording, experiment.signals, experiment.enabled_when)
            columns = ColumnReader(recording, wanted.fields)
        model = model_of(experiment, self._recorded, self._data_dir)
        params = build_parameters(experiment, model.with_sensors)
        if not params.as_vector().size:
            raise ExperimentError("the experiment has no parameters to be determined")
        settings = replace(fit_settings(experiment), threads=1, model_error=False)
        information = RunningInformation(
            params, settings, declared_noise(experiment), should_stop=self._should_stop
        )
        bag = GrowingBag(self._bag, wanted.fields)
        self._experiment = experiment
        return _Reading(wanted, columns, bag, model.with_sensors, information)

    def _mapped(self, reading: _Reading) -> MappedRecording:
        experiment = self._experiment
        reading.columns.read(reading.bag.new_messages())
        columns = reading.columns.columns()
        for topic in {signal.topic for signal in experiment.signals}:
            if not len(columns[topic].log_ns):
                raise BagError(f"no message of {topic} yet")
        return map_columns(
            columns,
            reading.wanted,
            clock=experiment.clock,
            max_gap=experiment.fit.max_gap,
            name=self._bag.name,
            enabled_when=experiment.enabled_when,
            clock_correction=experiment.clock_correction,
        )


def prepare(experiment: Experiment) -> None:
    """Compile what judging needs, which takes half a minute once per installation."""
    if experiment.fit.engine != "auto":
        return
    with suppress(ImportError):  # numba does not run everywhere
        from sysid_ros.engine.derivatives import entry_points

        entry_points()


@dataclass(frozen=True)
class _Reading:
    """The state of following one bag."""

    wanted: WantedFields
    columns: ColumnReader
    bag: GrowingBag
    model: mujoco.MjSpec
    information: RunningInformation


def _time(seconds: float) -> str:
    """In the unit in which people think of it."""
    if seconds < 120.0:
        return f"{math.ceil(seconds)} s"
    return f"{seconds / 60.0:.0f} min" if seconds < 7200.0 else f"{seconds / 3600.0:.0f} h"


def _judged(found: Information, precision: float) -> Sufficiency:
    parameters = []
    for estimate, scale in zip(found.parameters, found.scales, strict=True):
        error, target = estimate.standard_error, precision * float(scale)
        if error is None or "unidentifiable" in estimate.flags:
            progress, missing = 0.0, math.inf
        else:
            needed = (error / target) ** 2  # information grows with time, its root is the error
            progress = min(1.0, 1.0 / needed) if needed > 0.0 else 1.0
            missing = max(0.0, needed - 1.0) * found.duration
        parameters.append(
            ParameterSufficiency(
                name=estimate.name,
                unit=estimate.unit,
                value=estimate.value,
                standard_error=math.nan if error is None else error,
                target=target,
                progress=progress,
                remaining=missing,
            )
        )
    return Sufficiency(
        tuple(parameters), found.windows, found.duration, found.undetermined, found.settled
    )
