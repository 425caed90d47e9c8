# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Simulated torque-sensed arms with what real ones have: ``init``, ``fit``, and the written model.

    python -m benchmark.torque_arms --data FOLDER_OF_MODELS [NAME ...]

Every arm has Coulomb, viscous and Stribeck friction that differs by direction, depends on load and
falls as it warms up, and bends before it slides; offsets, ripple, coloured noise, late torque,
encoders of some bits, and signs that are wrong. It moves fast and, for a third of the time, slowly
from pose to pose. What ``init`` proposes is fitted, and ``mj_inverse`` of ``model.xml`` predicts
another recording of the warm arm, beside the model as it was and least squares without constraints.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import numpy.typing as npt
import scipy
from rosbags.rosbag2 import StoragePlugin, Writer
from rosbags.typesys import Stores, get_typestore

from sysid_ros.cli import main as command
from sysid_ros.engine.inverse_dynamics import Motion, Regressor, mujoco_torque

FloatArray = npt.NDArray[np.float64]
Recorded = tuple[FloatArray, FloatArray, FloatArray]  # s, rad, N m

START_NS = 1_700_000_000_000_000_000
CUTOFF = 10.0  # Hz, of scores
FINE = 1000.0  # Hz, of simulations at the least
HARMONICS, BASE = 5, 0.1  # of the fast part, Hz
BENDING = 0.0015  # rad
FITTED = 0.8  # of the recording; init holds out the rest
KINDS = ("armature", "damping", "frictionloss", "offset")  # besides inertia, of least squares


@dataclass(frozen=True)
class Arm:
    """One recording to make; torques in N m, friction by joint.

    Attributes:
      model: Of the nominal robot, below the folder of models.
      home: rad, about which it moves.
      dry: Coulomb friction.
      viscous: N m s/rad.
      armature: kg m^2.
      rate: Hz.
      noise: Of torque, on the loudest joint.
      late: Samples by which torque is stamped late.
      bits: Of encoders.
      factors: By joint number, of torque as recorded.
    """

    model: str
    home: tuple[float, ...]
    dry: tuple[float, ...]
    viscous: tuple[float, ...]
    armature: tuple[float, ...]
    rate: float = 500.0
    noise: float = 0.1
    late: int = 2
    bits: int = 18
    factors: Mapping[int, float] = field(default_factory=dict)


PANDA = Arm(
    "franka_emika_panda/panda_nohand.xml", (0.0, 0.0, 0.0, -1.57, 0.0, 1.57, 0.0),
    (0.8, 0.9, 0.7, 0.7, 0.5, 0.4, 0.4), (1.0, 1.1, 0.9, 1.0, 0.6, 0.5, 0.4),
    (0.6, 0.6, 0.5, 0.5, 0.2, 0.2, 0.2), late=1, bits=20,
)  # fmt: skip
UR5E = Arm(
    "plain/universal_robots_ur5e/robot.xml", (0.0, -1.57, 1.57, -1.57, -1.57, 0.0),
    (6.0, 7.0, 5.0, 1.2, 1.0, 0.9), (7.0, 8.0, 5.0, 1.0, 0.9, 0.8),
    (1.2, 1.2, 1.0, 0.25, 0.25, 0.2), noise=0.6, bits=19,
)  # fmt: skip
ARMS = {
    "panda 1 kHz": replace(PANDA, rate=1000.0, noise=0.05),
    "panda 100 Hz": replace(PANDA, rate=100.0),
    "panda, signs": replace(PANDA, factors={1: -1.0, 3: -1.0, 4: -1.0}),
    "ur5e 125 Hz": replace(UR5E, rate=125.0),
    "ur5e 500 Hz": replace(UR5E, late=3),
    "ur5e, all signs": replace(UR5E, factors=dict.fromkeys(range(6), -1.0)),
    "ur5e, amperes": replace(UR5E, factors=dict(enumerate([1 / 13] * 3 + [1 / 9] * 3))),
}


def main() -> None:
    """Print torque errors, N m, on a recording that was not fitted."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, required=True, help="folder of the robots' models")
    parser.add_argument("names", nargs="*", help=f"of {', '.join(ARMS)}; all by default")
    asked = parser.parse_args()
    for name in asked.names or ARMS:
        with tempfile.TemporaryDirectory() as folder:
            found = measured(ARMS[name], asked.data / ARMS[name].model, Path(folder))
        print(name, json.dumps(found), flush=True)


def measured(arm: Arm, model: Path, folder: Path) -> dict[str, Any]:
    """Torque RMSE [N m] of the model as it was, least squares and the written model; verdict."""
    training, test = recording(arm, model, 1, 0.0), recording(arm, model, 2, 60.0)
    names = [joint.name for joint in mujoco.MjSpec.from_file(str(model)).joints]
    write_bag(folder / "bag", names, training)
    experiment, results = folder / "experiment.yaml", folder / "results"
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        command(["init", "--model", str(model), "--bag", str(folder / "bag"),
                 "--output", str(experiment)])  # fmt: skip
        command(["fit", str(experiment), "--output", str(results), "--quiet"])
    (result,) = results.glob("*/result.json")
    moved, torque = smoothed(test)
    # What init repairs is repaired in what it is compared with, too.
    signs = np.array([np.sign(arm.factors.get(j, 1.0)) for j in range(len(names))])
    torque = torque * signs
    written = mujoco.MjModel.from_xml_path(str(result.with_name("model.xml")))
    plain, used = bare(model), round(FITTED * len(training[0]))
    fitted = (training[0][:used], training[1][:used], training[2][:used])
    return {
        "model": rms(torque - mujoco_torque(plain, moved)),
        "least squares": rms(torque - predicted(plain, fitted, moved, signs)),
        "written": rms(torque - mujoco_torque(written, moved)),
        "verdict": json.loads(result.read_text())["verdict"],
    }


def bare(path: Path) -> mujoco.MjModel:
    """The nominal robot without geometry and actuators."""
    spec = mujoco.MjSpec.from_file(str(path))
    for part in (*spec.geoms, *spec.actuators, *spec.keys):
        spec.delete(part)
    return spec.compile()


def true_model(arm: Arm, path: Path) -> mujoco.MjModel:
    """Other masses, centres of mass and rotors than the nominal robot's; no friction."""
    model, rng = bare(path), np.random.default_rng(100)
    for body in range(1, model.nbody):
        factor = 1.0 + 0.2 * rng.uniform(-1.0, 1.0)
        model.body_mass[body] *= factor
        model.body_inertia[body] *= factor
        model.body_ipos[body] += 0.012 * rng.normal(size=3)
    model.dof_armature[:] = arm.armature
    model.dof_damping[:] = model.dof_frictionloss[:] = 0.0
    return model


def recording(arm: Arm, path: Path, seed: int, warm: float) -> Recorded:
    """What is recorded of an arm that has been moving for ``warm`` s."""
    rng, every = np.random.default_rng(seed), max(1, round(FINE / arm.rate))
    times = np.arange(0.0, 45.0 if seed == 1 else 20.0, 1.0 / (arm.rate * every))
    step, qpos = times[1], path_of(arm, times, rng)
    qvel = np.gradient(qpos, step, axis=0)
    motion = Motion(qpos, qvel, np.gradient(qvel, step, axis=0))
    torque = mujoco_torque(true_model(arm, path), motion)
    torque += friction(arm, times, qvel, torque, warm)
    torque += 0.3 * np.random.default_rng(9).uniform(-1.0, 1.0, qpos.shape[1])
    share = np.array(arm.dry) / max(arm.dry)
    torque += 0.05 * share * np.sin(100.0 * qpos)
    keep = np.exp(-step / 0.01)
    white = rng.standard_normal(qpos.shape) * np.sqrt(1.0 - keep**2)
    torque += arm.noise * share * scipy.signal.lfilter([1.0], [1.0, -keep], white, axis=0)
    late = arm.late * every
    torque = np.vstack([np.repeat(torque[:1], late, axis=0), torque[:-late]])
    torque *= [arm.factors.get(j, 1.0) for j in range(qpos.shape[1])]
    quantum = 2.0 * np.pi / 2**arm.bits
    return times[::every], (np.round(qpos / quantum) * quantum)[::every], torque[::every]


def path_of(arm: Arm, times: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Sums of sines, then slow moves from pose to pose with rests; starts and ends at rest."""
    home, n = np.array(arm.home), len(arm.home)
    fast = 2.0 / 3.0 * times[-1]
    found: FloatArray = np.zeros((len(times), n))
    for k in range(1, HARMONICS + 1):
        angle = 2.0 * np.pi * BASE * k * times[:, None] + rng.uniform(0.0, 2.0 * np.pi, n)
        found += rng.normal(size=n) / np.sqrt(k) * np.sin(angle)
    speed = np.abs(np.gradient(found, times[1], axis=0)).max(axis=0)
    found *= np.minimum(0.7 / np.abs(found).max(axis=0), 1.2 / speed)
    found *= eased(np.minimum(times, fast - times) / 1.5)[:, None]
    pose: FloatArray = np.zeros(n)
    for begin in np.arange(fast, times[-1], 4.0):
        target = rng.uniform(-0.6, 0.6, n)
        found += eased((times - begin) / 3.5)[:, None] * (target - pose)
        pose = target
    return home + found


def eased(share: FloatArray) -> FloatArray:
    """From 0 to 1 with velocity and acceleration zero at both ends."""
    x = np.clip(share, 0.0, 1.0)
    return np.asarray(x**3 * (10.0 - 15.0 * x + 6.0 * x**2))


def friction(
    arm: Arm, times: FloatArray, qvel: FloatArray, load: FloatArray, warm: float
) -> FloatArray:
    """LuGre friction without its damping: it bends by ``BENDING`` before it slides."""
    rng, n = np.random.default_rng(7), qvel.shape[1]
    dry, viscous = np.array(arm.dry), np.array(arm.viscous)
    up, slow = 1.0 + 0.1 * rng.uniform(-1.0, 1.0, n), rng.uniform(0.03, 0.09, n)
    bent, found = np.zeros(n), np.zeros_like(qvel)
    for i, v in enumerate(qvel):
        heat = 1.0 + 0.15 * np.exp(-(times[i] + warm) / 40.0)
        side = heat * np.where(v > 0.0, up, 2.0 - up)
        most = side * (dry * (1.0 + 0.3 * np.exp(-((np.abs(v) / slow) ** 1.3))))
        most += side * 0.04 * np.abs(load[i])
        end = np.sign(v) * most
        ease = np.exp(-np.abs(v) * dry / BENDING / most * times[1])
        bent = np.where(v != 0.0, end + (bent - end) * ease, bent)
        found[i] = bent + side * viscous * v
    return found


def write_bag(path: Path, names: list[str], recorded: Recorded) -> None:
    """/joint_states with positions and efforts."""
    store = get_typestore(Stores.LATEST)
    types: Any = store.types
    kind = "sensor_msgs/msg/JointState"
    with Writer(path, version=9, storage_plugin=StoragePlugin.MCAP) as writer:
        topic = writer.add_connection("/joint_states", kind, typestore=store)
        for time, qpos, torque in zip(*recorded, strict=True):
            stamp = START_NS + round(1e9 * time)
            own = types["builtin_interfaces/msg/Time"](stamp // 10**9, stamp % 10**9)
            header = types["std_msgs/msg/Header"](own, "")
            message = types[kind](header, names, qpos, np.zeros(0), torque)
            writer.write(topic, stamp, store.serialize_cdr(message, kind))


def smoothed(recorded: Recorded) -> tuple[Motion, FloatArray]:
    """Motion and torque behind one zero-phase low-pass, at about 200 Hz, without the ends."""
    times, qpos, torque = recorded
    step = times[1] - times[0]
    b, a = scipy.signal.butter(4, 2.0 * CUTOFF * step)
    smooth = scipy.signal.filtfilt(b, a, qpos, axis=0)
    qvel = np.gradient(smooth, step, axis=0)
    ends, every = round(0.5 / step), max(1, round(0.005 / step))
    kept = slice(ends, -ends, every)
    parts = (smooth, qvel, np.gradient(qvel, step, axis=0))
    whole = scipy.signal.filtfilt(b, a, torque, axis=0)
    return Motion(*(part[kept] for part in parts)), whole[kept]


def predicted(
    model: mujoco.MjModel, training: Recorded, moved: Motion, signs: FloatArray
) -> FloatArray:
    """Torque by least squares of all columns, each joint weighted by its residual."""
    regressor = Regressor(model, kinds=KINDS, friction_velocity=0.01)
    motion, torque = smoothed(training)
    rows, torque = regressor.rows(motion), torque * signs
    weights: FloatArray = np.ones(model.nv)
    for _ in range(3):
        matrix = (rows * weights[:, None]).reshape(-1, rows.shape[2])
        size = np.maximum(np.linalg.norm(matrix, axis=0), 1e-12)
        theta = np.linalg.lstsq(matrix / size, (torque * weights).ravel(), rcond=1e-9)[0] / size
        weights = 1.0 / np.maximum((torque - rows @ theta).std(axis=0), 1e-3)
    return np.asarray(regressor.rows(moved) @ theta)


def rms(values: FloatArray) -> float:
    """Root mean square, of four digits."""
    return float(f"{np.sqrt(np.mean(values**2)):.4g}")


if __name__ == "__main__":
    main()
