# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""What an estimate costs while a robot moves: a 7-joint arm at 500 Hz, ten estimates a second.

``python -m benchmark.live --panda FOLDER/panda_nohand.xml torque`` simulates 60 s of the arm with
measured torque and follows them as ``sysid_ros live`` does; ``forward`` does so with the arm under
its servos. 21 parameters are estimated: armature, damping and dry friction of each joint. Printed
are processor time per update, the age of the data in the estimate, how many intervals of every
tenth estimate hold the truth and, with ``--profile``, where the time goes. ``--payload`` weighs
what the arm holds besides.
"""

from __future__ import annotations

import argparse
import cProfile
import json
import pstats
import tempfile
import time
from pathlib import Path

import mujoco
import numpy as np

from benchmark.simulated_arm import BOUNDS, TRUE, write_arm
from benchmark.torque_arms import PANDA, write_bag
from sysid_ros.arrays import FloatArray
from sysid_ros.engine.inverse_dynamics import Motion, mujoco_torque, sharpen_friction
from sysid_ros.engine.moving_horizon import HorizonEstimate, HorizonSettings
from sysid_ros.experiment import SequenceConfig, load_experiment
from sysid_ros.live_estimation import PERIOD, LiveEstimator
from sysid_ros.recording.bags import open_recording
from sysid_ros.recording.messages import RawMessage

RATE = 500.0  # Hz
SEARCH_TIME = 0.05  # s of an update, as in the node
ENCODER, TORQUE = 2e-5, 0.1  # rad, N m: noise
JOINTS = [f"joint{i}" for i in range(1, 8)]


def main() -> None:
    """Write a recording, follow it, print figures."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("method", choices=("torque", "forward"))
    parser.add_argument("--panda", type=Path, required=True, help="MJCF of the arm without hand")
    parser.add_argument("--seconds", type=float, default=60.0, help="of motion (60)")
    parser.add_argument("--payload", action="store_true", help="estimate a payload, too")
    parser.add_argument("--seed", type=int, default=0, help="of the motion and the noise (0)")
    parser.add_argument("--profile", type=int, metavar="N", help="print the N costliest functions")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if asked.method == "torque":
            file = write_torque_arm(
                Path(folder), asked.panda, asked.seconds, asked.payload, asked.seed
            )
        else:
            file = write_arm(
                Path(folder), asked.panda, asked.seconds, every=1, finer=16, seed=asked.seed
            )
        profile = cProfile.Profile() if asked.profile else None
        print(json.dumps(followed(file, profile), indent=1))
        if profile is not None:
            pstats.Stats(profile).sort_stats("cumulative").print_stats(asked.profile)


def write_torque_arm(
    folder: Path, panda: Path, seconds: float, payload: bool, seed: int = 0
) -> Path:
    """Write ``arm.xml``, ``bag`` and ``experiment.yaml``, and return the last."""
    spec = mujoco.MjSpec.from_file(str(panda))
    for part in (*spec.geoms, *spec.meshes, *spec.actuators, *spec.keys):
        spec.delete(part)
    (folder / "arm.xml").write_text(spec.to_xml())
    recorded = torque_recording(panda, seconds, seed)
    write_bag(folder / "bag", JOINTS, recorded)
    lines = ["model: arm.xml", "sequences: [bag]", "signals:"]
    for name in JOINTS:
        for kind, field in (("qpos", "position"), ("effort", "effort")):
            lines.append(f'  - {{{kind}: {name}, topic: /joint_states, field: "{field}[{name}]"}}')
    lines += ["parameters:", '  - joint: "*"']
    lines += [
        f"    {name}: {{initial: 0.05, min: 0.0, max: {most}}}" for name, most in BOUNDS.items()
    ]
    lines += ["payload: {body: attachment}"] if payload else []
    lines += ["fit: {method: inverse_dynamics}", ""]
    experiment = folder / "experiment.yaml"
    experiment.write_text("\n".join(lines))
    return experiment


def torque_recording(
    panda: Path, seconds: float, seed: int
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Instants, noisy positions and noisy torque of a motion that shows every parameter."""
    rng, times = np.random.default_rng(seed), np.arange(0.0, seconds, 1.0 / RATE)
    home = np.array(PANDA.home)
    qpos, qvel, qacc = (np.zeros((len(times), len(home))) for _ in range(3))
    for k in range(1, 6):
        omega = 2.0 * np.pi * 0.1 * k
        size, phase = 0.25 * rng.normal(size=len(home)), rng.uniform(0.0, 2.0 * np.pi, len(home))
        angle = omega * times[:, None] + phase
        qpos += size * np.sin(angle)
        qvel += size * omega * np.cos(angle)
        qacc -= size * omega**2 * np.sin(angle)
    torque = mujoco_torque(true_arm(panda), Motion(qpos + home, qvel, qacc))
    noise = rng.normal(size=torque.shape)
    return times, qpos + home + ENCODER * rng.normal(size=qpos.shape), torque + TORQUE * noise


def true_arm(panda: Path) -> mujoco.MjModel:
    """The arm as it is; its dry friction is MuJoCo's at its sharpest."""
    spec = mujoco.MjSpec.from_file(str(panda))
    for part in (*spec.geoms, *spec.meshes, *spec.actuators, *spec.keys):
        spec.delete(part)
    for joint in spec.joints:
        joint.armature, joint.frictionloss = TRUE["armature"], TRUE["frictionloss"]
        joint.damping = np.array([TRUE["damping"], 0.0, 0.0])
    sharpen_friction(spec)
    return spec.compile()


def followed(file: Path, profile: cProfile.Profile | None = None) -> dict[str, object]:
    """Figures of one pass over the bag beside an experiment file."""
    experiment = load_experiment(file)
    costs, ages = [], []
    held: list[bool] = []
    latest: HorizonEstimate | None = None
    with open_recording(file.parent / "bag") as recording:
        settings = HorizonSettings(search_time=SEARCH_TIME)
        estimator = LiveEstimator(experiment, recording, SequenceConfig("bag"), settings)
        for messages in batches(list(recording.messages(estimator.topics))):
            if profile is not None:
                profile.enable()
            began = time.process_time()
            found = estimator.update(messages)
            costs.append(time.process_time() - began)
            if profile is not None:
                profile.disable()
            if found.estimate is not None:
                ages.append(1e-9 * (messages[-1].log_ns - found.stamp_ns))
                latest = found.estimate
                held += intervals_hold(latest) if len(ages) % 10 == 0 else []
    if latest is None:
        raise SystemExit("nothing was estimated; take more --seconds")
    usual = np.array(costs[len(costs) // 4 :])
    return {
        "updates": len(costs),
        "cpu_ms_median": round(1e3 * float(np.median(usual)), 1),
        "cpu_ms_mean": round(1e3 * float(np.mean(usual)), 1),
        "cpu_ms_most": round(1e3 * max(costs[5:]), 1),
        "cpu_ms_99": round(1e3 * float(np.quantile(usual, 0.99)), 1),
        "share_of_a_core": round(float(np.mean(usual)) / PERIOD, 3),
        "age_s_median": round(float(np.median(ages)), 3),
        "age_s_most": round(float(np.max(ages)), 3),
        "windows": latest.windows,
        "intervals": len(held),
        "of_which_hold": round(float(np.mean(held)), 3) if held else None,
        "parameters": {p.name: (p.value, p.standard_error) for p in latest.parameters},
    }


def intervals_hold(estimate: HorizonEstimate) -> list[bool]:
    """Whether each interval contains the value that the arm was simulated with."""
    known = [(TRUE.get(p.name.split("_")[-1]), p.interval()) for p in estimate.parameters]
    return [ends[0] <= true <= ends[1] for true, ends in known if true is not None and ends]


def batches(messages: list[RawMessage]) -> list[list[RawMessage]]:
    """Messages by the update that takes them."""
    found: list[list[RawMessage]] = [[]]
    until = messages[0].log_ns + round(1e9 * PERIOD)
    for message in messages:
        found[-1].append(message)
        if message.log_ns >= until:
            found.append([])
            until = message.log_ns + round(1e9 * PERIOD)
    return [one for one in found if one]


if __name__ == "__main__":
    main()
