# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The cost of a fit whose derivatives are rollouts, and how much data a usual time allows.

Each column of such a Jacobian is a simulation of all windows. The cost is counted, not measured, so
that the same recordings give the same proposal on a busy machine. Robots that stand get as much of
their recordings, also where their derivatives are exact.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import mujoco
import numpy as np

from sysid_ros.dataset import Dataset, load_dataset
from sysid_ros.experiment import Experiment, ValidationConfig
from sysid_ros.proposal.experiment_text import Draft
from sysid_ros.proposal.recordings import Division

_ACCEPTED = 120.0  # s of one processor that a first fit may take
_LEAST = 2.0  # s of motion that are fitted in any case
_JACOBIANS = 20.0  # of a usual fit, with its scores
_PER_FREEDOM = 2.5e-6  # s that a step takes for each degree of freedom, measured on arms and hands
_TOUCHING = 2.0  # times as long where bodies touch
_STAGES = 4.0  # of a step of RK4


@dataclass(frozen=True)
class RolledFit:
    """A fit whose derivatives are rollouts."""

    columns: int  # of its Jacobian
    seconds: float  # motion that is fitted, s
    cost: float  # s of one processor

    @property
    def affordable(self) -> float:
        """The motion [s] to fit in a time that a user accepts."""
        return min(self.seconds, max(_LEAST, self.seconds * _ACCEPTED / self.cost))


def rolled_fit(
    model: mujoco.MjModel, parameters: int, durations: Sequence[float], *, touching: bool
) -> RolledFit:
    """The cost of a fit whose windows have estimated starts.

    Args:
      model: The robot.
      parameters: How many are free.
      durations: What is fitted of each recording, s.
      touching: Whether bodies touch.
    """
    columns = parameters + 2 * model.nv + model.na + 1
    seconds = float(sum(durations))
    per_step = _PER_FREEDOM * model.nv * (_TOUCHING if touching else 1.0)
    if int(model.opt.integrator) == int(mujoco.mjtIntegrator.mjINT_RK4):
        per_step *= _STAGES
    steps = seconds / float(model.opt.timestep)
    return RolledFit(columns, seconds, _JACOBIANS * steps * columns * per_step)


def in_a_usual_time(
    draft: Draft,
    experiment: Experiment,
    dataset: Dataset,
    free: int,
    *,
    touching: bool,
    rolled: bool,
) -> Draft:
    """Fit only parts of the recordings where all of them would take a user too long.

    Robots that stand get no more where their derivatives are exact: each window that begins beside
    a touch-down may hold up the search of all, and the middle of a recording has few of them.

    Args:
      draft: The proposal so far.
      experiment: What it asks for.
      dataset: Some of its recordings.
      free: How many parameters are.
      touching: Whether bodies touch.
      rolled: Whether derivatives are rollouts.

    Raises:
      SysidError: A recording cannot be read.
    """
    duration = float(np.median(_lengths(dataset)))
    share = 1.0 - (draft.recordings.fraction or 0.0)
    durations = [share * duration] * len(draft.recordings.fitted)
    model = dataset.training[0].spec.copy().compile()
    fit = rolled_fit(model, free, durations, touching=touching)
    if fit.affordable >= fit.seconds:
        return draft
    dear = (
        f"derivatives of this model are simulations, {fit.columns} of all that is fitted at every "
        f"step, and all of it would take some {fit.cost / 60.0:.0f} min of one processor"
    )
    lands = "bodies touch, and windows that begin beside a touch-down may hold up a search"
    why = (
        f"At most {fit.affordable:.2g} of {fit.seconds:.3g} s are fitted: "
        f"{dear if rolled else lands}. More of it makes intervals narrower."
    )

    def lengths(places: Sequence[int]) -> list[float]:
        known = _lengths(dataset)
        if len(known) == len(experiment.sequences):
            return [known[place] for place in places]
        chosen = tuple(experiment.sequences[place] for place in places)
        alone = replace(experiment, sequences=chosen, validation=ValidationConfig())
        return _lengths(load_dataset(alone, None))

    parts = shortened(draft.recordings, duration, fit.affordable, lengths)
    return replace(draft, recordings=parts, cost=why)


def shortened(
    recordings: Division,
    duration: float,
    wanted: float,
    lengths: Callable[[Sequence[int]], Sequence[float]],
) -> Division:
    """Parts of some of the recordings, from their middle, that together last as long as wanted.

    Recordings that are shorter than their part are fitted whole.

    Args:
      recordings: All of them.
      duration: Of a usual one, s.
      wanted: What is to be fitted of all together, s.
      lengths: Tells how long recordings are [s] by their places among those that are fitted.
    """
    share = 1.0 - (recordings.fraction or 0.0)
    count = min(len(recordings.fitted), max(1, round(wanted / (share * duration))))
    places = [round((k + 0.5) * len(recordings.fitted) / count - 0.5) for k in range(count)]
    part = min(duration, wanted / (share * count))
    known = zip(places, lengths(places), strict=True)
    chosen = {place: _part(recordings.fitted[place], length, part) for place, length in known}
    return replace(
        recordings,
        fitted=tuple(chosen.values()),
        unused=tuple(bag for k, bag in enumerate(recordings.fitted) if k not in chosen),
    )


def _part(bag: str | dict[str, Any], length: float, part: float) -> str | dict[str, Any]:
    """The middle of a recording of that length, s; all of one that is no longer."""
    if length <= part:
        return bag
    start = round(0.5 * (length - part), 2)
    return {"bag": bag, "start": start, "end": round(start + part, 2)}


def _lengths(dataset: Dataset) -> list[float]:
    """Lengths of the recordings that are fitted, s."""
    parts = [part for group in dataset.training for part in group.sensordata]
    return [float(part.times[-1] - part.times[0]) for part in parts]
