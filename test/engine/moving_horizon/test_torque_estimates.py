# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""An arm that is followed by its torque: in time, and to where the fit ends."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice, pairwise

import numpy as np
import pytest
from torque_arm import JOINT_EXPERIMENT, moved, noisy, part_of, torque_sequences, true_spec

from sysid_ros.engine.estimation import FitResult, FitSettings, TorqueSettings
from sysid_ros.engine.measured_torque import fit_torque
from sysid_ros.engine.moving_horizon import HorizonEstimate, HorizonSettings, TorqueHorizon
from sysid_ros.engine.parameters import ParameterDict
from sysid_ros.engine.signals import ModelSequences
from sysid_ros.experiment import parse_experiment
from sysid_ros.robots import build_parameters

RATE, END, EVERY = 250.0, 20.0, 0.1  # Hz, s, s
DELAY = 0.2  # s from a sample to an estimate that contains it, at most
# Given, so that filters do not depend on how much of the motion has been seen.
SETTINGS = FitSettings(
    method="inverse_dynamics", torque=TorqueSettings(motion_cutoff=15.0, row_cutoff=4.0)
)


def _recorded(rate: float) -> ModelSequences:
    times, motion, torque = moved(true_spec().compile(), END, rate)
    return torque_sequences(true_spec(), times, *noisy(motion.qpos, torque, rate))


def _parameters(whole: ModelSequences) -> ParameterDict:
    return build_parameters(parse_experiment(JOINT_EXPERIMENT), whole.spec)


def _followed(whole: ModelSequences) -> Iterator[tuple[float, HorizonEstimate]]:
    horizon = TorqueHorizon(_parameters(whole), SETTINGS, HorizonSettings())
    for now in np.arange(EVERY, END + EVERY, EVERY):
        begin = horizon.needed_from
        part = part_of(whole, 0.0 if np.isnan(begin) else begin, float(now))
        found = horizon.update(part, ended=bool(now >= END))
        if found is not None:
            yield float(now), found


@pytest.fixture(scope="module")
def whole() -> ModelSequences:
    return _recorded(RATE)


@pytest.fixture(scope="module")
def followed(whole: ModelSequences) -> list[tuple[float, HorizonEstimate]]:
    return list(_followed(whole))


@pytest.fixture(scope="module")
def fitted(whole: ModelSequences) -> FitResult:
    return fit_torque([whole], _parameters(whole), SETTINGS)


def test_the_last_estimate_is_that_of_the_fit(
    followed: list[tuple[float, HorizonEstimate]], fitted: FitResult
):
    live = {p.name: p for p in followed[-1][1].parameters}
    told = [p for p in fitted.parameters if p.standard_error is not None and "_mass" not in p.name]
    assert len(told) >= 9
    for one in told:
        assert abs(live[one.name].value - one.value) < 0.1 * (one.standard_error or 0.0)


def test_a_sample_is_in_an_estimate_soon(followed: list[tuple[float, HorizonEstimate]]):
    late = [later - found.time for (_, found), (later, _) in pairwise(followed[:-1])]
    # The sample that has just missed one estimate waits for the next one.
    assert np.mean(np.array(late[20:]) <= DELAY) > 0.95
    assert max(late[1:]) < 2.0 * DELAY + EVERY  # the first has nothing to weigh rows with


def test_the_same_recording_gives_the_same_estimates(
    whole: ModelSequences, followed: list[tuple[float, HorizonEstimate]]
):
    first = [p.value for _, found in islice(_followed(whole), 20) for p in found.parameters]
    again = [p.value for _, found in followed[:20] for p in found.parameters]
    assert first == again
