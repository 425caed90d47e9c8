# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Everything one run of the pipeline delivers; report and result files are written from it."""

from __future__ import annotations

import math
import platform
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from importlib import metadata
from typing import Any

import numpy as np

import sysid_ros
from sysid_ros.arrays import FloatArray
from sysid_ros.engine.estimation import BiasCheck, Combination, FitResult, WindowCheck
from sysid_ros.engine.parameters import Target, target_of
from sysid_ros.judgement.forecast_check import ForecastCheck
from sysid_ros.recording.mapping import TopicQuality

# Provenance entries of this beginning name a recording and hold its date.
RECORDED_PREFIX = "recorded "
VERSION_PREFIX = "version "  # of these a package, and hold its version
HASH_PREFIX = "sha256 "  # of these an input, model or recording, and hold its SHA-256


def versions(*packages: str) -> dict[str, str]:
    """Entries of the provenance: this package, those it was run with, and Python."""
    return {
        f"{VERSION_PREFIX}sysid_ros": sysid_ros.__version__,
        **{f"{VERSION_PREFIX}{package}": metadata.version(package) for package in packages},
        f"{VERSION_PREFIX}python": platform.python_version(),
    }


class Judgement(str, Enum):
    """The use of a fit, for programs; the verdict gives the reason.

    The order is that of gravity: of several findings the first decides.
    """

    SUSPECT_DATA = "SUSPECT_DATA"  # the recordings themselves are in question
    UNDRIVEN = "UNDRIVEN"  # no signal drives an actuator of the model
    CANCELED = "CANCELED"
    WINDOWS_TOO_LONG = "WINDOWS_TOO_LONG"  # for a simulation to follow the recording
    NOT_CONVERGED = "NOT_CONVERGED"
    CONTRADICTED = "CONTRADICTED"  # by the measured torque
    OVERFIT = "OVERFIT"  # better on what was fitted, worse on what was not
    NO_SKILL = "NO_SKILL"  # predicts no better than a robot that stands still
    NO_IMPROVEMENT = "NO_IMPROVEMENT"
    MIXED = "MIXED"  # better in some measured quantities, worse in others
    UNEXPLAINED = "UNEXPLAINED"  # better, but most of what happens is something else
    IMPLAUSIBLE = "IMPLAUSIBLE"  # with values that no such robot has
    NOT_IDENTIFIABLE = "NOT_IDENTIFIABLE"  # better, but with parameters that the data leaves open
    AT_BOUND = "AT_BOUND"  # better, but with parameters that end at a bound
    IMPROVED = "IMPROVED"


@dataclass(frozen=True)
class SignalFit:
    """One signal of one sequence: measured, and simulated with initial and fitted parameters.

    NaN marks instants without a prediction (outside windows) or a usable measurement.
    """

    name: str
    unit: str
    times: FloatArray  # (n,) s from the recording's start
    measured: FloatArray  # (n,)
    initial: FloatArray  # (n,)
    fitted: FloatArray  # (n,)
    joint: str = ""  # the joint that it shows, if it shows one
    # Of an orientation's rotation vector: the quaternion that was measured first.
    origin: tuple[float, ...] = ()

    @property
    def is_position(self) -> bool:
        """True of a position, by its unit."""
        return self.unit in ("rad", "m", "mm")

    @property
    def rmse(self) -> float:
        """Root mean square error of ``fitted``, in the signal's unit; NaN without a prediction."""
        squares = (self.fitted - self.measured) ** 2
        return float(np.sqrt(np.nanmean(squares))) if np.isfinite(squares).any() else math.nan


@dataclass(frozen=True)
class SequenceFit:
    """All signals of one sequence, with the windows' start times."""

    name: str
    role: str  # "training" | "validation"
    signals: tuple[SignalFit, ...]
    window_starts: FloatArray  # (n_windows,) s


@dataclass(frozen=True)
class ResidualTrend:
    """The dependence of one signal's residual (measured minus fitted) on its joint's motion."""

    signal: str
    unit: str  # of its residual
    against: str  # ``"velocity"`` or ``"torque"`` of the joint that the signal measures
    against_unit: str  # of that
    # of the bins, (k + 1,); zero is one of them, so that friction shows as a step there
    edges: FloatArray
    mean: FloatArray  # of the residuals in each bin, (k,), NaN where there are too few
    low: FloatArray  # their 5 % quantile, (k,)
    high: FloatArray  # their 95 % quantile, (k,)


@dataclass(frozen=True)
class Score:
    """Open-loop prediction error in the signals' own units, over one set of sequences.

    Root mean square errors (``rmse``) and mean absolute errors (``mae``). ``rmse_all`` and
    ``mae_all`` pool the position signals (or all signals where no position is measured) of the
    sensors compared, so that they have one unit. ``rmse_still`` is the error of predicting that
    nothing moves away from its start, ``rmse_mean`` that of holding each recording's mean.
    """

    rmse: Mapping[str, float]
    rmse_initial: Mapping[str, float]
    units: Mapping[str, str]
    rmse_all: float
    rmse_all_initial: float
    unit_all: str
    windows: int
    mae: Mapping[str, float] = field(default_factory=dict)
    mae_initial: Mapping[str, float] = field(default_factory=dict)
    mae_all: float = math.nan
    mae_all_initial: float = math.nan
    rmse_still: Mapping[str, float] = field(default_factory=dict)
    rmse_mean: Mapping[str, float] = field(default_factory=dict)
    rmse_still_all: float = math.nan
    rmse_mean_all: float = math.nan


@dataclass(frozen=True)
class JointTorque:
    """The torque that inverse dynamics asks for along the measured motion, against the measured."""

    joint: str  # a hinge or slide
    unit: str  # N m, or N of a slide
    measured: float  # root mean square of the torque measured; zero where nothing drives the joint
    rmse: float  # of what the fitted model asks for
    rmse_initial: float  # of what the initial model asks for
    moving: float = 0.0  # root mean square of what accelerates a joint that nothing drives


@dataclass(frozen=True)
class AppliedParameter:
    """The effect of one parameter on the model."""

    # the parameter's; its components are called ``name[0]`` and so on among the estimates
    name: str
    values: tuple[float, ...]  # identified, or fixed where it was frozen
    # what they are written into, as from
    # :func:`~sysid_ros.engine.parameters.modifiers.modifier_to_dict`; empty where nothing is
    modifier: Mapping[str, Any]
    robot: str | None = None  # the one of several robots that it belongs to alone

    @property
    def target(self) -> Target:
        """The element and attribute that the values are written into."""
        return target_of(self.modifier, len(self.values))


@dataclass(frozen=True)
class Outcome:
    """A fit with its scores and everything needed to judge it.

    ``doubts``, ``undriven`` and ``implausible`` are clauses of the verdict, see
    :mod:`sysid_ros.judgement.findings`; ``absent`` are names of parameters that speak against
    nothing though they end at a bound.
    """

    title: str
    fit: FitResult
    training: Score | None
    validation: Score | None
    sequences: tuple[SequenceFit, ...]
    quality: tuple[TopicQuality, ...]
    verdict: str  # one plain sentence: can this be trusted, and what changed
    warnings: tuple[str, ...]  # plain sentences, most important first
    provenance: Mapping[str, str]  # versions, hashes of inputs, command, experiment text
    bias: BiasCheck | None = None  # what other settings would have found, where asked for
    window_check: WindowCheck | None = None  # what other windows would have, likewise
    combinations: tuple[Combination, ...] = ()  # what is determined where its parameters are not
    trends: tuple[ResidualTrend, ...] = ()  # of the held-out residuals, else of the fitted ones
    applied: tuple[AppliedParameter, ...] = ()  # all parameters, frozen ones too
    judgement: Judgement | None = None  # None: nothing was scored
    doubts: tuple[str, ...] = ()  # what puts the recordings in question
    undriven: tuple[str, ...] = ()  # actuators that no signal drives
    implausible: tuple[str, ...] = ()  # values that no such robot has
    absent: tuple[str, ...] = ()  # effects at zero, which neither model nor recordings have
    torques: tuple[JointTorque, ...] = ()  # by joint, of the held-out recordings if there are any
    forecast: ForecastCheck | None = None  # of recordings of designed motions

    @property
    def score(self) -> Score | None:
        """The score that counts: that of what was held out, where there is any."""
        return self.validation or self.training

    @property
    def scored_on(self) -> str:
        """``"held out"`` or ``"training"``, or nothing where nothing was scored."""
        return "held out" if self.validation else "training" if self.training else ""

    @property
    def input_hashes(self) -> dict[str, str]:
        """The SHA-256 of every model file and recording behind the fit, by name."""
        return {
            key.removeprefix(HASH_PREFIX): digest
            for key, digest in self.provenance.items()
            if key.startswith(HASH_PREFIX)
        }


@dataclass(frozen=True)
class Evaluation:
    """The quality of parameters' predictions.

    In scores and sequences, ``initial`` is the untuned model and ``fitted`` the one evaluated.
    """

    parameters: Mapping[str, float]  # every free parameter's value
    training: Score | None  # on the sequences that the experiment fits; ``None`` if there are none
    validation: Score | None  # on those that it holds out, or on the recordings given instead
    sequences: tuple[SequenceFit, ...]  # every recording as predicted
