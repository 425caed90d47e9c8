# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Sums of recordings of torque."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from torque_arm import JOINTS, moved, noisy, torque_sequences, true_spec

from sysid_ros.engine.attributes import lookup
from sysid_ros.engine.estimation import FitSettings
from sysid_ros.engine.inverse_dynamics import Settings, gather
from sysid_ros.engine.least_squares import FitStatus
from sysid_ros.engine.measured_torque import settled_sums as module
from sysid_ros.engine.measured_torque.rows.torque_problem import (
    TorqueProblem,
    regression_settings,
    torque_problem,
)
from sysid_ros.engine.parameters import AttributeModifier, Parameter, ParameterDict
from sysid_ros.errors import DataError

STILL = 1  # the joint that does not move


def problem(torque_known: bool = True) -> tuple[TorqueProblem, Settings, np.ndarray]:
    """A robot's recording, of which damping is asked."""
    spec, params = true_spec(), ParameterDict()
    times, motion, torque = moved(spec.compile(), 4.0, 100.0)
    positions, torque = noisy(motion.qpos, torque, 100.0)
    positions[:, STILL] = positions[0, STILL]
    for joint in JOINTS:
        start = lookup("joint", "damping").read(spec, joint)
        modifier = AttributeModifier("joint", joint, "damping")
        params.add(Parameter(f"{joint}_damping", start, 0.0, np.inf, modifier=modifier))
    known = torque if torque_known else np.full_like(torque, np.nan)
    made = torque_problem([torque_sequences(spec, times, positions, known)], params)
    own = regression_settings(made.declared, FitSettings(method="inverse_dynamics").torque)
    return made, own, params.as_vector()


def test_sums_tell_which_joints_rest_and_are_made_of_filtered_recordings_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    given = problem()
    sums = module.settled_sums(*given)
    assert sums.still == (STILL,)
    assert sums.status is FitStatus.CONVERGED
    monkeypatch.delattr(module, "gather")  # which filters
    again = module.linearised_sums(*given, before=sums.evidence)
    for condition, gram in sums.evidence.grams.items():
        same = again.evidence.grams[condition]
        np.testing.assert_array_equal(same.counts, gram.counts)
        for one, other in zip(same.sums, gram.sums, strict=True):
            np.testing.assert_allclose(one, other)


def test_a_recording_without_torque_is_refused() -> None:
    with pytest.raises(DataError, match="no torque was measured"):
        module.settled_sums(*problem(torque_known=False))


def test_sums_take_no_more_memory_than_is_asked_of_them() -> None:
    made, own, _ = problem()
    evidence = gather(made.regressor, made.recordings, replace(own, blocks=1))
    (grams,), (shifted,) = evidence.grams.values(), evidence.shifted.values()
    for one, with_nodes in zip(grams.sums, shifted.sums, strict=True):
        assert len(one) == 1
        assert np.shares_memory(one, with_nodes)  # no delay is unknown
    apart = gather(made.regressor, made.recordings, own).grams[next(iter(evidence.grams))]
    assert len(apart.counts) > 1
    np.testing.assert_array_equal(apart.counts.sum(axis=0), grams.counts[0])
    for one, parts in zip(grams.sums, apart.sums, strict=True):
        np.testing.assert_allclose(one[0], parts.sum(axis=0), rtol=1e-9, atol=1e-12)
