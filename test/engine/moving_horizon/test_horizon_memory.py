# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""What is known survives a restart, and nothing else is taken for it."""

from __future__ import annotations

from pathlib import Path

import mujoco
import numpy as np
import pytest

from sysid_ros.engine.estimation import FitSettings
from sysid_ros.engine.moving_horizon import HorizonSettings, Memory, MovingHorizon
from sysid_ros.engine.moving_horizon.arrival_cost import Share
from sysid_ros.engine.moving_horizon.information import covariance_of
from sysid_ros.engine.parameters import Parameter, ParameterDict
from sysid_ros.errors import DataError

KNOWN = Share(
    0.0, np.array([0.1]), np.array([[4e6]]), np.array([-3.0]), {"angle": (1e-5, 200.0)}, 12.0
)


def _nothing(spec: mujoco.MjSpec, parameter: Parameter) -> None:
    """Change no model."""


def _horizon(name: str) -> MovingHorizon:
    params = ParameterDict({name: Parameter(name, 0.5, 0.0, 1.0, modifier=_nothing)})
    return MovingHorizon(params, FitSettings(), HorizonSettings(), {})


def test_a_state_is_read_as_it_was_written(tmp_path: Path):
    file = tmp_path / "state.json"
    Memory(("damping",), (KNOWN,), {"angle": 2e-4}).write(file, {})
    horizon = _horizon("damping")
    horizon.recall(Memory.read(file, {}))
    kept = horizon.memory
    assert kept.names == ("damping",) and kept.noise == {"angle": 2e-4}
    (known,) = kept.known
    assert known.hessian == KNOWN.hessian and known.gradient == KNOWN.gradient
    assert known.squares == KNOWN.squares and known.windows == KNOWN.windows


def test_what_was_kept_of_another_model_is_refused(tmp_path: Path):
    file = tmp_path / "state.json"
    Memory(("damping",), (KNOWN,), {}).write(file, {"the model": "1", "the signals": "2"})
    Memory.read(file, {"the model": "1", "the signals": "2"})
    with pytest.raises(DataError, match="was kept before the model changed"):
        Memory.read(file, {"the model": "3", "the signals": "2"})


def test_standard_errors_are_as_large_after_a_restart(tmp_path: Path):
    """The scatter of what was known is kept, not only its sum."""
    theta, noise = np.array([0.3]), {"angle": 1.0}
    gradients = np.random.default_rng(0).standard_normal(300)
    shares = [
        Share(0.0, theta, np.eye(1), np.array([g]), {"angle": (1.0, 1.0)})
        for g in gradients - gradients.mean()
    ]
    Memory.of(["damping"], shares, noise).write(tmp_path / "state.json", {})
    known = Memory.read(tmp_path / "state.json", {}).known
    assert len(known) < 30
    params = ParameterDict({"damping": Parameter("damping", 0.3, 0.0, 1.0, modifier=_nothing)})
    whole, kept = (covariance_of(params, theta, of, "clustered", noise) for of in (shares, known))
    assert kept.errors == pytest.approx(whole.errors, rel=0.3)


def test_a_state_of_other_parameters_is_refused(tmp_path: Path):
    with pytest.raises(DataError, match="the state is of damping; estimated are armature"):
        _horizon("armature").recall(Memory(("damping",), (KNOWN,), {}))


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{}",
     '{"format": 2, "inputs": {}, "names": ["a"], "noise": {}, "known": {"theta": [1, 2]}}',
     '{"format": 1, "names": [], "noise": {}}'],
)  # fmt: skip
def test_a_damaged_file_is_no_state(tmp_path: Path, text: str):
    file = tmp_path / "state.json"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match=r"state\.json"):
        Memory.read(file, {})
