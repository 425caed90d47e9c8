# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Mistakes planted into init's own files of every robot kind: how many check tells.

``python test/planted_matrix.py [--seed N] [--most N] [--pairs N] [--keep FOLDER] [NAME ...]``
prints a row of docs/robots_tried.md for each robot, and what is missed. A mistake counts as one
that can be seen if it adds more to what some signal differs from the true model, simulated in the
file's windows, than is there without it: in standard deviations of what is left of that signal when
all is right. Of a pair each of both must be seen so, beside the other.
"""

from __future__ import annotations

import argparse
import math
import os
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from planted_files import LATE, Planted, Trial, drawn, mistakes, paired, trial, wrong_models
from robot_matrix import known_robots, own_robots
from robot_to_try import Robot

from sysid_ros.diagnosis import FindingKind, check_experiment
from sysid_ros.errors import SysidError
from sysid_ros.rehearsal import based

_HIDDEN = 1.0  # standard deviations, up to which a mistake cannot be seen


def visible(one: Trial, right: dict[str, float], planted: Planted) -> float:
    """By how many standard deviations a mistake shows in the signal that shows it best.

    Of a pair, the one that shows less, alone or beside the other.
    """
    if not right:
        return math.inf  # it is not known
    try:
        wrong = one.errors(planted)
        without = [one.errors(each) for each in planted.rest] or [right]
    except SysidError:
        return math.inf  # refused as it is
    sizes = []
    compared = [(wrong, each) for each in without]
    compared += [(each, right) for each in without if planted.rest]
    for wrong, each in compared:
        shares = [
            abs(wrong[name] ** 2 - each[name] ** 2) / max(right[name] ** 2, 1e-18)
            for name in wrong if name in right and name in each
        ]  # fmt: skip
        sizes.append(math.sqrt(max(0.0, *shares)) if np.all(np.isfinite(shares)) else math.inf)
    return min(sizes)


@dataclass
class Count:
    """How many were planted, can be seen, were told, and were told with something else beside."""

    planted: int = 0
    seen: int = 0
    told: int = 0
    beside: int = 0

    def add(self, one: Trial, right: dict[str, float], each: Planted, known: set[Any]) -> None:
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
        size = visible(one, right, each)
        self.seen += size > _HIDDEN
        others = [(f.kind.value, f.signals, f.body) for f in found]
        print(f"    {each.title} ({size:.2g} sd): {others}", flush=True)


def tried(robot: Robot, folder: Path, seed: int, most: int, most_pairs: int) -> str:
    """A row: found of what can be seen, of what was planted, with the false alarms."""
    one = trial(robot, folder, seed)
    clock = time.process_time()
    clean = check_experiment(one.experiment(), None)
    cost = time.process_time() - clock
    for each in clean:
        print(f"    right, but told: {each.sentence}", flush=True)
    known = {(each.kind, each.signals) for each in clean}
    # A file of a description declares servos that the true model has under other names.
    right = {} if robot.urdf else one.errors()
    models = list(wrong_models(one, based(robot.model(), robot.plan.base))) if right else []
    single, pair = Count(), Count()
    for planted in drawn([*mistakes(one), *models], most, seed):
        single.add(one, right, planted, known)
    for planted in drawn(list(paired(one)), most_pairs, seed) if most_pairs else ():
        pair.add(one, right, planted, known)
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
