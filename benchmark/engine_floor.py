# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""What the windowed engine adds to bare rollouts; prints a JSON object.

    python -m benchmark.engine_floor

A residual and its finite-difference Jacobian against ``mujoco.rollout`` of the same models, starts
and controls, each counted in CPU seconds.
"""

from __future__ import annotations

import json
import time
from typing import Any

import mujoco
import mujoco.rollout
import numpy as np

from benchmark.problems import sequences16
from sysid_ros import sysid
from sysid_ros.engine.least_squares.losses import loss_named
from sysid_ros.engine.problem.windowed_problem import WindowedProblem
from sysid_ros.engine.simulation.rollout_pool import RolloutPool
from sysid_ros.engine.simulation.simulation import Simulation
from sysid_ros.engine.windows.model_group import model_group


class Recorder(RolloutPool):
    """Keeps what it was asked to simulate."""

    jobs: list[Simulation]

    def run(self, jobs: Any) -> Any:
        """Remember the jobs and run them."""
        self.jobs = [*getattr(self, "jobs", []), *jobs]
        return super().run(jobs)


def measure(repetitions: int = 5) -> dict[str, Any]:
    """CPU seconds of both, and their ratio."""
    problem = sequences16(sysid)
    group = model_group(
        problem.sequences[0],
        problem.params,
        window_length=None,
        estimate_starts=False,
        velocity_filter=30.0,
    )
    noise = {signal.name: 1e-2 for signal in group.windows[0].sequence.signals}
    engine, bare, ratios = [], [], []
    for _ in range(repetitions):
        with Recorder(1) as rollouts:
            windowed = WindowedProblem(
                [group], problem.params, rollouts, loss=loss_named("linear"), noise=noise,
                engine="reference",
            )  # fmt: skip
            began = time.process_time()
            windowed.linearize(windowed.initial_point())
            engine.append(time.process_time() - began)
            bare.append(_bare(rollouts.jobs))
        ratios.append(engine[-1] / bare[-1])
    return {"engine_cpu_s": engine, "bare_cpu_s": bare, "cpu_ratio": float(np.median(ratios))}


def _bare(jobs: list[Simulation]) -> float:
    """CPU seconds of the rollouts alone, in calls of equal length."""
    by_length: dict[int, list[Simulation]] = {}
    for job in jobs:
        by_length.setdefault(len(job.controls.values), []).append(job)
    data = mujoco.MjData(jobs[0].model)
    began = time.process_time()
    for same in by_length.values():
        mujoco.rollout.rollout(
            [job.model for job in same],
            data,
            np.stack([job.start for job in same]),
            np.stack([job.controls.values for job in same]),
        )
    return time.process_time() - began


if __name__ == "__main__":
    print(json.dumps(measure()))
