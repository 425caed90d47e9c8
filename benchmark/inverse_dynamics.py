# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Consistent identification from torque beside least squares, in torque error and CPU time.

    python -m benchmark.inverse_dynamics --tx40 path/to/tx40 --panda path/to/panda_nohand.xml

Fits to the first 70 % of a recording, scores on the last 30 %: the model as it is, least squares on
base parameters, the same weighted by residuals (as FIGAROH does), and consistent parameters. The
Panda is simulated with friction, offsets and coloured noise of 0.1 N m. CPU time is of whole fits,
and of a regressor per sample beside one of differences of ``mj_inverse``, a column at a time.
"""

from __future__ import annotations

import argparse
import importlib.util
import itertools
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import numpy.typing as npt

from sysid_ros.engine.elements import INERTIAL, central
from sysid_ros.engine.inverse_dynamics import (
    Motion,
    Recording,
    Regressor,
    Settings,
    fit_combinations,
    fit_inverse_dynamics,
    torque_rmse,
)

FloatArray = npt.NDArray[np.float64]

ROOT = Path(__file__).resolve().parents[1]
TRAINING = 0.7
FRICTION_VELOCITY = 0.02  # rad/s
SAMPLES = 200  # of the regressor of differences, which is slow


def main() -> None:
    """Print and, with --name, write the figures."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--tx40", type=Path, help="folder with bags/ and tx40.urdf")
    parser.add_argument("--panda", type=Path, help="panda_nohand.xml")
    parser.add_argument("--name", help="write benchmark/results/NAME.json")
    asked = parser.parse_args()
    found: dict[str, Any] = {}
    if asked.tx40:
        example = _example()
        model, recording = example.read_model(asked.tx40), example.read_recording(asked.tx40)
        found["tx40"] = compare(model, recording)
    if asked.panda:
        truth = panda(asked.panda)
        wrong = panda(asked.panda)
        wrong.body_mass[:] *= 1.2
        wrong.body_inertia[:] *= 1.2
        found["panda"] = compare(wrong, simulated(truth))
    if not found:
        parser.error("give --tx40, --panda or both; neither is part of this repository")
    text = json.dumps(found, indent=2)
    print(text)
    if asked.name:
        (ROOT / "benchmark" / "results").mkdir(exist_ok=True)
        (ROOT / "benchmark" / "results" / f"{asked.name}.json").write_text(text)


def compare(model: mujoco.MjModel, recording: Recording) -> dict[str, Any]:
    """Torque RMSE [N m] of each method on data it has not seen, and CPU times [s]."""
    split = int(TRAINING * len(recording.times))
    training, test = (
        Recording(recording.times[part], recording.qpos[part], recording.torque[part])
        for part in (slice(0, split), slice(split, None))
    )
    settings = Settings(friction_velocity=FRICTION_VELOCITY)
    regressor = Regressor(model, friction_velocity=FRICTION_VELOCITY)
    regressor.rows(motion(model, 1))  # compiled, or loaded from numba's cache
    fit, cpu = timed(lambda: fit_inverse_dynamics(model, [training], settings=settings))
    basis = np.zeros((len(regressor.columns), len(fit.base.kept)))
    names = [fit.free.names[k] for k in fit.base.kept]
    basis[regressor.columns.indices(names), np.arange(len(names))] = 1.0
    plain, plain_cpu = timed(
        lambda: fit_combinations(regressor, [training], basis, settings, weighted=False)
    )
    weighted, weighted_cpu = timed(lambda: fit_combinations(regressor, [training], basis, settings))
    thetas = {
        "model": regressor.columns.nominal,
        "least squares": plain.theta,
        "weighted base parameters": weighted.theta,
        "consistent": fit.theta(),
    }
    scores = {n: torque_rmse(regressor, [test], fit.filters, t) for n, t in thetas.items()}
    return {
        "torque_rmse": {n: float(np.sqrt(np.mean(s**2))) for n, s in scores.items()},
        "torque_rmse_by_joint": {n: s.round(4).tolist() for n, s in scores.items()},
        "fit_cpu": {"least squares": plain_cpu, "weighted": weighted_cpu, "consistent": cpu},
        "regressor_cpu_per_sample": per_sample(model, regressor),
    }


def per_sample(model: mujoco.MjModel, regressor: Regressor) -> dict[str, float]:
    """CPU seconds of one sample's inertial columns by either way, which must agree."""
    moved = motion(model, SAMPLES)
    rows, ours = timed(lambda: regressor.rows(moved))
    columns, theirs = timed(lambda: differences(model, regressor, moved))
    inertial = [i for i, kind in enumerate(regressor.columns.kinds) if kind in INERTIAL]
    worst = float(np.abs(rows[:, :, inertial] - columns).max())
    return {"compiled": ours / SAMPLES, "mj_inverse": theirs / SAMPLES, "difference": worst}


def differences(model: mujoco.MjModel, regressor: Regressor, moved: Motion) -> FloatArray:
    """Inertial columns by changing one parameter after the other, (n, nv, 10 bodies)."""
    data, columns = mujoco.MjData(model), []
    for body in regressor.columns.bodies:
        own = np.array([1.0, 0, 0, 0, 0.1, 0.1, 0.1, 0, 0, 0])
        base = inverse(model, data, body, own, moved)
        for unit in np.eye(10):
            changed = inverse(model, data, body, own + 0.01 * unit, moved)
            columns.append((changed - base) / 0.01)
    return np.stack(columns, axis=2)


def inverse(
    model: mujoco.MjModel, data: mujoco.MjData, body: int, parameters: FloatArray, moved: Motion
) -> FloatArray:
    """``mj_inverse`` with ten parameters of a body, (n, nv)."""
    kept = [np.array(getattr(model, name)[body]) for name in _FIELDS]
    mass, centre, tensor = central(parameters)
    moments, axes = np.linalg.eigh(tensor)
    axes[:, 0] *= np.sign(np.linalg.det(axes))
    quaternion = np.empty(4)
    mujoco.mju_mat2Quat(quaternion, axes.ravel())
    values = (mass, centre, quaternion, moments, 0, 0)
    for name, value in zip(_FIELDS, values, strict=True):
        getattr(model, name)[body] = value
    torque = np.empty((len(moved.qpos), model.nv))
    for row, q, v, a in zip(torque, *moved, strict=True):
        data.qpos[:], data.qvel[:], data.qacc[:] = q, v, a
        mujoco.mj_inverse(model, data)
        row[:] = data.qfrc_inverse
    for name, value in zip(_FIELDS, kept, strict=True):
        getattr(model, name)[body] = value
    return torque


_FIELDS = (
    "body_mass", "body_ipos", "body_iquat", "body_inertia", "body_sameframe", "body_simple",
)  # fmt: skip


def panda(path: Path) -> mujoco.MjModel:
    """The arm without its meshes, limits and contacts."""
    spec = mujoco.MjSpec.from_file(str(path))
    for geom in list(spec.geoms):
        spec.delete(geom)
    flags = mujoco.mjtDisableBit
    spec.option.disableflags |= int(flags.mjDSBL_LIMIT | flags.mjDSBL_CONTACT)
    for joint in spec.joints:
        joint.frictionloss = 0.5
    return spec.compile()


def simulated(model: mujoco.MjModel, duration: float = 30.0, rate: float = 500.0) -> Recording:
    """Positions and torques of a sum of sines, with offsets and coloured torque noise."""
    rng, times = np.random.default_rng(0), np.arange(0.0, duration, 1.0 / rate)
    moved = [np.zeros((len(times), model.nv)) for _ in range(3)]
    for k in range(1, 6):
        omega = 2.0 * np.pi * 0.1 * k
        size, phase = 0.4 * rng.normal(size=model.nv), rng.uniform(0.0, 2.0 * np.pi, model.nv)
        angle = omega * times[:, None] + phase
        moved[0] += size * np.sin(angle)
        moved[1] += size * omega * np.cos(angle)
        moved[2] -= size * omega**2 * np.sin(angle)
    regressor = Regressor(model, friction_velocity=FRICTION_VELOCITY)
    torque = regressor.rows(Motion(*moved)) @ regressor.columns.nominal
    noise, share = rng.standard_normal(torque.shape), 0.9
    for before, row in itertools.pairwise(noise):
        row[:] = share * before + np.sqrt(1.0 - share**2) * row
    offsets = np.linspace(-0.3, 0.3, model.nv)
    positions = moved[0] + 1e-5 * rng.standard_normal(torque.shape)
    return Recording(times, positions, torque + offsets + 0.1 * noise)


def motion(model: mujoco.MjModel, count: int) -> Motion:
    """Random states."""
    rng = np.random.default_rng(0)
    return Motion(*(rng.standard_normal((count, model.nv)) for _ in range(3)))


def timed(call: Callable[[], Any]) -> tuple[Any, float]:
    """What a call returns, and its CPU seconds."""
    begun = time.process_time()
    found = call()
    return found, time.process_time() - begun


def _example() -> Any:
    path = ROOT / "examples" / "tx40" / "identify.py"
    spec = importlib.util.spec_from_file_location("tx40_example", path)
    if spec is None or spec.loader is None:
        raise FileNotFoundError(path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


if __name__ == "__main__":
    main()
