# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""How a residual with its Jacobian grows with samples, sequences and parameters; prints JSON.

python -m benchmark.scaling --panda PATH
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmark.problems import Problem, arm_recordings, panda
from sysid_ros import sysid


def measure(panda_path: Path | None) -> dict[str, Any]:
    """CPU seconds of residual and Jacobian along three axes."""
    curves: dict[str, Any] = {
        "seconds_recorded": {t: _cost(arm_recordings(sysid, [t])) for t in (1.0, 2.0, 4.0, 8.0)},
        "sequences": {k: _cost(arm_recordings(sysid, [1.0] * k)) for k in (1, 2, 4, 8)},
    }
    if panda_path is not None:
        curves["parameters"] = {
            21 + 10 * links: _cost(panda(sysid, panda_path, links)) for links in (0, 2, 4, 7)
        }
    return curves


def _cost(problem: Problem) -> float:
    """The least CPU seconds of three evaluations, after one that fills the caches."""
    residual = sysid.build_residual_fn(models_sequences=problem.sequences, n_threads=1)
    x = problem.params.as_vector()
    seconds = []
    for k in range(4):
        point = x * (1.0 + 1e-3 * k)
        began = time.process_time()
        residual(point, problem.params)
        if residual.jacobian(point, problem.params) is None:
            raise SystemExit("the exact Jacobian is not available for this problem")
        seconds.append(time.process_time() - began)
    return float(np.min(seconds[1:]))


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--panda", type=Path)
    print(json.dumps(measure(parser.parse_args().panda), indent=1))


if __name__ == "__main__":
    main()
