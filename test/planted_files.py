# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Recordings of any robot with init's own file of it, and the files with mistakes planted."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import yaml
from planted_mistakes import Entry, changed, exchanged, label_of
from robot_matrix import based_model
from robot_to_try import Robot, hidden

from sysid_ros.dataset import FitInputs
from sysid_ros.diagnosis import Finding, FindingKind
from sysid_ros.engine.elements import SCALAR
from sysid_ros.engine.estimation import FitResult
from sysid_ros.engine.parameters import SignalModifier
from sysid_ros.experiment import Experiment, parse_experiment
from sysid_ros.proposal import propose
from sysid_ros.rehearsal import TrueParameter, based, generate, with_true_values
from sysid_ros.robots import load_model

LATE = 0.05  # s, that commands take effect later than in the recording in time
_STEPS = 12  # of a fit, at most
HEAVIER = 1.5  # times the model's, that a link weighs
OFFSET = 0.4  # rad; of what is no angle, the same part of its range


@dataclass(frozen=True)
class Planted:
    """What was planted: kinds, each with a signal or body it must be told of, and the file with it.

    ``model`` is the file of a wrong model; ``rest`` are, of a pair, the files with either alone.
    """

    expected: tuple[tuple[FindingKind, str], ...]
    signals: tuple[Entry, ...]
    late: bool = False
    model: str = ""
    rest: tuple[Planted, ...] = ()

    @property
    def title(self) -> str:
        """All of it in words."""
        return " and ".join(f"{kind.value} of {label}" for kind, label in self.expected)

    def is_told(self, found: Sequence[Finding]) -> bool:
        """Return whether it was found by kind and by signal; a twist's halves are its own.

        Masses that nothing tells apart are all in the sentence.
        """
        return all(
            any(
                one.kind is kind
                and (
                    any(s == label or s.startswith(f"{label}_") for s in one.signals)
                    or (kind is FindingKind.GRAVITY and repr(label) in one.sentence)
                )
                for one in found
            )
            for kind, label in self.expected
        )


@dataclass(frozen=True)
class Trial:
    """A robot recorded in time and late, with the file that init proposes, and the true model."""

    folder: Path
    tree: dict[str, Any]
    scalars: frozenset[str]  # its hinges and slides
    model: mujoco.MjModel  # the true one
    user: mujoco.MjSpec  # as its user has it, with the folder of its meshes
    delay: float

    def experiment(self, planted: Planted | None = None, **keys: Any) -> Experiment:
        """The proposed file with a mistake and other keys; delays are free only in these."""
        tree: dict[str, Any] = {
            k: self.tree[k] for k in ("model", "sequences", "sensors", "windows") if k in self.tree
        }
        if method := self.tree.get("fit", {}).get("method"):
            tree["fit"] = {"method": method}
        signals = self.tree["signals"] if planted is None else list(planted.signals)
        if planted is not None and planted.model:
            tree["model"] = planted.model
        free = [one for one in self.tree.get("parameters", ()) if "delay" not in one]
        text = yaml.safe_dump({**tree, "signals": signals, "parameters": free, **keys})
        if planted is not None and planted.late:
            text = text.replace("bag: bag", "bag: late").replace("- bag\n", "- late\n")
        return parse_experiment(text, path=self.folder / "experiment.yaml")

    def as_proposed(self, planted: Planted | None = None) -> Experiment:
        """The proposed file with all of its parameters, and a mistake."""
        keys = {key: self.tree[key] for key in ("parameters",) if key in self.tree}
        return self.experiment(planted, **keys)

    def fitted(self, planted: Planted | None = None, found: FitResult | None = None) -> FitResult:
        """What the file's own fit makes of it, with a mistake.

        Args:
          planted: The mistake.
          found: The fit without: where to start, and what signals' delays, gains and offsets are.
        """
        inputs = FitInputs.read(self.as_proposed(planted).with_fit(max_iterations=_STEPS), None)
        for one in inputs.params.values() if found is not None else ():
            values = [found[name].value for name in one.scalar_names()]
            one.value = np.reshape(values, one.shape)
            one.frozen = isinstance(one.modifier, SignalModifier)
        return inputs.fitted(
            start=None if found is None else inputs.params.as_vector(), landscapes=False
        )


def left_of(result: FitResult) -> dict[str, float]:
    """Root mean squares of what a fit leaves of each signal."""
    if result.residuals:
        return {name: one.rms for name, one in result.residuals.items()}
    return dict(result.noise)  # of a fit to torque


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
    tree = yaml.safe_load(file.read_text())
    scalars = frozenset(j.name for j in true.joints if j.type in SCALAR)
    user = load_model(model).spec if robot.urdf else based(spec, plan.base)
    user.meshdir = str((model.parent / user.meshdir).resolve())
    return Trial(folder, tree, scalars, true.compile(), user, plan.controllers[0].delay)


def mistakes(one: Trial) -> Iterator[Planted]:
    """Every mistake of one signal, exchanges of neighbours and late commands."""
    signals = one.tree["signals"]
    for place, entry in enumerate(signals):
        for kind, change in _changes(one, entry):
            yield Planted(((kind, label_of(entry)),), changed(signals, place, change))
        if "qvel" in entry and entry["qvel"] not in one.scalars:
            wrong = changed(signals, place, {"frame": "world"})
            yield Planted(((FindingKind.SWAP, label_of(entry)),), wrong)
        if _has_neighbour(signals, place):
            swapped = exchanged(signals, place, place + 1)
            yield Planted(((FindingKind.SWAP, label_of(entry)),), swapped)
    first = _first_command(signals)
    if first is not None:
        yield Planted(((FindingKind.LAG, first),), tuple(signals), late=True)


def _first_command(signals: Sequence[Entry]) -> str | None:
    """The label of the first input that is told; what is measured is not late in it."""
    measured = {one["topic"] for one in signals if "actuator" not in one}
    told = [one for one in signals if "actuator" in one and one["topic"] not in measured]
    return label_of(told[0]) if told else None


def _changes(one: Trial, entry: Entry) -> Iterator[tuple[FindingKind, Entry]]:
    """The wrong keys of one signal, with the kind of mistake that they are."""
    own = float(entry.get("scale", 1.0))  # type: ignore[arg-type]
    if entry.get("qpos") is None or entry["qpos"] in one.scalars:
        yield FindingKind.SIGN, {"scale": -own}
        yield FindingKind.SCALE, {"scale": 2.0 * own}
        yield FindingKind.SCALE, {"scale": 0.5 * own}
    size = _unit_of(one.model, one.scalars, entry)
    if size is not None:
        yield FindingKind.OFFSET, {"offset": OFFSET * size}
        if _is_angle(one.model, entry):
            yield FindingKind.DEGREES, {"scale": own * 180.0 / math.pi}
    if next(iter(entry)) == "sensor" and "angular" in str(entry.get("field")):
        yield FindingKind.DEGREES, {"scale": own * 180.0 / math.pi}


def _is_angle(model: mujoco.MjModel, entry: Entry) -> bool:
    """Whether an entry that has offsets is of a hinge."""
    kind, name = next(iter(entry.items()))
    place = model.actuator(str(name)).trnid[0] if kind == "actuator" else model.joint(str(name)).id
    return int(model.jnt_type[place]) == int(mujoco.mjtJoint.mjJNT_HINGE)


def _has_neighbour(signals: Sequence[Entry], place: int) -> bool:
    entry, after = signals[place], signals[place + 1] if place + 1 < len(signals) else {}
    beside = next(iter(after), "") == next(iter(entry)) and after["topic"] == entry["topic"]
    return beside and "[" in str(entry["field"])


def paired(one: Trial) -> Iterator[Planted]:
    """A swap with a sign, degrees with a lag, two signs, an offset with a sign."""
    signals = one.tree["signals"]
    made: dict[tuple[int, FindingKind], Entry] = {
        (place, kind): change
        for place, entry in enumerate(signals)
        for kind, change in _changes(one, entry)
        if kind is not FindingKind.SCALE
    }
    alone = {key: changed(signals, key[0], change) for key, change in made.items()}
    labels = [label_of(entry) for entry in signals]

    def with_(first: tuple[int, FindingKind], *others: tuple[int, FindingKind]) -> Planted:
        wrong = alone[first]
        for place, kind in others:
            wrong = changed(wrong, place, made[place, kind])
        keys = (first, *others)
        expected = [((kind, labels[place]),) for place, kind in keys]
        rest = [Planted(e, alone[key]) for e, key in zip(expected, keys, strict=True)]
        return Planted(tuple(e[0] for e in expected), wrong, rest=tuple(rest))

    signs = [place for place, kind in made if kind is FindingKind.SIGN]
    for place in signs:
        if _has_neighbour(signals, place):
            swap, sign = (FindingKind.SWAP, labels[place]), (FindingKind.SIGN, labels[place + 1])
            swapped = exchanged(signals, place, place + 1)
            rest = (Planted((swap,), swapped), Planted((sign,), alone[place, FindingKind.SIGN]))
            yield Planted((swap, sign), changed(swapped, place, {"scale": -1.0}), rest=rest)
    for place, other in itertools.pairwise(signs):
        yield with_((place, FindingKind.SIGN), (other, FindingKind.SIGN))
        if (place, FindingKind.OFFSET) in made:
            yield with_((place, FindingKind.OFFSET), (other, FindingKind.SIGN))
    first = _first_command(signals)
    for place, kind in made:
        if kind is FindingKind.DEGREES and first is not None:
            lag = Planted(((FindingKind.LAG, first),), tuple(signals), late=True)
            single = Planted(((kind, labels[place]),), alone[place, kind])
            both = (*single.expected, *lag.expected)
            yield Planted(both, alone[place, kind], late=True, rest=(single, lag))


def wrong_models(one: Trial) -> Iterator[Planted]:
    """Models with a link of two thirds of its weight, or with an IMU turned or on another body."""
    spec = one.user
    for name in [body.name for body in spec.bodies if body.name]:
        number = mujoco.mj_name2id(one.model, mujoco.mjtObj.mjOBJ_BODY, name)
        if number > 0 and int(one.model.body_dofnum[number]) == 1:
            lighter = TrueParameter("body", name, "mass", one.model.body_mass[number] / HEAVIER)
            wrong = with_true_values(spec, (lighter,), spec.option.timestep)
            yield _with_model(one, wrong, FindingKind.GRAVITY, name)
    for label in [label_of(entry) for entry in one.tree["signals"] if "sensor" in entry]:
        sensor = next((sensor for sensor in spec.sensors if sensor.name == label), None)
        if sensor is None or sensor.type != mujoco.mjtSensor.mjSENS_GYRO:
            continue
        wrong, turned = spec.copy(), np.zeros(4)
        site = wrong.site(sensor.objname)
        mujoco.mju_mulQuat(turned, site.quat, np.array([1.0, 0.0, 0.0, 1.0]) / math.sqrt(2.0))
        site.quat = turned
        yield _with_model(one, wrong, FindingKind.SWAP, label)
        yield from _on_another_body(one, sensor)


def _on_another_body(one: Trial, gyro: mujoco.MjsSensor) -> Iterator[Planted]:
    """A model with all of an IMU on the first other body that has a joint and a name."""
    wrong = one.user.copy()
    own = wrong.site(gyro.objname).parent.name
    others = [body for body in wrong.bodies if body.name not in ("", own) and body.joints]
    if others:
        others[0].add_site(name="elsewhere")
        for sensor in wrong.sensors:
            if sensor.objtype == mujoco.mjtObj.mjOBJ_SITE and sensor.objname == gyro.objname:
                sensor.objname = "elsewhere"
        yield _with_model(one, wrong, FindingKind.SWAP, gyro.name, "elsewhere")


def _with_model(
    one: Trial, wrong: mujoco.MjSpec, kind: FindingKind, label: str, how: str = "wrong"
) -> Planted:
    file = one.folder / f"{how}_{label}.xml"
    file.write_text(wrong.to_xml())
    return Planted(((kind, label),), tuple(one.tree["signals"]), model=str(file.resolve()))


def drawn(planted: Sequence[Planted], most: int, seed: int) -> list[Planted]:
    """Some of them, of every kind in turn."""
    kinds: dict[tuple[str, ...], list[Planted]] = {}
    for each in random.Random(5 + seed).sample(planted, len(planted)):
        kinds.setdefault(tuple(kind.value for kind, _ in each.expected), []).append(each)
    turns = itertools.chain(*itertools.zip_longest(*kinds.values()))
    return [each for each in turns if each is not None][: most or None]


def _unit_of(model: mujoco.MjModel, scalars: frozenset[str], entry: Entry) -> float | None:
    """What an offset is measured by: one of an angle, a range else; ``None`` for what has none.

    Of an input, what asks for as much of its joint.
    """
    kind, name = next(iter(entry.items()))
    joint, gear = -1, 1.0
    if kind == "servo" or (kind == "qpos" and name in scalars):
        joint = model.joint(str(name)).id
    elif kind == "actuator":
        actuator = model.actuator(str(name)).id
        if float(model.actuator_biasprm[actuator, 1]) == 0.0:
            return None  # of a torque or a velocity
        if int(model.actuator_trntype[actuator]) == int(mujoco.mjtTrn.mjTRN_JOINT):
            joint = int(model.actuator_trnid[actuator, 0])
            own = -float(model.actuator_biasprm[actuator, 1]) * float(
                model.actuator_gear[actuator, 0]
            )
            gear = own / float(model.actuator_gainprm[actuator, 0])  # of its input for the joint's
    if joint < 0 or float(entry.get("scale", 1.0)) != 1.0:  # type: ignore[arg-type]
        return None
    if int(model.jnt_type[joint]) == int(mujoco.mjtJoint.mjJNT_HINGE):
        return gear
    if int(model.jnt_type[joint]) == int(mujoco.mjtJoint.mjJNT_SLIDE):
        return gear * float(np.ptp(model.jnt_range[joint])) or None
    return None
