# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""``make benchmark``: both libraries on the same problems, alternating, a process each.

Writes ``benchmark/results/NAME.json``: ``problems: {name: {cpu_ratio, wall_ratio, memory_ratio,
cpu_ratio_to_common_cost, cpu_ratio_per_jacobian, cost, cost_excess, parameter_difference, runs}}``;
a ratio is the reference's figure over ours. ``cpu_ratio`` and ``wall_ratio`` are of whole fits and
mean something where ``cost_excess``, by how much each ended above the better of the two, is below
1e-6; ``cpu_ratio_to_common_cost`` counts until the first evaluation with a cost that both reach,
and ``cpu_ratio_per_jacobian`` the Jacobians alone.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from benchmark.problems import PROBLEMS

OURS, REFERENCE = "sysid_ros.sysid", "mujoco.sysid"
TARGETS = {
    "arm": 4.0, "panda21": 20.0, "panda41": 60.0, "panda91": 60.0, "contacts": 10.0,
    "sequences16": 10.0, "windows300": 20.0, "engine_floor": 1.15,
}  # fmt: skip
TOLERANCE = 1e-6
_RATIOS = (
    "cpu_ratio", "wall_ratio", "memory_ratio", "cpu_ratio_to_common_cost", "cpu_ratio_per_jacobian",
)  # fmt: skip
_TITLES = (
    ("problem", 12), ("  target", 8), ("     cpu", 8), ("    wall", 8), ("  memory", 8),
    ("  common", 8), ("jacobian", 8),
)  # fmt: skip
QUICK = ("arm", "engine_floor")
RESULTS = Path(__file__).parent / "results"


def main() -> int:
    """Run, print a table, write the file."""
    options = _options()
    if find_spec("mujoco.sysid") is None or find_spec("absl") is None:
        print("the reference is missing: pip install 'mujoco[sysid]'", file=sys.stderr)
        return 1
    names = options.problem or (QUICK if options.quick else tuple(TARGETS))
    if options.panda is None:
        skipped = [name for name in names if name.startswith("panda")]
        names = tuple(name for name in names if name not in skipped)
        if skipped:
            print(f"skipped without --panda PATH: {', '.join(skipped)}")
    compilation = _compile()
    problems = {}
    print("".join(f"{title:{size}s}" for title, size in _TITLES))
    for name in names:
        found = _floor() if name == "engine_floor" else _compared(name, options)
        problems[name] = found
        print(_row(name, found), flush=True)
    RESULTS.mkdir(exist_ok=True)
    file = RESULTS / f"{options.name}.json"
    document = {
        "problems": problems,
        "compilation_s": compilation,
        "machine": {"cores": os.cpu_count(), "processor": platform.machine()},
        "python": platform.python_version(),
    }
    file.write_text(json.dumps(document, indent=1))
    print(file)
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--panda", type=Path, help="panda_nohand.xml of the MuJoCo menagerie")
    parser.add_argument("--problem", action="append", choices=tuple(TARGETS))
    parser.add_argument("--quick", action="store_true", help="what takes less than a minute")
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument(
        "--patience", type=float, default=float("inf"),
        help="CPU seconds after which a run ends: ratios of whole fits are then at least so large",
    )  # fmt: skip
    parser.add_argument("--name", default="latest", help="of the file with the results")
    return parser.parse_args()


def _compile() -> float:
    """Seconds of the one-off compilation, or of finding it on disk."""
    began = time.perf_counter()
    subprocess.run([sys.executable, "-m", "sysid_ros.engine.derivatives"], check=True)
    return time.perf_counter() - began


def _compared(name: str, options: argparse.Namespace) -> dict[str, Any]:
    repetitions = 1 if options.quick else options.repetitions
    runs: dict[str, list[dict[str, Any]]] = {OURS: [], REFERENCE: []}
    for _ in range(repetitions):
        for library in (OURS, REFERENCE):
            runs[library].append(_run(library, name, options))
    pairs = list(zip(runs[OURS], runs[REFERENCE], strict=True))
    costs = _judge(name, [run["x"] for pair in pairs[:1] for run in pair], options.panda)
    x, y = (np.array(run["x"]) for run in pairs[0])
    cpu = [theirs["cpu_s"] / ours["cpu_s"] for ours, theirs in pairs]
    common = [_cpu_until_common_cost(ours, theirs) for ours, theirs in pairs]
    return {
        "cpu_ratio": statistics.median(cpu),
        "cpu_spread": [min(cpu), max(cpu)],
        "cpu_ratio_to_common_cost": statistics.median(b / a for a, b in common),
        "cpu_ratio_per_jacobian": statistics.median(
            theirs["cpu_s_per_jacobian"] / ours["cpu_s_per_jacobian"] for ours, theirs in pairs
        ),
        "wall_ratio": statistics.median(b["wall_s"] / a["wall_s"] for a, b in pairs),
        "memory_ratio": statistics.median(b["peak_mib"] / a["peak_mib"] for a, b in pairs),
        "cost": dict(zip(runs, costs, strict=True)),
        "cost_excess": dict(zip(runs, (cost / min(costs) - 1.0 for cost in costs), strict=True)),
        "parameter_difference": float(np.max(np.abs(x - y) / np.maximum(np.abs(y), 1e-3))),
        "runs": [run for pair in pairs for run in pair],
    }


def _cpu_until_common_cost(ours: dict[str, Any], theirs: dict[str, Any]) -> tuple[float, float]:
    """CPU seconds of both until the first evaluation with a cost that both reach.

    Raises:
      SystemExit: The two do not minimize the same function.
    """
    starts = [run["reached"][0][0] for run in (ours, theirs)]
    if not np.isclose(*starts, rtol=TOLERANCE):
        raise SystemExit(f"the costs at the start differ: {starts}")
    common = max(run["reached"][-1][0] for run in (ours, theirs)) * (1.0 + TOLERANCE)
    first, second = (
        next(cpu for cost, cpu, _ in run["reached"] if cost <= common) for run in (ours, theirs)
    )
    return first, second


def _run(library: str, name: str, options: argparse.Namespace) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmark.one_run", library, name]
    command += ["--patience", str(options.patience)]
    command += [] if options.panda is None else ["--panda", str(options.panda)]
    ended = subprocess.run(command, check=True, capture_output=True, text=True)
    result: dict[str, Any] = json.loads(ended.stdout.splitlines()[-1])
    return result


def _judge(name: str, points: Sequence[Sequence[float]], panda: Path | None) -> list[float]:
    """Costs of both solutions by the same plain residual."""
    from sysid_ros import sysid

    problem = PROBLEMS[name](sysid, panda)
    residual = sysid.build_residual_fn(models_sequences=problem.sequences, engine="reference")
    return [
        0.5 * sum(float(part @ part) for part in residual(np.array(x), problem.params)[0])
        for x in points
    ]


def _floor() -> dict[str, Any]:
    ended = subprocess.run(
        [sys.executable, "-m", "benchmark.engine_floor"], check=True, capture_output=True, text=True
    )
    found: dict[str, Any] = json.loads(ended.stdout)
    return found


def _row(name: str, found: dict[str, Any]) -> str:
    figures = "".join(f"{found[key]:8.2f}" if key in found else " " * 8 for key in _RATIOS)
    row = f"{name:12s}{TARGETS[name]:8.2f}{figures}"
    if "cpu_spread" not in found:
        return row
    spread = "{:.2f} to {:.2f}".format(*found["cpu_spread"])
    excess = " and ".join(f"{each:.0e}" for each in found["cost_excess"].values())
    return f"{row}  cpu {spread}; cost above the better one {excess}"


if __name__ == "__main__":
    sys.exit(main())
