# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Scores and signals of a fit to measured torque: torque predicted from the measured motion."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.dataset import FitInputs, torque_settings
from sysid_ros.engine.estimation import TorqueFindings
from sysid_ros.engine.measured_torque import TorqueTrace, torque_traces
from sysid_ros.engine.regressor import SHARP
from sysid_ros.engine.signals import ModelSequences
from sysid_ros.engine.uncertainty import sensor_of
from sysid_ros.judgement.outcome import ResidualTrend, Score, SequenceFit, SignalFit
from sysid_ros.judgement.residual_trends import JointSamples, binned_trends
from sysid_ros.judgement.scoring import pooled_score


def torque_predictions(
    inputs: FitInputs,
    used: Sequence[ModelSequences],
    values: FloatArray,
    findings: TorqueFindings | None = None,
    *,
    creep: Mapping[str, float] | None = SHARP,
) -> tuple[TorqueTrace, ...]:
    """Torque of some sequences, measured and predicted.

    Args:
      inputs: The experiment.
      used: Its sequences of one purpose; may be empty.
      values: Of the free parameters.
      findings: Of the fit whose low-passes and law of dry friction are used, so that scores
        compare.
      creep: Without findings, as for :func:`~sysid_ros.engine.measured_torque.torque_traces`.
    """
    if not used:
        return ()
    cutoffs = None
    if findings is not None:
        creep = findings.creep if findings.sharp_friction else None
        by_name = {one.joint: one.motion_cutoff for one in findings.joints}
        motion = {sensor_of(name): cutoff for name, cutoff in by_name.items()} | by_name
        cutoffs = motion, findings.row_cutoff
    return torque_traces(
        used, inputs.params, values, torque_settings(inputs.experiment), cutoffs, creep=creep,
    )  # fmt: skip


def torque_score(traces: Sequence[TorqueTrace]) -> Score | None:
    """Errors of torque by signal and over all of them; ``None`` without any."""
    if not traces:
        return None
    initial: dict[str, list[FloatArray]] = {}
    fitted: dict[str, list[FloatArray]] = {}
    for one in traces:
        initial.setdefault(one.signal, []).append(one.initial - one.measured)
        fitted.setdefault(one.signal, []).append(one.fitted - one.measured)
    units = {one.signal: one.unit for one in traces}
    mean: dict[str, list[FloatArray]] = {}
    for one in traces:
        mean.setdefault(one.signal, []).append(float(np.mean(one.measured)) - one.measured)
    windows = len({one.sequence for one in traces})
    return pooled_score(initial, fitted, units, (), windows, mean=mean)


def torque_sequences(traces: Sequence[TorqueTrace], role: str) -> tuple[SequenceFit, ...]:
    """Torque signals by sequence, ``training`` or ``validation``."""
    by_sequence: dict[str, list[TorqueTrace]] = {}
    for one in traces:
        by_sequence.setdefault(one.sequence, []).append(one)
    return tuple(
        SequenceFit(
            name,
            role,
            tuple(
                SignalFit(t.signal, t.unit, t.times, t.measured, t.initial, t.fitted, t.joint)
                for t in own
            ),
            np.array([min(float(t.times[0]) for t in own)]),
        )
        for name, own in by_sequence.items()
    )


def torque_trends(traces: Sequence[TorqueTrace]) -> tuple[ResidualTrend, ...]:
    """Trends of what is left of torque, against velocity and torque of its joint."""
    return binned_trends(
        JointSamples(
            one.signal, one.unit, one.unit, one.measured - one.fitted, one.velocity,
            one.measured,
        )
        for one in traces
    )  # fmt: skip
