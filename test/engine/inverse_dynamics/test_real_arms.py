# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A real arm with published parameters, and the Panda with a payload."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import mujoco
import numpy as np
import pytest
from simulated_arms import measured, simulate

from sysid_ros.engine.inverse_dynamics import Recording, fit_inverse_dynamics, with_payload

pytest.importorskip("clarabel", reason="the convex solver is not installed")

ROOT = Path(__file__).resolve().parents[3]
TX40 = ROOT.parent / "shared" / "data" / "tx40"
PANDA = ROOT.parent / "shared" / "data" / "models" / "franka_emika_panda" / "panda_nohand.xml"
PAYLOAD, CENTRE = 0.5, np.array([0.02, -0.01, 0.06])  # kg, m in the flange's frame


def example():
    spec = importlib.util.spec_from_file_location(
        "tx40", ROOT / "examples" / "tx40" / "identify.py"
    )
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # where dataclasses look their annotations up
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def tx40():
    if not TX40.exists():
        pytest.skip(f"{TX40} with the recording of the TX40 is not there")
    found = example()
    return found, found.read_model(TX40), found.read_recording(TX40)


def test_published_essential_parameters_are_found(tx40):
    found, model, recording = tx40
    rows = found.compare_essential(model, recording, found.read_published(TX40))
    far = [name for name, *_, distance in rows if abs(distance) > 2.0]
    assert len(rows) == 25
    # the first moment of link 2 takes up the offset of joint 2, which is not essential
    assert all(name.startswith("mx2") for name in far)


def test_consistent_parameters_predict_no_worse_than_base_parameters(tx40):
    found, model, recording = tx40
    rmse = {name: np.sqrt(np.mean(one**2)) for name, one in found.score(model, recording).items()}
    assert rmse["consistent"] <= 1.03 * rmse["base parameters"]
    assert rmse["consistent"] < 0.3 * rmse["model"]


@pytest.mark.slow
def test_the_pandas_payload_is_found_to_a_percent_and_three_millimetres():
    if not PANDA.exists():
        pytest.skip(f"{PANDA} is not there")
    rng, offsets = np.random.default_rng(0), np.linspace(-0.3, 0.3, 7)
    arm = mujoco.MjSpec.from_file(str(PANDA))
    for geom in list(arm.geoms):
        arm.delete(geom)
    truth = arm.copy()
    truth.option.timestep = 5e-4
    truth.option.disableflags |= int(
        mujoco.mjtDisableBit.mjDSBL_LIMIT | mujoco.mjtDisableBit.mjDSBL_ACTUATION
    )
    for joint in truth.joints:
        joint.frictionloss, joint.solref_friction = 0.5, np.array([1e-3, 1.0])
    loaded = with_payload(truth, "attachment", mass=PAYLOAD)
    loaded.body("payload").ipos = CENTRE
    recordings = []
    for condition, spec in ((" without payload", truth), ("loaded", loaded)):
        motion = simulate(spec.compile(), 30.0, seed=1, amplitude=1.5)
        times, qpos, torque = measured(motion, 500.0, rng, torque_noise=0.1, colour=0.02)
        recordings.append(Recording(times, qpos, torque + offsets, condition=condition))
    guess = with_payload(arm, "attachment").compile()
    values = fit_inverse_dynamics(guess, recordings).values
    mass = values["payload.m"]
    centre = np.array([values[f"payload.m{axis}"] for axis in "xyz"]) / mass
    print(f"payload {mass:.4f} kg, centre off by {1e3 * np.linalg.norm(centre - CENTRE):.2f} mm")
    assert mass == pytest.approx(PAYLOAD, rel=0.01)
    assert np.linalg.norm(centre - CENTRE) < 3e-3
