# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Mistakes planted into init's own files of every robot kind: how many check tells.

``python test/planted_matrix.py [--seed N] [--most N] [--keep FOLDER] [NAME ...]`` prints a row of
docs/robots_tried.md for each robot, and what is missed. A mistake counts as one that can be seen if
it adds more to what some signal differs from the true model, simulated in the file's windows, than
is there without it: in standard deviations of what is left of that signal when all is right.
"""

from __future__ import annotations

import argparse
import math
import os
import random
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import yaml
from planted_mistakes import Entry, changed, exchanged, label_of
from robot_matrix import based_model, known_robots, own_robots
from robot_to_try import Robot, hidden

from sysid_ros.dataset import load_dataset
from sysid_ros.diagnosis import Finding, FindingKind, check_experiment
from sysid_ros.engine.elements import SCALAR
from sysid_ros.errors import SysidError
from sysid_ros.experiment import Experiment, parse_experiment
from sysid_ros.judgement.scoring import ScoringSettings, open_loop_errors, score
from sysid_ros.proposal import propose
from sysid_ros.rehearsal import based, generate, with_true_values
from sysid_ros.robots import build_parameters

LATE = 0.05  # s, that commands take effect later than in the recording in time
OFFSET = 0.4  # rad; of what is no angle, the same part of its range
_HIDDEN = 1.0  # standard deviations, up to which a mistake cannot be seen


@dataclass(frozen=True)
class Planted:
    """What was planted: its kind, a signal it must be told of, the file's signals with it."""

    kind: FindingKind
    label: str
    signals: tuple[Entry, ...]
    late: bool = False

    def is_told(self, found: Sequence[Finding]) -> bool:
        """Return whether it was found by kind and by signal; a twist's halves are its own."""
        return any(
            one.kind is self.kind
            and any(s == self.label or s.startswith(f"{self.label}_") for s in one.signals)
            for one in found
        )


@dataclass(frozen=True)
class Trial:
    """A robot recorded in time and late, with the file that init proposes, and the true model."""

    folder: Path
    tree: dict[str, Any]
    scalars: frozenset[str]  # its hinges and slides
    model: mujoco.MjModel
    true_model: str
    delay: float

    def experiment(self, planted: Planted | None = None, **keys: Any) -> Experiment:
        """The proposed file with a mistake, and with other keys."""
        tree = {
            k: self.tree[k] for k in ("model", "sequences", "sensors", "windows") if k in self.tree
        }
        if method := self.tree.get("fit", {}).get("method"):
            tree["fit"] = {"method": method}
        signals = self.tree["signals"] if planted is None else list(planted.signals)
        text = yaml.safe_dump({**tree, "signals": signals, "parameters": [], **keys})
        if planted is not None and planted.late:
            text = text.replace("bag: bag", "bag: late").replace("- bag\n", "- late\n")
        return parse_experiment(text, path=self.folder / "experiment.yaml")

    def errors(self, planted: Planted | None = None) -> dict[str, float]:
        """Root mean squares of what the true model leaves of each signal."""
        driven = [one["actuator"] for one in self.tree["signals"] if "actuator" in one]
        delay = {"initial": self.delay, "min": 0.0, "max": 0.1}
        late = [{"signal": name, "delay": delay} for name in driven]
        experiment = self.experiment(planted, model=self.true_model, parameters=late)
        groups = load_dataset(experiment, None).training.groups
        params = build_parameters(experiment, groups[0].spec)
        settings = ScoringSettings(
            experiment.windows.length, 0.0, experiment.initial_state.velocity_filter
        )
        values = params.as_nominal_vector()
        return dict(score(open_loop_errors(groups, params, values, settings, {})).rmse_initial)


def trial(robot: Robot, folder: Path, seed: int) -> Trial:
    """Record a robot twice and let init propose its file, unless the folder has them."""
    spec = robot.model()
    truth = robot.plan.truth or hidden(based_model(spec, robot.plan), 7 + seed)
    plan = replace(robot.plan, truth=truth, seed=seed)
    model = robot.file or folder / ("robot.urdf" if robot.urdf else "robot.xml")
    file = folder / "experiment.yaml"
    if not file.exists():
        folder.mkdir(parents=True, exist_ok=True)
        if robot.file is None:
            model.write_text(robot.urdf or based(spec, plan.base).to_xml())
        generate(spec, plan, folder / "bag")
        controllers = tuple(replace(one, delay=LATE) for one in plan.controllers)
        generate(spec, replace(plan, controllers=controllers), folder / "late")
        file.write_text(propose(model, [folder / "bag"], file).text)
    true = with_true_values(based(spec, plan.base), truth, spec.option.timestep)
    beside = folder if robot.file is None else robot.file.parent
    written = folder / "true.xml"
    true.meshdir = str((beside / true.meshdir).resolve())
    written.write_text(true.to_xml())
    tree = yaml.safe_load(file.read_text())
    scalars = frozenset(j.name for j in true.joints if j.type in SCALAR)
    return Trial(
        folder,
        tree,
        scalars,
        true.copy().compile(),
        str(written.resolve()),
        plan.controllers[0].delay,
    )


def mistakes(one: Trial) -> Iterator[Planted]:
    """Every mistake of one signal, exchanges of neighbours and late commands."""
    signals = one.tree["signals"]
    for place, entry in enumerate(signals):
        label = label_of(entry)

        def with_(kind: FindingKind, change: Entry, k: int = place, name: str = label) -> Planted:
            factor = float(change.get("scale", 1.0)) * float(signals[k].get("scale", 1.0))
            written = {**change, **({"scale": factor} if "scale" in change else {})}
            return Planted(kind, name, changed(signals, k, written))

        if entry.get("qpos") is None or entry["qpos"] in one.scalars:
            yield with_(FindingKind.SIGN, {"scale": -1.0})
            yield with_(FindingKind.SCALE, {"scale": 2.0})
            yield with_(FindingKind.SCALE, {"scale": 0.5})
        size = _unit_of(one.model, one.scalars, entry)
        if size is not None:
            yield with_(FindingKind.OFFSET, {"offset": OFFSET * size})
            if size == 1.0:
                yield with_(FindingKind.DEGREES, {"scale": 180.0 / math.pi})
        if next(iter(entry)) == "sensor" and "angular" in str(entry.get("field")):
            yield with_(FindingKind.DEGREES, {"scale": 180.0 / math.pi})
        after = signals[place + 1] if place + 1 < len(signals) else {}
        beside = next(iter(after), "") == next(iter(entry)) and after["topic"] == entry["topic"]
        if beside and "[" in str(entry["field"]):
            swapped = exchanged(signals, place, place + 1)
            yield Planted(FindingKind.SWAP, label, swapped)
    first = next((one for one in signals if "actuator" in one), None)
    if first is not None:
        yield Planted(FindingKind.LAG, label_of(first), tuple(signals), late=True)


def _unit_of(model: mujoco.MjModel, scalars: frozenset[str], entry: Entry) -> float | None:
    """What an offset is measured by: one of an angle, a range else; ``None`` for what has none."""
    kind, name = next(iter(entry.items()))
    joint = -1
    if kind == "servo" or (kind == "qpos" and name in scalars):
        joint = model.joint(str(name)).id
    elif kind == "actuator":
        actuator = model.actuator(str(name)).id
        if float(model.actuator_biasprm[actuator, 1]) == 0.0:
            return None  # of a torque or a velocity
        if int(model.actuator_trntype[actuator]) == int(mujoco.mjtTrn.mjTRN_JOINT):
            joint = int(model.actuator_trnid[actuator, 0])
    if joint < 0 or float(entry.get("scale", 1.0)) != 1.0:  # type: ignore[arg-type]
        return None
    if int(model.jnt_type[joint]) == int(mujoco.mjtJoint.mjJNT_HINGE):
        return 1.0
    if int(model.jnt_type[joint]) == int(mujoco.mjtJoint.mjJNT_SLIDE):
        return float(np.ptp(model.jnt_range[joint])) or None
    return None


def visible(one: Trial, right: dict[str, float], planted: Planted) -> float:
    """By how many standard deviations a mistake shows in the signal that shows it best."""
    try:
        wrong = one.errors(planted)
    except SysidError:
        return math.inf  # refused as it is
    shares = [
        wrong[name] ** 2 / max(right[name] ** 2, 1e-18) - 1.0 for name in wrong if name in right
    ]
    return math.inf if not np.all(np.isfinite(shares)) else math.sqrt(max(0.0, *shares))


def tried(robot: Robot, folder: Path, seed: int, most: int) -> str:
    """A row: found of what can be seen, of what was planted, with the false alarms."""
    one = trial(robot, folder, seed)
    clock = time.process_time()
    clean = check_experiment(one.experiment(), None)
    cost = time.process_time() - clock
    for each in clean:
        print(f"    right, but told: {each.sentence}", flush=True)
    known = {(each.kind, each.signals) for each in clean}
    right = one.errors()
    planted = list(mistakes(one))
    if most and len(planted) > most:
        planted = random.Random(5 + seed).sample(planted, most)
    told = seen = beside = 0
    for each in planted:
        try:
            found = [
                f for f in check_experiment(one.experiment(each), None)
                if (f.kind, f.signals) not in known
            ]  # fmt: skip
        except SysidError as error:
            found = []
            print(f"    {each.kind.value} of {each.label}: {error}")
        if each.is_told(found):
            told, seen = told + 1, seen + 1
            beside += len(found) > 1
            continue
        size = visible(one, right, each)
        seen += size > _HIDDEN
        others = [(f.kind.value, f.signals) for f in found]
        print(f"    {each.kind.value} of {each.label} ({size:.2g} sd): {others}", flush=True)
    return (
        f"| {robot.name} | {len(planted)} | {seen} | {told} | {beside} | "
        f"{len(clean)} of {len(one.tree['signals'])} | {cost:.1f} |"
    )


def main() -> None:
    """Try the robots of some names, or all, and print a row for each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--seed", type=int, default=0, help="of truth, motion, noise and choice")
    parser.add_argument("--most", type=int, default=24, help="mistakes per robot; 0 for all")
    parser.add_argument("--keep", type=Path, help="folder of recordings to keep and to use again")
    given = parser.parse_args()
    models = os.environ.get("ROBOT_MODELS")
    robots = {r.name: r for r in (*(known_robots(Path(models)) if models else ()), *own_robots())}
    if unknown := sorted({*given.names} - {*robots}):
        parser.error(f"unknown robot {', '.join(unknown)}; valid are: {', '.join(robots)}")
    print("| robot | planted | can be seen | told | with others | false alarms | check, CPU s |")
    for name in given.names or robots:
        with tempfile.TemporaryDirectory() as folder:
            place = (given.keep or Path(folder)) / f"{name.replace(' ', '_')}_{given.seed}"
            print(tried(robots[name], place, given.seed, given.most), flush=True)


if __name__ == "__main__":
    main()
