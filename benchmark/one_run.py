# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""One fit by one library in this process; prints a JSON object.

    python -m benchmark.one_run LIBRARY PROBLEM [--panda PATH] [--patience SECONDS]

Simulating the data and importing are not counted; building parameters and sequences is.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import io
import json
import resource
import time
from pathlib import Path
from typing import Any

from benchmark.problems import PROBLEMS


def cpu_seconds() -> float:
    """User and system time of this process, its threads and its ended children."""
    return sum(
        usage.ru_utime + usage.ru_stime
        for usage in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    )


def peak_mebibytes() -> float:
    """Largest resident size of this process so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0


class Patience(Exception):  # noqa: N818  (no error: how a run is left early)
    """Ends a run that took long enough."""


class Counter:
    """A residual function that counts what it is asked and notes when which cost was reached.

    Attributes:
      evaluations: Residuals, one for each column.
      jacobians: Jacobians of all of the data.
      best: Where the lowest cost was.
      jacobian_cpu_s: CPU time of Jacobians, exact ones or residuals of many columns.
      reached: Cost, CPU s and wall s of every residual that was better than all before.
    """

    def __init__(self, function: Any, patience: float) -> None:
        """Start the clock.

        Args:
          function: The residual function.
          patience: CPU seconds after which it raises :class:`Patience`.
        """
        self._function = function
        self._patience = patience
        self._began = cpu_seconds(), time.perf_counter()
        self.evaluations = self.jacobians = 0
        self.best: Any = None
        self.jacobian_cpu_s = 0.0
        self.reached: list[tuple[float, float, float]] = []  # cost, CPU s, wall s
        if hasattr(function, "jacobian"):
            self.jacobian = self._exact_jacobian
        if hasattr(function, "trial"):
            self.trial = self._trial
        if hasattr(function, "part"):  # of its evaluations only the time counts
            self.part = function.part

    def __call__(self, x: Any, params: Any, **options: Any) -> Any:
        """Count one evaluation per column."""
        columns = 1 if x.ndim == 1 else x.shape[1]
        self.evaluations += columns
        began = cpu_seconds()
        if began - self._began[0] > self._patience:
            raise Patience
        result = self._function(x, params, **options)
        if columns > 1:
            self.jacobians += 1
            self.jacobian_cpu_s += cpu_seconds() - began
        else:
            self._note(x, result)
        return result

    def _note(self, x: Any, result: Any) -> None:
        cost = 0.5 * sum(float((part**2).sum()) for part in result[0])
        if not self.reached or cost < self.reached[-1][0]:
            cpu, wall = self._began
            spent = cpu_seconds() - cpu, time.perf_counter() - wall
            self.reached.append((cost, *spent))
            self.best = x.reshape(-1).copy()

    def _trial(self, x: Any, params: Any) -> Any:
        result = self._function.trial(x, params)
        if result is not None:
            self.evaluations += 1
            self._note(x, result)
        return result

    def _exact_jacobian(self, x: Any, params: Any) -> Any:
        began = cpu_seconds()
        result = self._function.jacobian(x, params)
        if result is not None:
            self.jacobians += 1
            self.jacobian_cpu_s += cpu_seconds() - began
        return result


def run(
    library: str, name: str, panda: Path | None, patience: float = float("inf")
) -> dict[str, Any]:
    """Fit, and say what it took; where patience ended [CPU s], until then."""
    began = cpu_seconds()
    sysid = importlib.import_module(library)
    importlib.import_module("scipy.optimize")  # one of the libraries loads it when it is needed
    for exported in dir(sysid):  # nor its own modules before they are asked for
        getattr(sysid, exported)
    if library == "sysid_ros.sysid":  # compiled once per installation and kept on disk
        importlib.import_module("sysid_ros.engine.derivatives.compilation").entry_points()
    imports = cpu_seconds() - began
    problem = PROBLEMS[name](sysid, panda)
    memory = peak_mebibytes()
    wall, cpu = time.perf_counter(), cpu_seconds()
    residual = Counter(sysid.build_residual_fn(models_sequences=problem.sequences), patience)
    ended = True
    with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(Patience):
        sysid.optimize(problem.params, residual, optimizer="mujoco", verbose=False)
        ended = False
    wall, cpu = time.perf_counter() - wall, cpu_seconds() - cpu
    return {
        "library": library,
        "cpu_s": cpu,
        "wall_s": wall,
        "imports_cpu_s": imports,
        "peak_mib": peak_mebibytes(),
        "peak_before_mib": memory,
        "ended_by_patience": ended,
        "jacobians": residual.jacobians,
        "cpu_s_per_jacobian": residual.jacobian_cpu_s / max(1, residual.jacobians),
        "evaluations": residual.evaluations,
        "steps": residual.evaluations * problem.steps,
        "reached": residual.reached,
        "x": residual.best.tolist(),
    }


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("library", choices=("sysid_ros.sysid", "mujoco.sysid"))
    parser.add_argument("problem", choices=tuple(PROBLEMS))
    parser.add_argument("--panda", type=Path)
    parser.add_argument("--patience", type=float, default=float("inf"))
    options = parser.parse_args()
    found = run(options.library, options.problem, options.panda, options.patience)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
