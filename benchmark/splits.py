# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Do two halves of real recordings agree within their intervals?

Every way to split an experiment's recordings into equal halves is fitted:

    python benchmark/splits.py examples/double_pendulum/experiment.yaml --data FOLDER
    python benchmark/splits.py examples/servo/experiment.yaml --data FOLDER --parts 4

The halves know nothing of each other, so that their estimates must differ by at most 1.96 combined
standard errors in 90 to 100 % of cases. That could be had with very wide intervals; so the standard
error of the fit of all recordings is compared with the scatter that the halves show.
"""

from __future__ import annotations

import argparse
import itertools
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from sysid_ros.dataset import FitInputs
from sysid_ros.engine.estimation import FitResult, fit
from sysid_ros.engine.signals import ModelSequences
from sysid_ros.experiment import load_experiment

LIMIT = 1.96


def main() -> None:
    """Fit all halves and print how well they agree."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("experiment", type=Path)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--parts", type=int, help="recordings are dealt into so many parts first")
    parser.add_argument("--every", type=int, default=1, help="use every so many-th recording only")
    options = parser.parse_args()
    inputs = FitInputs.read(load_experiment(options.experiment), options.data)
    (group,) = inputs.dataset.training
    used = range(0, len(group.sequence_name), options.every)
    parts = [used[i :: options.parts or len(used)] for i in range(options.parts or len(used))]
    if len(parts) % 2:
        parser.error(f"{len(parts)} parts have no equal halves; give an even number of --parts")
    whole = fitted(inputs, group, used)
    pairs = []
    for half in itertools.combinations(range(1, len(parts)), len(parts) // 2):
        other = [i for i in range(len(parts)) if i not in half]
        pairs.append(
            [fitted(inputs, group, [k for i in side for k in parts[i]]) for side in (half, other)]
        )
    show(whole, pairs)


def fitted(inputs: FitInputs, group: ModelSequences, used: Sequence[int]) -> FitResult:
    """The fit of some of the recordings."""
    began = time.process_time()

    def some(of: Sequence) -> list:
        return [of[i] for i in sorted(used)]

    sequences = ModelSequences(
        group.name,
        group.spec,
        some(group.sequence_name),
        some(group.initial_state),
        some(group.control),
        some(group.sensordata),
        group.allow_missing_sensors,
        group.robot,
    )
    settings = replace(inputs.settings, landscapes=0)
    result = fit([sequences], inputs.params, settings, known=inputs.known)
    spent = time.process_time() - began
    print(f"{len(used)} recordings: {result.status.value}, {spent:.0f} CPU s", flush=True)
    return result


def show(whole: FitResult, pairs: Sequence[Sequence[FitResult]]) -> None:
    """Print agreement and widths by parameter, and in all."""
    difference = np.array([a.values - b.values for a, b in pairs])
    combined = np.array([np.hypot(errors(a), errors(b)) for a, b in pairs])
    noise = np.array([np.hypot(by_noise(a), by_noise(b)) for a, b in pairs])
    # Halves have twice the variance each, and the difference of two has four times that.
    scatter = 0.5 * np.sqrt(np.mean(difference**2, axis=0))
    print(f"{'parameter':30s} {'value':>10s} {'error':>9s} {'of noise':>9s} agree error/scatter")
    for j, parameter in enumerate(whole.parameters):
        agree = agreement(difference[:, j], combined[:, j])
        print(
            f"{parameter.name:30s} {parameter.value:10.4g} {errors(whole)[j]:9.2g} "
            f"{by_noise(whole)[j]:9.2g} {agree:5.0%} {errors(whole)[j] / scatter[j]:8.2f}   "
            f"{', '.join(parameter.flags)}"
        )
    print(
        f"{len(pairs)} pairs of halves agree within {LIMIT} errors in "
        f"{agreement(difference, combined):.1%} of cases, by noise alone in "
        f"{agreement(difference, noise):.1%}"
    )


def agreement(difference: np.ndarray, error: np.ndarray) -> float:
    """Share of the differences that are within the limit, of those that have an error."""
    known = np.isfinite(error)
    return float(np.mean(np.abs(difference[known]) <= LIMIT * error[known]))


def errors(result: FitResult) -> np.ndarray:
    """Standard errors, NaN where none is claimed."""
    return np.array([p.standard_error or np.nan for p in result.parameters])


def by_noise(result: FitResult) -> np.ndarray:
    """Standard errors without what noise does not explain."""
    return np.array([p.by_noise or np.nan for p in result.parameters])


if __name__ == "__main__":
    main()
