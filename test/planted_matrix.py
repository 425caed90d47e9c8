# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Mistakes planted into init's own files of every robot kind: how many check tells.

``python test/planted_matrix.py [--seed N] [--most N] [--pairs N] [--keep FOLDER] [NAME ...]``
prints a row of docs/robots_tried.md for each robot, and what is missed. A mistake counts as one
that can be seen if the file's own fit, which finds frictions, armatures and whatever else the file
frees, leaves more of some signal with it than without: in standard deviations of what that fit
leaves when all is right, which is noise where the model can do what the robot did. Delays, gains
and offsets of signals are held where the fit without mistakes finds them. Of a pair each of both
must be seen so, beside the other.
"""

from __future__ import annotations

import argparse
import math
import os
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from planted_files import (
    LATE,
    Planted,
    Trial,
    drawn,
    left_of,
    mistakes,
    paired,
    trial,
    wrong_models,
)
from robot_matrix import known_robots, own_robots
from robot_to_try import Robot

from sysid_ros.diagnosis import FindingKind, check_experiment
from sysid_ros.engine.estimation import FitResult
from sysid_ros.errors import SysidError

_HIDDEN = 1.0  # standard deviations, up to which a mistake cannot be seen


class Eye:
    """Tells by how much mistakes in a robot's file show.

    Args:
      one: The robot's trial.
    """

    def __init__(self, one: Trial) -> None:
        self._one = one
        self._known: FitResult | None = None

    @property
    def _right(self) -> FitResult:
        if self._known is None:
            self._known = self._one.fitted()
        return self._known

    def size(self, planted: Planted) -> float:
        """By how many standard deviations a mistake shows in the signal that shows it best.

        Of a pair, the one that shows less, alone or beside the other.
        """
        try:
            right = left_of(self._right)
            wrong, *without = (self._left(each) for each in (planted, *planted.rest))
        except SysidError:
            return math.inf  # refused as it is
        compared = [(wrong, each) for each in without or [right]]
        compared += [(each, right) for each in without]
        return min(_added(*each, right) for each in compared)

    def _left(self, planted: Planted) -> dict[str, float]:
        return left_of(self._one.fitted(planted, self._right))


def _added(
    wrong: Mapping[str, float], without: Mapping[str, float], right: Mapping[str, float]
) -> float:
    """What a mistake adds to what is left of the signal that shows it best, in what is usual."""
    shares = [
        abs(wrong[name] ** 2 - without[name] ** 2) / max(right[name] ** 2, 1e-18)
        for name in wrong if name in right and name in without
    ]  # fmt: skip
    return math.sqrt(max(0.0, *shares)) if np.all(np.isfinite(shares)) else math.inf


@dataclass
class Count:
    """How many were planted, can be seen, were told, and were told with something else beside."""

    planted: int = 0
    seen: int = 0
    told: int = 0
    beside: int = 0

    def add(self, one: Trial, eye: Eye, each: Planted, known: set[Any]) -> None:
        """Check the file with a mistake; print what is not told, and each lag that is."""
        self.planted += 1
        try:
            found = [
                f for f in check_experiment(one.experiment(each), None)
                if (f.kind, f.signals) not in known or (each.late and f.kind is FindingKind.LAG)
            ]  # fmt: skip
        except SysidError as error:
            found = []
            print(f"    {each.title}: {error}")
        for lag in found:
            if lag.kind is FindingKind.LAG:
                low, high = (1e3 * lag.evidence[key] for key in ("size_low", "size_high"))
                own = 1e3 * (LATE if each.late else one.delay)
                print(f"    lag of {own:.4g} ms: {low:.4g} to {high:.4g} ms, {lag.signals}")
        if each.is_told(found):
            self.told, self.seen = self.told + 1, self.seen + 1
            self.beside += len(found) > len(each.expected)
            return
        size = eye.size(each)
        self.seen += size > _HIDDEN
        others = [(f.kind.value, f.signals, f.body) for f in found]
        print(f"    {each.title} ({size:.2g} sd): {others}", flush=True)


def tried(robot: Robot, folder: Path, seed: int, most: int, most_pairs: int) -> str:
    """A row: found of what can be seen, of what was planted, with the false alarms."""
    one = trial(robot, folder, seed)
    clock = time.process_time()
    clean = check_experiment(one.as_proposed(), None)
    cost = time.process_time() - clock
    for each in clean:
        print(f"    right, but told: {each.sentence}", flush=True)
    # Delays that no parameter declares are told, and right.
    known = {(each.kind, each.signals) for each in check_experiment(one.experiment(), None)}
    eye, single, pair = Eye(one), Count(), Count()
    for planted in drawn([*mistakes(one), *wrong_models(one)], most, seed):
        single.add(one, eye, planted, known)
    for planted in drawn(list(paired(one)), most_pairs, seed) if most_pairs else ():
        pair.add(one, eye, planted, known)
    return (
        f"| {robot.name} | {single.planted} | {single.seen} | {single.told} | {single.beside} | "
        f"{pair.planted} | {pair.seen} | {pair.told} | {pair.beside} | "
        f"{len(clean)} of {len(one.tree['signals'])} | {cost:.1f} |"
    )


def main() -> None:
    """Try the robots of some names, or all, and print a row for each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--seed", type=int, default=0, help="of truth, motion, noise and choice")
    parser.add_argument("--most", type=int, default=24, help="mistakes per robot; 0 for all")
    parser.add_argument("--pairs", type=int, default=8, help="pairs of mistakes per robot")
    parser.add_argument("--keep", type=Path, help="folder of recordings to keep and to use again")
    given = parser.parse_args()
    models = os.environ.get("ROBOT_MODELS")
    robots = {r.name: r for r in (*(known_robots(Path(models)) if models else ()), *own_robots())}
    if unknown := sorted({*given.names} - {*robots}):
        parser.error(f"unknown robot {', '.join(unknown)}; valid are: {', '.join(robots)}")
    print(
        "| robot | planted | can be seen | told | with others | pairs planted | can be seen | told "
        "| with others | false alarms | check, CPU s |"
    )
    for name in given.names or robots:
        with tempfile.TemporaryDirectory() as folder:
            place = (given.keep or Path(folder)) / f"{name.replace(' ', '_')}_{given.seed}"
            print(tried(robots[name], place, given.seed, given.most, given.pairs), flush=True)


if __name__ == "__main__":
    main()
