# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The settings of a fit as frozen dataclasses; see :mod:`.experiment_schema`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sysid_ros.choices import FIT_METHODS, SEARCH_METHODS
from sysid_ros.experiment.rules import key

LEFT_OUT = "left_out"


@dataclass(frozen=True)
class WindowConfig:
    """The cutting of recordings; ``length`` in seconds, ``None`` for the whole recording."""

    length: float | None = key(
        1.0,
        "s; `whole` for the whole recording. Where a robot is recorded in motion, the "
        "first window, and one behind a gap in commands, begins once it is known what acts: after "
        "the longest delay that is allowed, half a window later at most",
        above=0,
        minimum=1e-3,
        none_word="whole",
    )
    overlap: float = key(
        0.0,
        "fraction of the length; only `scoring` may overlap, and where recordings are held "
        "out only theirs do",
        minimum=0,
        maximum=0.95,
    )
    contacts: str = key(
        "simulated",
        "`left_out`: no window touches a stretch in which bodies of the model touch, those "
        "apart that touch in more than 30 % of the recorded postures; bodies that overlap by "
        "more than 5 mm, which real ones cannot, pass through each other, as do a link and a "
        "base that stands still and that it turns on, if they touch in more than 30 %; where "
        "no other contacts stay, none are simulated; not for `scoring`, which leaves out the same",
        choices=("simulated", LEFT_OUT),
    )


@dataclass(frozen=True)
class InitialStateConfig:
    """The start of each window: estimated with the parameters, or taken from measurements."""

    estimate: bool = key(
        True, "estimate each window's start; otherwise take it from the measurements"
    )
    velocity_filter: float = key(
        30.0,
        "Hz; zero-phase low-pass before differentiating positions, at most: lower where the "
        "sensor's noise would be more than a twentieth of the velocity",
        minimum=0.01,
    )


@dataclass(frozen=True)
class SearchConfig:
    """The search for a start, if it is not that of the parameters."""

    method: str = key(
        "starts",
        "`starts`: fits from the best of points that fill the bounds; `cma-es` (restarted, "
        "BIPOP) and `random` for costs that are not smooth; `nsga2` for two costs; "
        "`inverse_dynamics` where joint torque is measured",
        choices=SEARCH_METHODS,
    )
    trials: int = key(200, "candidates to simulate", minimum=1, maximum=1_000_000)
    starts: int = key(4, "how many of the best to fit from, for `starts`", minimum=1)
    seed: int = key(0, "same seed, same answer", minimum=0)
    costs: tuple[str, ...] = key(
        (),
        "patterns of signal names, one cost each, as `nsga2` needs two of; the candidate with "
        "the smallest sum is fitted",
    )
    study: str | None = key(
        None,
        "Optuna study to continue and to share: a database file (`.db`), a journal (`.log`), "
        "or a URL of Optuna's; in the file only a file below the output folder, the rest with "
        "`--set`",
    )
    study_name: str | None = key(None, "its name there; by default that of the only one")


def _optimizers() -> tuple[str, ...]:
    from sysid_ros.engine.least_squares import OPTIMIZERS

    return tuple(OPTIMIZERS)


def _losses() -> tuple[str, ...]:
    from sysid_ros.engine.least_squares import LOSSES

    return tuple(LOSSES)


@dataclass(frozen=True)
class TorqueFitConfig:
    """The settings of a fit by inverse dynamics."""

    motion_cutoff: float | None = key(
        None,
        "Hz; low-pass in front of derivatives of positions; chosen from their spectra if left out",
        above=0,
    )
    row_cutoff: float | None = key(
        None, "Hz; low-pass on torque and on what predicts it; likewise", above=0
    )
    torque_offsets: bool = key(
        True,
        "estimate a constant torque of every joint whose torque is measured, as its "
        "`torque_offset`, unless `parameters` name that or the signal's `bias`",
    )
    torque_delay: bool = key(
        True,
        "estimate the delay of each topic's torque against positions, unless `parameters` name one",
    )
    prior: str = key(
        "entropic",
        "the distance that keeps bodies near the model where torque leaves them open",
        choices=("entropic", "gaussian"),
    )
    spread: float = key(
        1.0,
        "how wrong the model's bodies may be, relative to themselves",
        minimum=1e-3,
        maximum=1e3,
    )
    hulls: bool = key(True, "keep centres of mass within their body's geometry")
    total_mass: float | None = key(
        None, "kg, of all moving bodies together, where known", minimum=1e-3, maximum=1e6
    )
    drive_stiffness: Mapping[str, float] = key(
        dict,
        "N m/rad or N/m by joint, of drives whose torque is sampled once in each set point that "
        "they hold: as much times half the time between samples may look like damping",
        minimum=0,
    )
    drive_damping: Mapping[str, float] = key(
        dict, "N m s/rad or N s/m by joint, likewise: it may look like armature", minimum=0
    )
    beside_simulation: bool = key(
        True,
        "`method: forward` compares torque sensors with what the measured motion takes, not "
        "with the simulated servo's torque",
    )


@dataclass(frozen=True)
class FitConfig:
    """The settings of the fit."""

    method: str = key(
        "forward",
        "`forward` compares simulated with measured signals; `inverse_dynamics` measured "
        "torque with what the measured motion takes, see inverse_dynamics.md",
        choices=tuple(FIT_METHODS),
    )
    inverse_dynamics: TorqueFitConfig = key(TorqueFitConfig(), "settings of that method")
    optimizer: str = key(
        "auto",
        "solver; `scipy_parallel_fd` is deprecated: `scipy` batches its differences too",
        choices=_optimizers,
    )
    loss: str = key(
        "linear",
        "how residuals count: squared (`linear`), by their size (`absolute`, as in the mean "
        "absolute error), or forgiving outliers",
        choices=_losses,
    )
    max_iterations: int = key(100, "accepted steps at most", minimum=1)
    time_limit: float | None = key(
        None, "s for all of it, reading, scoring and writing included; none if left out", above=0
    )
    threads: int | None = key(None, "all cores if left out", minimum=1, maximum=1024)
    intervals: str = key(
        "clustered",
        "`clustered` by window, honest with correlated residuals, or `white`",
        choices=("clustered", "white"),
    )
    engine: str = key(
        "auto",
        "derivatives: `auto` exact where known, `reference` by finite differences",
        choices=("auto", "reference"),
    )
    max_gap: float = key(0.1, "s; longer gaps in a signal are masked, never bridged", above=0)
    model_error: bool = key(
        True,
        "widen intervals by what half the time step and other windows move, to first order, by "
        "what commands may do between their samples, and by what recordings differ; flag it",
    )
    bias_check: bool = key(
        False, "refit with half the time step, other windows and another filter; flag what moves"
    )
    window_check: bool = key(
        False,
        "estimate anew with windows of 0.5 s, of 1 s and whole, and from halves of the "
        "recordings; say which windows can be trusted",
    )
    chunk: int | None = key(
        None, "recordings that are in memory at once, see large_fits.md; all if left out", minimum=1
    )
    search: SearchConfig | None = key(
        None, "look for a start all over the bounds; the parameters' own if left out"
    )
    landscapes: int = key(
        1, "pairs of parameters to map the cost around the optimum for", minimum=0
    )

    @property
    def simulates(self) -> bool:
        """True for a method that simulates robots, see :class:`~sysid_ros.choices.FitMethod`."""
        return FIT_METHODS[self.method].simulates
