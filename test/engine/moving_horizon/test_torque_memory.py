# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""What torque has told survives a restart in the middle, and nothing else is taken for it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from torque_arm import JOINT_EXPERIMENT, OFFSETS, moved, noisy, part_of, torque_sequences, true_spec

from sysid_ros.engine.estimation import FitSettings, TorqueSettings
from sysid_ros.engine.moving_horizon import (
    HorizonEstimate,
    HorizonSettings,
    TorqueHorizon,
    TorqueMemory,
)
from sysid_ros.engine.signals import ModelSequences
from sysid_ros.errors import DataError
from sysid_ros.experiment import parse_experiment
from sysid_ros.robots import build_parameters

RATE, RESTART, END, EVERY = 125.0, 7.0, 10.0, 0.2  # Hz, s
SETTINGS = FitSettings(
    method="inverse_dynamics", torque=TorqueSettings(motion_cutoff=12.0, row_cutoff=4.0)
)


@pytest.fixture(scope="module")
def whole() -> ModelSequences:
    times, motion, torque = moved(true_spec().compile(), END, RATE)
    return torque_sequences(true_spec(), times, *noisy(motion.qpos, torque - OFFSETS, RATE))


def _horizon(whole: ModelSequences, text: str = JOINT_EXPERIMENT) -> TorqueHorizon:
    params = build_parameters(parse_experiment(text), whole.spec)
    return TorqueHorizon(params, SETTINGS, HorizonSettings())


def _followed(
    horizon: TorqueHorizon, whole: ModelSequences, begin: float, end: float
) -> dict[float, HorizonEstimate]:
    """Estimates of a part, whose own time begins with it, by the instant of the whole."""
    found = {}
    for now in np.arange(begin + EVERY, end, EVERY):
        needed = horizon.needed_from
        first = begin if np.isnan(needed) else begin + needed
        part = part_of(whole, first, float(now), origin=begin)
        made = horizon.update(part, float(now) - begin)
        if made is not None:
            found[float(now)] = made
    return found


@pytest.fixture(scope="module")
def kept(whole: ModelSequences, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of a run that ended in the middle."""
    horizon = _horizon(whole)
    assert horizon.memory is None
    _followed(horizon, whole, 0.0, RESTART)
    file = tmp_path_factory.mktemp("state") / "state.json"
    memory = horizon.memory
    assert memory is not None
    memory.write(file, {})
    return file


def test_a_restart_in_the_middle_goes_on_as_before(whole: ModelSequences, kept: Path) -> None:
    straight = _followed(_horizon(whole), whole, 0.0, END)
    again = _horizon(whole)
    again.recall(TorqueMemory.read(kept, {}))
    restarted = _followed(again, whole, RESTART, END)
    assert min(restarted) - RESTART < 2.0 < min(straight)
    assert all(one.settled for one in restarted.values())
    last = restarted[max(restarted)].parameters, straight[max(straight)].parameters
    for one, other in zip(*last, strict=True):
        if other.standard_error is None:  # a delay that stays at its start
            continue
        assert one.standard_error is not None
        assert abs(one.value - other.value) < 2.5 * other.standard_error
        assert 0.5 * other.standard_error < one.standard_error < 2.0 * other.standard_error


def test_a_state_of_other_parameters_is_refused(whole: ModelSequences, kept: Path) -> None:
    other = _horizon(whole, JOINT_EXPERIMENT.replace("armature: , ", ""))
    with pytest.raises(DataError, match=r"the state is of a_armature, .*; estimated are a_damping"):
        other.recall(TorqueMemory.read(kept, {}))


def test_a_state_of_another_model_is_refused_and_the_run_goes_on(
    whole: ModelSequences, kept: Path
) -> None:
    memory = TorqueMemory.read(kept, {})
    shorter = memory.blocks[0].sums[0][:-1]
    first = type(memory.blocks[0])(memory.blocks[0].counts, (shorter, *memory.blocks[0].sums[1:]))
    horizon = _horizon(whole)
    horizon.recall(TorqueMemory(memory.names, memory.motion, memory.rows, (), (first,)))
    with pytest.raises(DataError, match="of another model"):
        _followed(horizon, whole, 0.0, 4.0)
    assert _followed(horizon, whole, 0.0, 4.0)


@pytest.mark.parametrize(
    "change",
    [{"rows": 0.0}, {"motion": []}, {"blocks": [{"counts": [1.0], "sums": [[1.0], [2.0]]}]},
     {"blocks": [{"counts": [1.0], "sums": [[None]]}]}, {"still": ["x"]}, {"format": 1},
     {"inputs": 3}],
)  # fmt: skip
def test_a_damaged_file_is_no_state(tmp_path: Path, kept: Path, change: dict[str, object]) -> None:
    file = tmp_path / "state.json"
    content = json.loads(kept.read_text(encoding="utf-8"))
    file.write_text(json.dumps({**content, **change}), encoding="utf-8")
    with pytest.raises(DataError, match=r"state\.json"):
        TorqueMemory.read(file, {})
