# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Lines of YAML that repair an experiment, the same for ``--set``, and findings with both."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from enum import Enum
from typing import Any, NamedTuple

import mujoco

from sysid_ros.diagnosis.evidence.finding import Change, Finding, FindingKind
from sysid_ros.engine.elements import body_label, matching_names
from sysid_ros.errors import listed
from sysid_ros.experiment import (
    UNITS,
    Experiment,
    SignalConfig,
    apply_overrides,
    parse_yaml,
    without_places,
)
from sysid_ros.files import yaml_line
from sysid_ros.recording.mapping import SignalKind

Entry = dict[str, Any]
# Units that changes of that kind name, with the model's.
TOLD_UNITS = {"g": "m/s^2", "mg": "m/s^2", "rpm": "rad/s", "rev": "radians",
              "percent": "shares of one"}  # fmt: skip


class Repair(NamedTuple):
    """Lines of an experiment file, and the same as overrides."""

    text: str
    overrides: tuple[str, ...]


class ExperimentLines:
    """The entries of an experiment file, to be written anew with changes.

    Args:
      experiment: The experiment; its overrides count.
    """

    def __init__(self, experiment: Experiment) -> None:
        source = str(experiment.path or "experiment")
        root = apply_overrides(parse_yaml(experiment.text, source), experiment.overrides)
        tree = without_places(root)
        self._signals: list[Entry] = list(tree.get("signals") or [])
        self._parameters: list[Entry] = list(tree.get("parameters") or [])
        self._configs = {signal.label: signal for signal in experiment.signals}
        self.max_gap = experiment.fit.max_gap
        self.robust = experiment.fit.loss != "linear"

    @property
    def has_input(self) -> bool:
        """True if anything that drives the model is mapped."""
        return any(one.kind is SignalKind.ACTUATOR for one in self._configs.values())

    @property
    def topics(self) -> dict[str, str]:
        """The topic of each signal by its label."""
        return {label: config.topic for label, config in self._configs.items()}

    def topic(self, label: str) -> str:
        """The topic that a signal comes from."""
        return self._configs[label].topic

    def config(self, label: str) -> SignalConfig:
        """A signal as validated."""
        return self._configs[label]

    def reverses_joints(self, change: Change) -> bool:
        """True if a change reverses joints whole: what they are told and what they did."""
        kinds = {one.kind for label in change.signals if (one := self._configs.get(label))}
        return change.kind is FindingKind.SIGN and SignalKind.ACTUATOR in kinds and len(kinds) > 1

    def owner(self, sensor: str) -> str:
        """The signal that a sensor belongs to: itself, or the twist that it is a part of."""
        if sensor in self._configs:
            return sensor
        return max((label for label in self._configs if sensor.startswith(label)), key=len)

    def with_change(self, change: Change) -> Repair:
        """The lines of every signal that a change concerns; no line repairs half a twist."""
        parts = [label for label in change.signals if label not in self._configs]
        if parts:
            return self.removed(self.owner(parts[0]))
        entries = {label: self._updates(label, change) for label in change.signals}
        repairs = []
        for label, entry in entries.items():
            if entry:
                repairs.append(self.signal(label, entry))
                self._keep(label, entry)
        return joined([*repairs, *self._delays(change.delay)])

    def _updates(self, label: str, change: Change) -> Entry:
        """The keys of a signal's entry that a change gives new values."""
        config = self._configs[label]
        entry: Entry = {}
        source = self._configs[change.source(label)]
        if source is not config:
            entry.update(_moved(source, config))
        scale = change.scale.get(label, 1.0)
        unit = _unit(change.kind, scale, source)
        if source.unit is not None and math.isclose(scale * UNITS[source.unit], 1.0):
            entry["unit"] = None  # it converts what needs no conversion
        elif unit is not None:
            entry["unit"] = unit
        elif scale != 1.0:
            entry["scale"] = _short(scale * source.scale)
        offset = scale * source.offset + change.offset.get(label, 0.0)
        if offset != source.offset:
            entry["offset"] = _short(offset)
        return entry

    def _keep(self, label: str, entry: Entry) -> None:
        """Let the line of the next change to a signal begin where this one ends."""
        index = self._index(label)
        self._signals[index] = {**self._signals[index], **_written(entry)}
        self._configs[label] = replace(self._configs[label], **entry)

    def _delays(self, delays: Mapping[str, float]) -> list[Repair]:
        """A parameter for each delay, or one that all signals of a topic share."""
        topics = {self.topic(label) for label in delays}
        entries = {entry.get("signal") for entry in self._parameters if "delay" in entry}
        if len(delays) > 1 and len(topics) == len({*delays.values()}) == 1:
            topic = topics.pop()
            whole = {label for label, config in self._configs.items() if config.topic == topic}
            if whole == {*delays} and not entries & whole and not set(topic) & set("*?["):
                return [self.delay(topic, next(iter(delays.values())), shared=True)]
        return [self.delay(label, delay) for label, delay in delays.items()]

    def signal(self, label: str, entry: Mapping[str, Any]) -> Repair:
        """One signal's line with some keys changed."""
        index = self._index(label)
        written = _written(entry)
        changed = {**self._signals[index], **written}
        neutral = {"scale": 1.0, "offset": 0.0}
        text = _line({k: v for k, v in changed.items() if neutral.get(k) != v})
        return Repair(
            text,
            tuple(f"signals[{index}].{key}={yaml_line(value)}" for key, value in written.items()),
        )

    def delay(self, label: str, seconds: float, *, shared: bool = False) -> Repair:
        """A parameter for an input that takes effect late, or for all inputs of a topic."""
        start = float(f"{seconds:.4g}")
        value = {
            "initial": start,
            "min": min(0.0, _short(2.0 * start)),
            "max": max(0.0, _short(2.0 * start)),
            **({"shared": True} if shared else {}),
        }
        for index, entry in enumerate(self._parameters):
            if entry.get("signal") == label and "delay" in entry:
                text = _line({**entry, "delay": value})
                return Repair(text, (f"parameters[{index}].delay={yaml_line(value)}",))
        added = {"signal": label, "delay": value}
        return Repair(_line(added), (f"parameters+=[{yaml_line(added)}]",))

    def gravity(self, gravity: Sequence[float]) -> Repair:
        """A parameter that says how a robot is mounted, and is not fitted."""
        added = gravity_entry(gravity)
        return Repair(_line(added), (f"parameters+=[{yaml_line(added)}]",))

    def frozen(self, element: str, name: str, names: list[str]) -> Repair:
        """Keep every attribute of one element out of the fit.

        Args:
          element: ``joint`` or ``actuator``.
          name: Which one.
          names: All that the model has, for entries that name several by a pattern.
        """
        lines: list[str] = []
        overrides: list[str] = []
        for index, entry in enumerate(self._parameters):
            if element not in entry or name not in matching_names(names, entry[element]):
                continue
            attributes = [key for key in entry if key != element]
            fixed: Entry = {element: name, **dict.fromkeys(attributes, "frozen")}
            others = [one for one in matching_names(names, entry[element]) if one != name]
            kept = [{**entry, element: other} for other in others]
            first = kept[0] if kept else fixed
            rest = [*kept[1:], fixed] if kept else []
            overrides.append(f"parameters[{index}]={yaml_line(first)}")
            overrides += [f"parameters+=[{yaml_line(one)}]" for one in rest]
            lines += [_line(one) for one in (first, *rest)]
        return Repair("\n".join(lines), tuple(overrides))

    def removed(self, label: str) -> Repair:
        """A signal's line as a comment; there is no override that removes an entry."""
        return Repair(f"# {_line(self._signals[self._index(label)])}", ())

    def _index(self, label: str) -> int:
        config = self._configs[label]
        key, name = config.kind.value, config.name
        for written in ("wrench", "effort", "servo", "velocity_servo"):
            key, name = (written, named) if (named := getattr(config, written)) else (key, name)
        return next(i for i, entry in enumerate(self._signals) if entry.get(key) == name)


def _moved(source: SignalConfig, target: SignalConfig) -> Entry:
    """The keys that one signal takes over from another: its place, conversion and times."""
    entry: Entry = {"topic": source.topic, "field": source.field}
    for key in ("unit", "scale", "offset", "clock", "interpolation"):
        if getattr(source, key) != getattr(target, key):
            entry[key] = getattr(source, key)
    return entry


def _written(entry: Mapping[str, Any]) -> Entry:
    """An entry as a file has it."""
    return {k: v.value if isinstance(v, Enum) else v for k, v in entry.items()}


def _unit(kind: FindingKind, scale: float, config: SignalConfig) -> str | None:
    """The unit that a factor stands for, of a signal without one."""
    if config.unit is not None or config.scale != 1.0:
        return None
    rate = bool(config.kind is SignalKind.QVEL or config.velocity_servo)
    rate |= "vel" in config.field.lower()
    names = ["deg/s" if rate else "deg"]
    if kind is FindingKind.MILLIMETRES:
        names = ["mm/s" if rate else "mm"]
    elif kind is FindingKind.UNIT:
        names = [*TOLD_UNITS]
    return next((name for name in names if math.isclose(scale, UNITS[name])), None)


def gravity_entry(gravity: Sequence[float]) -> Entry:
    """The entry of ``parameters`` that gives the model a gravity, m/s^2."""
    return {
        "option": "option",
        "gravity": {"initial": [_short(float(one)) for one in gravity], "frozen": True},
    }


def freed_mass(model: mujoco.MjModel, body: str, attributes: Iterable[str] = ("mass",)) -> str:
    """The line that frees a body's mass or centre, after what to do first where it has no name.

    Args:
      model: The robot.
      body: As :func:`sysid_ros.engine.elements.body_label` calls it.
      attributes: Those that are freed.
    """
    line = f"- {{body: {body}, {', '.join(f'{one}: null' for one in attributes)}}}"
    names = {str(model.body(place).name) for place in range(model.nbody)}
    if body in names:
        return line
    place = next(k for k in range(model.nbody) if body_label(model, k) == body)
    joints = range(
        int(model.body_jntadr[place]), model.body_jntadr[place] + model.body_jntnum[place]
    )
    moved = ", ".join(repr(str(model.joint(joint).name)) for joint in joints)
    parent = str(model.body(int(model.body_parentid[place])).name)
    where = f"that {moved} moves" if moved else f"number {place}, on {parent!r}"
    return f'# name the body {where} in the model first: <body name="{body}">\n{line}'


def joined(repairs: list[Repair]) -> Repair:
    """Several repairs as one."""
    return Repair(
        "\n".join(repair.text for repair in repairs),
        tuple(override for repair in repairs for override in repair.overrides),
    )


def setting(key: str, value: Any) -> Repair:
    """A section's setting, such as ``initial_state.velocity_filter``."""
    section, _, name = key.partition(".")
    return Repair(f"{section}: {yaml_line({name: value})}", (f"{key}={yaml_line(value)}",))


def _line(entry: Mapping[str, Any]) -> str:
    return f"- {yaml_line(entry)}"


def _short(value: float) -> float:
    """Six digits, except for numbers that are exact, such as the factor of degrees."""
    rounded = float(f"{value:.6g}")
    return value if abs(rounded - value) > 0.0 and abs(value) < 0.02 else rounded


def finding_of(
    change: Change,
    lines: ExperimentLines,
    evidence: dict[str, float],
    why: str,
    *,
    claim: str = "",
    alternatives: tuple[Change, ...] = (),
    interval: tuple[float, float] | None = None,
) -> Finding:
    """Say what a change undoes, on what grounds, and how.

    Args:
      change: The repair.
      lines: The experiment's entries.
      evidence: Figures behind it.
      why: The grounds, as a sentence.
      claim: The mistake, as a sentence; that of the change if left out.
      alternatives: Changes that would repair it as well.
      interval: Of the change's number, 95 %.
    """
    repair = lines.with_change(change)
    own = {*change.signals}
    rivals = [[x for x in one.signals if x not in own] or one.signals for one in alternatives]
    others = tuple(dict.fromkeys(label for one in rivals for label in one))
    also = f" {_all(others)} could be the wrong one as well." if others else ""
    mirrored = all(map(lines.reverses_joints, (change, *alternatives)))  # images that move alike
    return Finding(
        change.kind,
        tuple(dict.fromkeys((*change.signals, *others))),
        evidence,
        f"{claim or _claim(change, interval)} {why}{also}",
        *repair,
        ambiguous=bool(others) and not mirrored,
    )


def _claim(change: Change, interval: tuple[float, float] | None) -> str:
    names, several = _all(change.signals), len(change.signals) > 1
    are = "are" if several else "is"
    match change.kind:
        case FindingKind.SIGN:
            return f"{names} {'have' if several else 'has'} the wrong sign."
        case FindingKind.DEGREES if next(iter(change.scale.values())) < 1.0:
            return f"{names} {are} in degrees; the model uses radians."
        case FindingKind.DEGREES:
            return f"{names} {'were' if several else 'was'} divided by 57.3 once too often."
        case FindingKind.MILLIMETRES:
            return f"{names} {are} in millimetres; the model uses metres."
        case FindingKind.UNIT if change.offset and change.scale:
            return f"{names} {_own_unit_claim(change, several)}"
        case FindingKind.UNIT if change.offset:
            return f"{names} {are} told whole turns from where the model counts."
        case FindingKind.UNIT:
            return f"{names} {_unit_claim(next(iter(change.scale.values())), several)}"
        case FindingKind.SWAP:
            pairs = ", and ".join(f"{one!r} with {other!r}" for one, other in change.exchange)
            return f"Exchanged: {pairs}."
        case FindingKind.OFFSET:
            label, offset = next(iter(change.offset.items()))
            return f"{label!r} is off by {-offset:.3g}{_within(interval, -1.0)}."
        case FindingKind.SCALE:
            inverse = None if interval is None else (1.0 / interval[1], 1.0 / interval[0])
            factors = [f"{1.0 / one:.3g}" for one in change.scale.values()]
            told = factors[0] if len({*factors}) == 1 else ", ".join(factors)
            return f"{names} {are} {told} times what was measured{_within(inverse, 1.0)}."
        case _:
            return f"{names} {_lag_claim(next(iter(change.delay.values())), interval, several)}"


def _unit_claim(factor: float, several: bool) -> str:
    """The unit of signals that count ``factor`` of the model's, by name where it has one."""
    unit = next((name for name in TOLD_UNITS if math.isclose(factor, UNITS[name])), "")
    if unit:
        return f"{'are' if several else 'is'} in {unit}; the model uses {TOLD_UNITS[unit]}."
    if several:
        told = "count what their joints move, and their servos, behind gears, take"
    else:
        told = "counts what its joint moves, and its geared servo takes"
    return f"{told} {factor:.6g} times that."


def _own_unit_claim(change: Change, several: bool) -> str:
    """The zeros and the counts of signals in a unit that has no name."""
    zeros = [f"{-change.offset[one] / scale:.4g}" for one, scale in change.scale.items()]
    counts = [f"{1.0 / scale:.4g}" for scale in change.scale.values()]
    verb, their = ("have", "their") if several else ("has", "its")
    return (
        f"{verb} {their} zero at {', '.join(zeros)} and {'count' if several else 'counts'} "
        f"{', '.join(counts)} for each of the model's unit."
    )


def _lag_claim(delay: float, interval: tuple[float, float] | None, several: bool) -> str:
    """The time between signals' stamps and their effect, of which delay and interval are in s."""
    milliseconds = None if interval is None else (1e3 * interval[0], 1e3 * interval[1])
    within = _within(milliseconds, math.copysign(1.0, delay))
    when = "after" if delay > 0.0 else "before"
    verb, their = ("take", "their") if several else ("takes", "its")
    return f"{verb} effect {abs(1e3 * delay):.3g} ms{within} {when} {their} stamp."


def _within(interval: tuple[float, float] | None, sign: float) -> str:
    if interval is None:
        return ""
    low, high = sorted(sign * end for end in interval)
    return f" (95 % interval {low:.3g} to {high:.3g})"


def _all(names: tuple[str, ...]) -> str:
    return listed(map(repr, names), None, last=" and ")
