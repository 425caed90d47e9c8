# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""``python -m benchmark.jobs``: whole commands on real and simulated robots.

Every command runs in a process of its own; CPU and wall seconds are those from its start to its
exit, memory is its peak. One command that is not counted goes first, since in a fresh environment
it takes some 5 CPU s more to make bytecode that is kept. The limit is what no program can do
without: reading the recordings once, and one bare ``mujoco.rollout`` of all windows' steps for
every evaluation. A job whose data is not
below ``--data`` is left out, which a line says.

Writes ``benchmark/results/jobs.json``.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import mujoco
import mujoco.rollout
import numpy as np

from benchmark.simulated_arm import write_arm
from sysid_ros.dataset import FitInputs
from sysid_ros.engine.simulation import simulation_of
from sysid_ros.engine.windows import model_group
from sysid_ros.experiment import load_experiment

ROOT = Path(__file__).parent.parent
RESULTS = Path(__file__).parent / "results"
COMMANDS = ("init", "check", "fit", "compare", "evaluate", "report")
COUNTED = """
import json, os, sys, time
began = time.monotonic()
process = os.posix_spawn(
    sys.argv[1], sys.argv[1:], os.environ,
    file_actions=[(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)],
)
_, status, used = os.wait4(process, 0)
print(json.dumps({
    "status": os.waitstatus_to_exitcode(status),
    "cpu": used.ru_utime + used.ru_stime,
    "wall": time.monotonic() - began,
    "memory": used.ru_maxrss / 1024,
}))
"""


@dataclass(frozen=True)
class Robot:
    """A robot with its recordings and what is fitted to it.

    Attributes:
      experiment: The experiment file; ``None`` where there is none, and only ``init`` runs.
      data: Where recordings and models are found.
      model: Its model.
      bag: One of its recordings, for ``init``.
      models: Structures for ``compare``.
    """

    experiment: Path | None
    data: Path
    model: Path
    bag: Path
    models: str = ""


@dataclass(frozen=True)
class Cost:
    """The resources that a command took, from the start of its process to its exit."""

    status: int
    cpu: float  # s, user and system, with the processes that it started
    wall: float  # s
    memory: float  # MiB, the largest process's peak


@dataclass(frozen=True)
class Limit:
    """The work that cannot be left out, in CPU seconds."""

    reading: float
    evaluation: float  # bare rollouts of all windows
    steps: int


def robots(data: Path, folder: Path) -> dict[str, Robot]:
    """The jobs' robots whose data is there; a line for each that is not."""
    pendulum, servo, go2 = (data / name for name in ("double_pendulum", "servo", "go2"))
    examples = ROOT / "examples"
    found = {
        "double pendulum": Robot(
            examples / "double_pendulum/experiment.yaml", pendulum,
            examples / "double_pendulum/double_pendulum.xml", pendulum / "bags/trajectory_00",
        ),
        "servo": Robot(
            examples / "servo/experiment.yaml", servo, servo / "robot.xml",
            servo / "bags/000_chirp", "m1,m2",
        ),
        "quadruped": Robot(
            examples / "go2/experiment.yaml", go2, go2 / "go2_hanging.xml", go2 / "bags/hanging"
        ),
    }  # fmt: skip
    panda = data / "models/franka_emika_panda/panda_nohand.xml"
    if panda.is_file():
        experiment = write_arm(folder, panda)
        found["arm of 7 joints"] = Robot(experiment, folder, folder / "arm.xml", folder / "bag")
    else:
        print(f"left out: arm of 7 joints, because {panda} is not there")
    for name in [name for name, robot in found.items() if not robot.bag.exists()]:
        print(f"left out: {name}, because {found.pop(name).bag} is not there")
    return found


def arguments(command: str, robot: Robot, output: Path) -> list[str] | None:
    """The command line of a job; ``None`` where there is no such job."""
    if command == "init":
        file = str(output / "proposed.yaml")
        return ["init", "--model", str(robot.model), "--bag", str(robot.bag), "--output", file]
    if robot.experiment is None or not robot.experiment.is_file():
        return None
    common = [str(robot.experiment), "--data", str(robot.data)]
    result = _newest(output)
    if command == "check":
        return ["check", *common]
    if command == "fit":
        return ["fit", *common, "--output", str(output), "--quiet"]
    if command == "compare" and robot.models:
        folder = str(output / "compared")
        return ["compare", *common, "--models", robot.models, "--output", folder, "--quiet"]
    if command == "evaluate" and result is not None:
        return ["evaluate", *common, "--parameters", str(result / "parameters.yaml")]
    if command == "report" and result is not None:
        return ["report", str(result), "--output", str(output / "report.html")]
    return None


def measured(command: Sequence[str]) -> Cost:
    """Run ``python -m sysid_ros`` with arguments, its bytecode kept as usual, and count.

    A process begins with the peak of the one that started it, so a small one stands between.
    """
    kept = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    told = subprocess.run(
        [sys.executable, "-I", "-S", "-c", COUNTED, sys.executable, "-m", "sysid_ros", *command],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**kept, "PYTHONPATH": str(ROOT)},
        check=True,
        text=True,
    )
    return Cost(**json.loads(told.stdout))


def limit_of(experiment: Path, data: Path) -> Limit:
    """Measure what an experiment's fit cannot do without."""
    began = _cpu()
    inputs = FitInputs.read(load_experiment(experiment), data)
    reading = _cpu() - began
    evaluation, steps = 0.0, 0
    for sequences in inputs.dataset.training:
        group = model_group(
            sequences,
            inputs.params,
            window_length=inputs.settings.window_length,
            estimate_starts=False,
            velocity_filter=inputs.settings.velocity_filter,
        )
        candidate = group.builder.build(inputs.params.as_vector())
        data_ = mujoco.MjData(candidate.model)
        for batch in group.batches:
            job = simulation_of(batch, candidate, batch.spread)
            controls = np.split(job.controls, np.cumsum(job.steps)[:-1])
            for length in np.unique(job.steps):
                own = np.flatnonzero(job.steps == length)
                stacked = np.stack([controls[k] for k in own])
                began = _cpu()
                mujoco.rollout.rollout(candidate.model, data_, job.starts[own], stacked)
                evaluation += _cpu() - began
            steps += int(job.steps.sum())
    return Limit(reading, evaluation, steps)


def main() -> int:
    """Run all jobs, print a table, write the file."""
    options = _options()
    RESULTS.mkdir(exist_ok=True)
    rows: list[dict[str, Any]] = []
    print(f"{'robot':18s}{'command':10s}{'CPU, s':>8s}{'wall, s':>9s}{'MiB':>7s}{'of limit':>10s}")
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "arm"
        folder.mkdir()
        found = robots(options.data.resolve(), folder)
        for robot in [*found.values()][:1]:
            measured(arguments("init", robot, Path(scratch)) or ())
        for name, robot in found.items():
            if options.robot and name not in options.robot:
                continue
            output = Path(scratch) / name.replace(" ", "_")
            output.mkdir()
            for command in options.command or COMMANDS:
                line = arguments(command, robot, output)
                if line is not None:
                    rows.append({"robot": name, "command": command, **_job(line, robot, output)})
                    print(_row(rows[-1]), flush=True)
    load = os.getloadavg()
    document = {"jobs": rows, "cores": len(os.sched_getaffinity(0)), "load_at_end": load}
    (RESULTS / "jobs.json").write_text(json.dumps(document, indent=1))
    print(f"load at the end: {load[0]:.1f} on {document['cores']} cores")
    return 0


def _job(line: list[str], robot: Robot, output: Path) -> dict[str, Any]:
    """One command's cost, and its ratio to the limit of a fit."""
    cost = asdict(measured(line))
    result = _newest(output)
    if line[0] != "fit" or cost["status"] or result is None or robot.experiment is None:
        return cost
    limit = limit_of(robot.experiment, robot.data)
    evaluations = json.loads((result / "result.json").read_text())["evaluations"]
    least = limit.reading + evaluations * limit.evaluation
    return {**cost, **asdict(limit), "evaluations": evaluations, "of_limit": cost["cpu"] / least}


def _newest(output: Path) -> Path | None:
    """The latest result folder."""
    found = sorted(output.glob("*/result.json"))
    return found[-1].parent if found else None


def _row(row: dict[str, Any]) -> str:
    ratio = f"{row['of_limit']:10.1f}" if "of_limit" in row else ""
    failed = f"  status {row['status']}" if row["status"] else ""
    return (
        f"{row['robot']:18s}{row['command']:10s}{row['cpu']:8.1f}{row['wall']:9.1f}"
        f"{row['memory']:7.0f}{ratio}{failed}"
    )


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    shared = ROOT.parent / "shared/data"
    parser.add_argument("--data", type=Path, default=shared, help="folder with the robots' data")
    parser.add_argument("--robot", action="append", help="this one only; may be repeated")
    parser.add_argument("--command", action="append", choices=COMMANDS, help="likewise")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
