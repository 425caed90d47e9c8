# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Identify a Staubli TX40 from its motor currents, and compare with what was published.

    python examples/tx40/identify.py path/to/tx40

The folder holds ``bags/exciting`` (/joint_states, 45 000 samples at 5 kHz), ``tx40.urdf`` and
``published_ep.csv``, the essential parameters of FIGAROH's authors. Motor 6 also turns with joint
5: a fixed tendon over both joints has the motor's armature A, damping and dry friction. The
publication puts A q6'' on joint 5 and A q5'' on joint 6, whereas a tendon adds A (q5'' + q6'') to
both; so its Ia5 is our joint's armature plus the tendon's, and likewise with fv5 and fv6.
"""

from __future__ import annotations

import argparse
import csv
import re
from dataclasses import dataclass
from pathlib import Path

import mujoco
import numpy as np
import numpy.typing as npt
from rosbags.highlevel import AnyReader

from sysid_ros.engine.inverse_dynamics import (
    Columns,
    Recording,
    Regressor,
    Settings,
    fit_inverse_dynamics,
    gather,
    jackknife,
    least_squares,
    residual_weights,
    torque_rmse,
)

FloatArray = npt.NDArray[np.float64]

KINDS = {"Ia": "armature", "fv": "damping", "fs": "frictionloss", "off": "offset"}
WRIST = {"Iam": "armature", "fvm": "damping", "fsm": "frictionloss"}
FRICTION_VELOCITY = 0.02  # rad/s, over which dry friction changes its sign; published: none
TRAINING = 0.7  # of the recording; the rest is for scoring


@dataclass(frozen=True)
class Published:
    """An essential parameter: combination, weighted least squares, standard deviation."""

    name: str
    value: float
    deviation: float


def read_spec(folder: Path) -> mujoco.MjSpec:
    """The arm with its coupled wrist."""
    spec = mujoco.MjSpec.from_file(str(folder / "tx40.urdf"))
    wrist = spec.add_tendon(name="wrist")
    wrist.wrap_joint("joint_5", 1.0)
    wrist.wrap_joint("joint_6", 1.0)
    return spec


def read_model(folder: Path) -> mujoco.MjModel:
    """The same, compiled."""
    return read_spec(folder).compile()


def read_recording(folder: Path) -> Recording:
    """Joint positions [rad] and torques [N m]."""
    times, positions, torques = [], [], []
    with AnyReader([folder / "bags" / "exciting"]) as reader:
        topics = [c for c in reader.connections if c.topic == "/joint_states"]
        for connection, _, raw in reader.messages(connections=topics):
            message = reader.deserialize(raw, connection.msgtype)
            stamp = message.header.stamp
            times.append(stamp.sec + 1e-9 * stamp.nanosec)
            positions.append(message.position)
            torques.append(message.effort)
    clock = np.array(times) - times[0]
    return Recording(clock, np.array(positions), np.array(torques), name="exciting")


def read_published(folder: Path) -> list[Published]:
    """The essential parameters by weighted least squares."""
    with (folder / "published_ep.csv").open() as file:
        rows = list(csv.reader(file))
    return [Published(r[0], float(r[3]), abs(float(r[3])) * float(r[4]) / 100.0) for r in rows]


def essential_basis(columns: Columns, published: list[Published]) -> FloatArray:
    """Our parameters per unit of each published one, (p, r), all others being grouped with it."""
    basis: FloatArray = np.zeros((len(columns), len(published)))
    for column, one in zip(basis.T, published, strict=True):
        symbol, joint = re.match(r"([A-Za-z]+)(\d)", one.name).groups()
        if symbol in WRIST:
            column[columns.indices([f"wrist.{WRIST[symbol]}"])] = 1.0
            if symbol != "fsm":
                both = [f"joint_{number}.{WRIST[symbol]}" for number in (5, 6)]
                column[columns.indices(both)] = -1.0
        elif symbol in KINDS:
            column[columns.indices([f"joint_{joint}.{KINDS[symbol]}"])] = 1.0
        else:
            column[columns.indices([f"link_{joint}.{symbol}"])] = 1.0
    return basis


def part(recording: Recording, first: float, last: float) -> Recording:
    """A share of a recording's time."""
    ends = recording.times[0] + (recording.times[-1] - recording.times[0]) * np.array([first, last])
    kept = (recording.times >= ends[0]) & (recording.times <= ends[1])
    return Recording(recording.times[kept], recording.qpos[kept], recording.torque[kept])


def fit_combinations(
    regressor: Regressor, recording: Recording, basis: FloatArray, settings: Settings
) -> tuple[FloatArray, FloatArray]:
    """Combinations y of theta = basis y and their standard errors, (r,) each.

    Weighted least squares as in textbooks, without constraints or prior.
    """
    (grams,) = gather(regressor, [recording], settings).grams.values()
    used = gains = np.ones(regressor.model.nv)
    for _ in range(4):  # of weights from residuals
        hessian, gradient = grams.normal(used, gains)
        values = least_squares(basis.T @ hessian @ basis, basis.T @ gradient)
        weights, used = (
            used,
            residual_weights(grams.squares(basis @ values), grams.counts, grams.torque_squares()),
        )
    pairs = [grams.normal(weights, gains, block) for block in range(len(grams.counts))]
    uncertainty = jackknife(
        values,
        np.stack([basis.T @ hessian @ basis for hessian, _ in pairs]),
        np.stack([basis.T @ gradient for _, gradient in pairs]),
        np.zeros((len(values), len(values))),
        np.zeros(len(values), dtype=np.bool_),
    )
    return values, uncertainty.standard_errors


def compare_essential(
    model: mujoco.MjModel, recording: Recording, published: list[Published]
) -> list[tuple[str, float, float, float, float]]:
    """Name, our value, its standard error, the published value, and the distance of both.

    Distances are in combined standard deviations.
    """
    regressor = Regressor(model, friction_velocity=FRICTION_VELOCITY)
    basis = essential_basis(regressor.columns, published)
    settings = Settings(friction_velocity=FRICTION_VELOCITY, reversals_apart=False)
    values, errors = fit_combinations(regressor, recording, basis, settings)
    return [
        (p.name, v, e, p.value, float((v - p.value) / np.hypot(e, p.deviation)))
        for p, v, e in zip(published, values.tolist(), errors.tolist(), strict=True)
    ]


def score(
    model: mujoco.MjModel, recording: Recording, friction_velocity: float | None = FRICTION_VELOCITY
) -> dict[str, FloatArray]:
    """Torque RMSE on the last 30 % of fits to the first 70 %, (nv,) N m each."""
    settings = Settings(friction_velocity=friction_velocity)
    regressor = Regressor(model, friction_velocity=friction_velocity, sharp_friction=True)
    training, test = part(recording, 0.0, TRAINING), part(recording, TRAINING, 1.0)
    fit = fit_inverse_dynamics(model, [training], settings=settings)
    base: FloatArray = np.zeros(len(fit.x))
    base[fit.base.kept] = fit.base.values
    thetas = {
        "model": regressor.columns.nominal,
        "base parameters": fit.free.theta(base, ""),
        "consistent": fit.theta(),
    }
    return {
        name: torque_rmse(regressor, [test], fit.filters, theta) for name, theta in thetas.items()
    }


def main() -> None:
    """Print both comparisons."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=Path, help="with bags/, tx40.urdf, published_ep.csv")
    parser.add_argument("--model", type=Path, help="write the arm as MJCF there, and no more")
    asked = parser.parse_args()
    folder = asked.folder
    if asked.model is not None:
        spec = read_spec(folder)
        spec.compile()
        asked.model.write_text(spec.to_xml())
        return
    model, recording = read_model(folder), read_recording(folder)
    rows = compare_essential(model, recording, read_published(folder))
    for name, value, error, target, distance in rows:
        print(
            f"{name[:34]:34s} {value:9.4f} +- {error:.4f}  published {target:9.4f} {distance:6.2f}"
        )
    print(f"{sum(abs(row[-1]) <= 2.0 for row in rows)} of {len(rows)} within two deviations")
    for label, velocity in (("tanh", FRICTION_VELOCITY), ("MuJoCo's", None)):
        for name, rmse in score(model, recording, velocity).items():
            whole = float(np.sqrt(np.mean(rmse**2)))
            print(f"friction {label:9s} {name:16s} torque RMSE {whole:.3f} N m", np.round(rmse, 3))


if __name__ == "__main__":
    main()
