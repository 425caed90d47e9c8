# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Sufficiency of a bag that is still being written for an experiment's parameters."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from sysid_ros.engine.moving_horizon import HorizonEstimate, HorizonSettings
from sysid_ros.errors import DataError, listed
from sysid_ros.experiment import Experiment, SequenceConfig, message_paths_of
from sysid_ros.live_estimation.live_estimator import LiveEstimator
from sysid_ros.recording.bags import GrowingBag, open_recording
from sysid_ros.robots import with_namespace

_TOO_LONG = 20.0  # times the recording so far: nobody waits for that
PRECISION = 0.05  # standard error over magnitude that counts as enough


@dataclass(frozen=True)
class ParameterSufficiency:
    """The information of the data so far about one parameter, in SI units."""

    name: str
    unit: str
    value: float  # the estimate
    standard_error: float  # to be expected of a fit; NaN where the data does not determine it
    target: float  # the standard error that counts as enough
    progress: float  # share of the information that is needed, 0 to 1
    # s of recording still missing, if it goes on as before; infinite where it would never be enough
    remaining: float

    @property
    def sufficient(self) -> bool:
        """True if there is enough information."""
        return self.progress >= 1.0


@dataclass(frozen=True)
class Sufficiency:
    """The information in a recording so far."""

    parameters: tuple[ParameterSufficiency, ...]  # each free scalar
    windows: int  # how many windows were used
    duration: float  # s of the recording that they cover
    undetermined: tuple[str, ...]  # combinations that the data leaves open, one sentence each
    settled: bool  # whether there are enough windows for the standard errors to be trusted

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
        self._experiment = experiment
        self._recorded = SequenceConfig(str(bag.absolute()), robot=robot)
        self._bag = bag
        self._data_dir = data_dir
        self._precision = precision
        self._should_stop = should_stop
        self._following: tuple[GrowingBag, LiveEstimator] | None = None

    def update(self) -> Sufficiency | None:
        """Judge what has been recorded so far.

        Returns:
          The judgement; ``None`` while there is not a whole window.

        Raises:
          SysidError: Nothing can be said, and why: a topic or motion is missing, say.
          StopRequestedError: As asked for.
        """
        if self._following is None:
            self._following = self._begin()
        bag, estimator = self._following
        found = estimator.update(bag.new_messages())
        if found.problem:
            raise DataError(found.problem)
        return None if found.estimate is None else sufficiency_of(found.estimate, self._precision)

    def _begin(self) -> tuple[GrowingBag, LiveEstimator]:
        """Prepare to read, once the bag has all topics."""
        paths = message_paths_of(self._experiment)
        with open_recording(self._bag, msg_paths=paths) as recording:
            named = with_namespace(self._experiment, self._recorded.robot, recording.topics)
            silent = {signal.topic for signal in named.signals}.difference(recording.topics)
            if silent and recording.topics:
                raise DataError(f"no message of {listed(sorted(silent))} yet")
            estimator = LiveEstimator(
                self._experiment,
                recording,
                self._recorded,
                HorizonSettings(),
                data_dir=self._data_dir,
                should_stop=self._should_stop,
            )
        return GrowingBag(self._bag, estimator.topics), estimator


def prepare(experiment: Experiment) -> None:
    """Compile what judging needs, which takes half a minute once per installation."""
    if experiment.fit.engine != "auto":
        return
    with suppress(ImportError):  # numba does not run everywhere
        from sysid_ros.engine.derivatives import entry_points

        entry_points()


def _time(seconds: float) -> str:
    """In the unit in which people think of it."""
    if seconds < 120.0:
        return f"{math.ceil(seconds)} s"
    return f"{seconds / 60.0:.0f} min" if seconds < 7200.0 else f"{seconds / 3600.0:.0f} h"


def sufficiency_of(found: HorizonEstimate, precision: float) -> Sufficiency:
    """The sufficiency of what an estimate has seen.

    Args:
      found: The estimate.
      precision: Standard error over magnitude that counts as enough.
    """
    duration = found.time - (found.changed or 0.0)
    parameters = []
    for estimate, scale in zip(found.parameters, found.scales, strict=True):
        error, target = estimate.standard_error, precision * float(scale)
        if error is None or estimate.unidentifiable:
            progress, missing = 0.0, math.inf
        else:
            needed = (error / target) ** 2  # information grows with time, its root is the error
            progress = min(1.0, 1.0 / needed) if needed > 0.0 else 1.0
            missing = max(0.0, needed - 1.0) * duration
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
        tuple(parameters), found.windows, duration, found.undetermined, found.settled
    )
