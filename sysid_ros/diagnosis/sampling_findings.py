# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Mistakes in the sampling of signals, with the lines that repair them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from sysid_ros.dataset import Dataset, recorded_controls, refers_to_geoms
from sysid_ros.diagnosis.evidence import (
    PLAYED,
    Declared,
    ExperimentLines,
    Finding,
    FindingKind,
    Rate,
    Recorded,
    Repair,
    by_topic,
    coarse_step,
    is_slow,
    is_uneven,
    joined,
    motion_range,
    sampling_of,
    setting,
    signal_kinds,
    stuck_limit,
)
from sysid_ros.diagnosis.fits import Ways, compared_ways, delay_of, resistances
from sysid_ros.diagnosis.simulated import contacts, without_geoms
from sysid_ros.engine.elements import is_effort, is_servo, is_velocity_servo
from sysid_ros.engine.signals import ModelSequences
from sysid_ros.engine.simulation import RolloutPool, single_blas_thread
from sysid_ros.errors import SysidError, listed
from sysid_ros.experiment import Experiment
from sysid_ros.recording.mapping import Interpolation, SignalKind, TopicQuality, doubts_of
from sysid_ros.recording.messages import is_expanded, parse_field
from sysid_ros.robots import build_parameters

_HELD = "zoh"
_NAMES = {Interpolation.HOLD: _HELD, Interpolation.LINEAR: "linear", Interpolation.CUBIC: "cubic"}
_WAYS = {name: way for way, name in _NAMES.items()}
_JOINED = {
    _HELD: "held until the next", "linear": "joined by lines", "cubic": "joined by a cubic spline",
}  # fmt: skip
_OFTEN = 0.0075  # s, between commands, below which it hardly matters what they do there
_RECORDINGS = 3  # of which windows are fitted
_TOPICS = 3  # that are tested


def sampling_findings(
    recorded: Recorded, lines: ExperimentLines, declared: Declared
) -> list[Finding]:
    """Rates, levels, limits and too little motion.

    Args:
      recorded: What was recorded, wrong values repaired.
      lines: The experiment's entries.
      declared: The experiment's parameters.
    """
    kinds = signal_kinds(recorded)
    measured = {label: kind for label, kind in kinds.items() if kind != PLAYED}
    found = _rates(recorded, lines, measured)
    coarse: dict[tuple[str, str], dict[str, float]] = {}
    for label, kind in kinds.items():
        stuck = stuck_limit(recorded, label)
        if stuck is not None and not lines.robust:
            found.append(_saturated(label, stuck.limit, stuck.share, stuck.times, lines))
        step = coarse_step(recorded, label, kind)
        if step is not None and not _noise_says_so(lines, label, step):
            coarse.setdefault((lines.topic(label), f"{step:.3g}"), {})[label] = step
    found += [_coarse(steps, lines) for steps in coarse.values()]
    return found + _still(recorded, lines, declared)


def contradictions(quality: Iterable[TopicQuality]) -> tuple[Finding, ...]:
    """Topics whose messages contradict each other, as those of two nodes do.

    Args:
      quality: Of every topic of every recording.
    """
    return tuple(
        Finding(
            FindingKind.CONTRADICTION,
            (),
            {},
            f"{said[0].upper()}{said[1:]}. End the other node and record again, or leave the "
            "recording out.",
            "",
            (),
        )
        for said in doubts_of(quality)
    )


def _rates(recorded: Recorded, lines: ExperimentLines, kinds: dict[str, str]) -> list[Finding]:
    found = []
    for topic, labels in by_topic({label: lines.topic(label) for label in kinds}).items():
        sampled = [
            (label, rate)
            for label in labels
            if (rate := sampling_of(recorded.pooled(label))) is not None
        ]
        slow = [(label, rate) for label, rate in sampled if is_slow(rate)]
        if slow and any(kinds[label] == "position" for label, _ in slow):
            found.append(_slow(topic, slow))
        uneven = [(label, rate) for label, rate in sampled if is_uneven(rate)]
        if uneven and lines.max_gap > 5.0 / uneven[0][1].rate:
            found.append(_uneven(topic, uneven))
    return found


def _slow(topic: str, sampled: list[tuple[str, Rate]]) -> Finding:
    rate = sampled[0][1].rate
    top = max(one.bandwidth for _, one in sampled)
    repair = setting("initial_state.velocity_filter", float(f"{0.2 * rate:.3g}"))
    return Finding(
        FindingKind.LOW_RATE,
        tuple(label for label, _ in sampled),
        {"rate": rate, "motion_bandwidth": top},
        f"{topic} was recorded at {rate:.3g} Hz, while the motion reaches {top:.3g} Hz: what "
        f"happens between samples is a guess. Record at {max(100.0, 5.0 * top):.2g} Hz or more; "
        "until then keep the velocity filter below the Nyquist frequency.",
        repair.text,
        repair.overrides,
    )


def _uneven(topic: str, sampled: list[tuple[str, Rate]]) -> Finding:
    rate = sampled[0][1]
    labels = tuple(label for label, _ in sampled)
    repair = setting("fit.max_gap", float(f"{3.0 / rate.rate:.3g}"))
    return Finding(
        FindingKind.UNEVEN_RATE,
        labels,
        {"rate": rate.rate, "interval_deviation": rate.deviation},
        f"The stamps of {topic} are uneven: one interval in twenty is more than "
        f"{100.0 * rate.deviation:.3g} % off the usual {1e3 / rate.rate:.3g} ms. Messages were "
        "lost, or stamped by a busy machine. With a smaller max_gap nothing is bridged.",
        repair.text,
        repair.overrides,
    )


def _saturated(
    label: str, limit: float, share: float, times: int, lines: ExperimentLines
) -> Finding:
    repair = setting("fit.loss", "huber")
    return Finding(
        FindingKind.SATURATION,
        (label,),
        {"limit": limit, "share": share, "times": float(times)},
        f"{label!r} is cut off at {limit:.4g}, {times} times and for {100.0 * share:.3g} % of the "
        "samples, in the midst of a motion.",
        repair.text,
        repair.overrides,
    )


def _coarse(steps: Mapping[str, float], lines: ExperimentLines) -> Finding:
    """Signals of a topic with steps of one size, as encoders of one make have."""
    step = min(steps.values())
    noise = step / 12.0**0.5
    repair = joined([lines.signal(label, {"noise": float(f"{noise:.3g}")}) for label in steps])
    verb, good = ("takes", "it is") if len(steps) == 1 else ("take", "they are")
    return Finding(
        FindingKind.QUANTISATION,
        tuple(steps),
        {"step": step, "noise": noise},
        f"{listed(map(repr, steps))} {verb} steps of {step:.3g}, which is coarse for this motion; "
        f"{good} at best as good as a sensor with noise of {noise:.3g} (a step over the square "
        "root of 12).",
        repair.text,
        repair.overrides,
    )


def _noise_says_so(lines: ExperimentLines, label: str, step: float) -> bool:
    noise = lines.config(label).noise
    return noise is not None and noise > 0.8 * step / 12.0**0.5


def _still(recorded: Recorded, lines: ExperimentLines, declared: Declared) -> list[Finding]:
    found = []
    names = [recorded.joint_name(joint) for joint in range(recorded.model.njnt)]
    for joint, label in recorded.positions.items():
        name = recorded.joint_name(joint)
        reach, least = motion_range(recorded, joint)
        # Torque's offset is free where nobody asked for it.
        named = declared.names("joint", name)
        parameters = [one for one in named if not one.endswith("_torque_offset")]
        if reach >= least or not parameters:
            continue
        repair: Repair = lines.frozen("joint", name, names)
        unit = "rad" if recorded.is_hinge(joint) else "m"
        found.append(
            Finding(
                FindingKind.LITTLE_MOTION,
                (label,),
                {"range": reach, "least": least},
                f"Joint {name!r} moved by {reach:.2g} {unit} in all recordings, too little for "
                f"{', '.join(parameters)}. Record it moving by more than {least:.2g} {unit}, or "
                "keep its parameters.",
                repair.text,
                repair.overrides,
            )
        )
    return found


@dataclass(frozen=True)
class CommandSampling:
    """The way of commands of one topic between its messages, as the motion tells it.

    Attributes:
      topic: Its name.
      labels: The commands that it carries.
      interval: s from one message to the next.
      present: The way that the experiment has.
      ways: What each leaves of the motion, by its name in time series.
    """

    topic: str
    labels: tuple[str, ...]
    interval: float
    present: Interpolation
    ways: Ways

    @property
    def best(self) -> Interpolation:
        """The way that explains the motion best: the experiment's unless it is beaten."""
        best = self.ways.best
        return _WAYS[best] if self.ways.beats(best, _NAMES[self.present]) else self.present

    @property
    def figures(self) -> str:
        """The way, and what others leave beside it, in words."""
        others = [name for name in self.ways.left if _WAYS[name] is not self.best]
        least = self.ways.size(_NAMES[self.best])
        told = [f"{_JOINED[name]} {self.ways.size(name) / least:.3g}" for name in others]
        return f"{_JOINED[_NAMES[self.best]]}; {', '.join(told)} times as much would be left"

    @property
    def doubt(self) -> str:
        """A sentence on what the motion leaves open; empty where that changes little."""
        best = _NAMES[self.best]
        holds = self.best is Interpolation.HOLD
        rivals = [name for name in self.ways.left if (name == _HELD) is not holds]
        if all(self.ways.beats(best, name) for name in rivals):
            return ""
        told = ", ".join(f"{_JOINED[name]} {self.ways.size(name):.3g}" for name in self.ways.left)
        late = f"{500.0 * self.interval:.2g} ms {'longer' if holds else 'shorter'}"
        return (
            f"whether a command of {self.topic} is held until the next, or a sample of commands "
            f"that are sent more often, the motion does not tell (what is left of it: {told}); "
            f"the delay may be {late} than is found"
        )


def command_samplings(
    experiment: Experiment, dataset: Dataset, data_dir: Path | None
) -> tuple[CommandSampling, ...]:
    """The way of commands between messages, topic by topic, of those that the motion may tell.

    Commands that are measured, or sent too often for it to matter, have none; nor have any where
    derivatives are no exact ones, since fits are too dear then.

    Args:
      experiment: With parameters; delays, friction, damping and armature are found besides.
      dataset: Its recordings, of a few of which windows are fitted.
      data_dir: Where bags are found first.
    """
    group = max(dataset.training.groups, key=len)
    places = np.unique(np.linspace(0, len(group) - 1, min(len(group), _RECORDINGS)).round())
    chosen = places.astype(int).tolist()
    few = group.replaced(
        sequence_name=[group.sequence_name[k] for k in chosen],
        initial_state=[group.initial_state[k] for k in chosen],
        control=[group.control[k] for k in chosen],
        sensordata=[group.sensordata[k] for k in chosen],
    )
    found: list[CommandSampling] = []
    intervals = {row.topic: 1.0 / row.rate for row in dataset.quality if row.rate}
    commands = _commands_by_topic(experiment, few)
    commands = {key: own for key, own in commands.items() if intervals.get(key[0], 0.0) >= _OFTEN}
    if commands and _stays_apart(few) and not refers_to_geoms(experiment):
        few = without_geoms(few)
    with RolloutPool(1) as pool, single_blas_thread():
        for (topic, present), labels in commands.items():
            interval = intervals[topic]
            if len(found) == _TOPICS:
                break
            model, torques = few.gt_model, present is not Interpolation.LINEAR
            torques &= all(is_effort(model, model.actuator(name).id) for name in labels)
            others = [way for way in Interpolation if way is not present]
            others = [way for way in others if not torques or way is not Interpolation.LINEAR]
            try:
                ways = _compared(
                    experiment,
                    few,
                    data_dir,
                    labels,
                    (present, *others),
                    interval,
                    dataset.training.excluded,
                    pool,
                )
            except SysidError:  # the model cannot follow the recordings
                return tuple(found)
            if ways is not None:
                found.append(CommandSampling(topic, labels, interval, present, ways))
    return tuple(found)


def _stays_apart(sequences: ModelSequences) -> bool:
    """Return whether geoms that may touch never do as recorded."""
    model = sequences.gt_model
    if not (np.any(model.geom_contype) or np.any(model.geom_conaffinity)):
        return False  # and nothing is saved without them
    seen = contacts([sequences], simulated=False)
    return not (seen.touching or seen.overlaps or seen.drawn)


def _commands_by_topic(
    experiment: Experiment, sequences: ModelSequences
) -> dict[tuple[str, Interpolation], tuple[str, ...]]:
    """Labels of commands that are not measured, by topic and present way."""
    model, control = sequences.gt_model, sequences.control[0]
    found: dict[tuple[str, Interpolation], tuple[str, ...]] = {}
    for signal in experiment.signals:
        mapped = (control.signal_mapping or {}).get(signal.name)
        if signal.kind is not SignalKind.ACTUATOR or mapped is None or signal.wrench:
            continue
        actuator, way = model.actuator(signal.name).id, _WAYS[control.method_of(mapped[1][0])]
        told = is_servo(model, actuator) or is_velocity_servo(model, actuator)
        if is_expanded(parse_field(signal.field)) or (way is Interpolation.LINEAR and not told):
            continue
        key = signal.topic, way
        found[key] = (*found.get(key, ()), signal.name)
    return found


def _compared(
    experiment: Experiment, sequences: ModelSequences, data_dir: Path | None,
    labels: tuple[str, ...], ways: Sequence[Interpolation], interval: float,
    gaps: Mapping[str, Sequence[tuple[float, float]]], pool: RolloutPool,
) -> Ways | None:  # fmt: skip
    """Squares that are left with commands that go each way between messages."""
    params = build_parameters(experiment, sequences.spec)
    concern = Declared(params).concern
    params = params.copy()
    for one in resistances(sequences, lambda name, row: concern("joint", name, row, "friction")):
        params.add(one)
    late = tuple(one for one in labels if not concern("signal", one, "delay"))
    if late:
        params.add(delay_of("commands", late, 0.0))
    joined = {}
    for way in ways:
        signals = tuple(
            replace(one, interpolation=way) if one.name in labels else one
            for one in experiment.signals
        )
        told = recorded_controls(
            replace(experiment, signals=signals), sequences.sequence_name, data_dir
        )
        joined[_NAMES[way]] = sequences.replaced(
            control=[told[name] for name in sequences.sequence_name]
        )
    later = {name: 0.0 if name == _HELD else 0.5 * interval for name in joined}
    return compared_ways(joined, later, params, labels, gaps, pool)


def sampling_finding(found: CommandSampling, lines: ExperimentLines) -> Finding:
    """The finding that another way than the experiment's explains the motion better."""
    change = {"interpolation": found.best}
    repair = joined([lines.signal(label, change) for label in found.labels])
    now, best = _NAMES[found.present], _NAMES[found.best]
    sizes = {f"left {_WAYS[name].value}": found.ways.size(name) for name in found.ways.left}
    return Finding(
        FindingKind.INTERPOLATION,
        found.labels,
        {"interval": found.interval, **sizes, "windows": float(len(found.ways.left[now]))},
        f"The motion tells that commands of {found.topic}, {1e3 * found.interval:.3g} ms apart, "
        f"are {_JOINED[best]}, not {_JOINED[now]}. Of {len(found.ways.left[now])} windows that are "
        f"fitted with each, {found.ways.size(now):.3g} times as much is left as the experiment "
        "has it (root mean square).",
        repair.text,
        repair.overrides,
    )
