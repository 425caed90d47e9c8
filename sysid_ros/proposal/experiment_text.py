# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""An experiment file with comments, from what a proposal holds."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from sysid_ros.engine.measured_torque import Coupling
from sysid_ros.errors import listed
from sysid_ros.experiment import LEFT_OUT
from sysid_ros.files import yaml_line
from sysid_ros.proposal.candidate import Candidate
from sysid_ros.proposal.recordings import Division
from sysid_ros.proposal.set_points import Drive

CHECK = "# CHECK:"
_NAME = "\0"  # where a doubt has the name of an element
_TIME_LIMIT = 600  # s, of a fit whose derivatives are rollouts
_SHORT = "The recordings are short, so that none is cut."
_LONGER = "Longer windows tell more as long as a small error stays small; see init.md."
_ONCE_SAMPLED = (
    "torque is sampled about once in each recorded set point. If drives hold these, their gains",
    "look like damping and armature, and intervals allow for that; sample torque faster. If drives",
    "join them, leave out the gains.",
)


@dataclass(frozen=True)
class SignalEntry:
    """A line of ``signals`` with what a person should check, and why it is believed."""

    values: dict[str, Any]
    doubt: str = ""
    grounds: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {**self.values, "doubt": self.doubt, "grounds": self.grounds}


@dataclass(frozen=True)
class Draft:
    """Everything that an experiment file says."""

    model: str | dict[str, str]  # path as written, or ``{robot_description: TOPIC}``
    recordings: Division  # what is fitted and what is held out
    left_out: tuple[tuple[str, str], ...]  # recordings that lack a topic, with the reason
    signals: tuple[SignalEntry, ...]  # the signal map
    notes: tuple[str, ...]  # sentences about what has no signal
    unused: tuple[str, ...]  # topics, and parts of messages, that nothing is mapped from
    masks: tuple[SignalEntry, ...]  # when the robot is enabled, as written, with a doubt
    window: float | None  # length of windows [s]; ``None`` for whole recordings
    loss: str  # of the fit
    # longest interval between samples that is no gap [s]; ``None`` for the usual one
    max_gap: float | None = None
    clocks: str = ""  # whose clocks differ, so that stamps are translated; empty where none do
    # ``package_path`` and ``msg_path`` as written, where they are given
    folders: Mapping[str, list[str]] = field(default_factory=dict)
    # signals that the evidence does not decide for, written as comments
    possible: tuple[SignalEntry, ...] = ()
    window_reason: str = ""  # a sentence about it; empty for the usual one
    contacts_left_out: bool = False  # whether stretches in which bodies touch are left out
    cost: str = ""  # why parts of the recordings are fitted only; empty where all are
    parameters: tuple[Candidate, ...] = ()  # to identify
    # parameters that the recordings do not determine
    undetermined: tuple[Candidate, ...] = field(default=())
    # entries of parameters for a fit by inverse dynamics; without any it is not proposed
    torque: tuple[Mapping[str, Any], ...] = field(default=())
    # by joint, drives whose torque is sampled once in each set point that was recorded
    drives: Mapping[str, Drive] = field(default_factory=dict)
    couplings: tuple[Coupling, ...] = ()  # motors that turn with two joints
    # entry of parameters with the gravity of a robot that is mounted otherwise than its model, and
    # the evidence
    mounting: tuple[Mapping[str, Any], str] | None = None

    def text(self) -> str:
        """The file's content."""
        parts = [
            [
                "# Proposed by sysid_ros init. Lines with CHECK are guesses; see docs/init.md.",
                f"model: {yaml_line(self.model)}",
                *(f"{key}: {yaml_line(paths)}" for key, paths in self.folders.items()),
            ],
            self._recordings(),
            self._signals(),
            self._masks(),
            self._couplings(),
            self._settings(),
            self._parameters(),
        ]
        return "\n\n".join("\n".join(part) for part in parts if part) + "\n"

    def _recordings(self) -> list[str]:
        lines = [f"# {self.cost}"] if self.cost else []
        lines += ["sequences:", *(f"  - {yaml_line(bag)}" for bag in self.recordings.fitted)]
        lines += [f"  # - {yaml_line(bag)}" for bag in self.recordings.unused]
        lines += [f"  # - {yaml_line(bag)}  # {why}" for bag, why in self.left_out]
        if self.recordings.held_out:
            lines += [
                "",
                "# Every third recording is held out, to judge the fit by.",
                "validation:",
            ]
            lines += ["  bags:", *(f"    - {yaml_line(bag)}" for bag in self.recordings.held_out)]
        elif self.recordings.fraction is not None:
            lines += [
                "",
                "# The end of each recording is held out, to judge the fit by.",
                f"validation: {{fraction: {self.recordings.fraction:g}}}",
            ]
        return lines

    def _signals(self) -> list[str]:
        lines = ["signals:"]
        for entry in self.signals:
            lines += [f"  {CHECK} {part}" for part in _sentences(entry.doubt)]
            line = f"  - {yaml_line(entry.values)}"
            lines.append(f"{line}  # {entry.grounds}" if entry.grounds else line)
        for entry in self.possible:
            lines.append(f"  {CHECK} {entry.doubt or entry.grounds}; is this its input?")
            lines.append(f"  # - {yaml_line(entry.values)}")
        lines += [f"  {CHECK} {note}" for note in self.notes]
        if self.unused:
            lines.append(f"  # Nothing is read from {', '.join(self.unused)}.")
        return lines

    def _masks(self) -> list[str]:
        lines = []
        if self.clocks:
            lines = [f"{CHECK} {self.clocks}", "clock_correction: drift"]
        for entry in self.masks:
            lines += [f"{CHECK} {part}" for part in _sentences(entry.doubt)]
            lines.append(f"enabled_when: {yaml_line(entry.values)}")
        return lines

    def _couplings(self) -> list[str]:
        lines = []
        for one in self.couplings:
            doubt = f"does one motor turn with both {one.other} and {one.joint}? Torque says so."
            lines += [f"  {CHECK} {doubt}", f"  - {yaml_line(asdict(one))}"]
        return ["couplings:", *lines] if lines else []

    def _settings(self) -> list[str]:
        fit: dict[str, Any] = {}
        if self.torque:
            fit["method"] = "inverse_dynamics"
            return [
                "# Torque is measured, and no reference of a controller mapped beside it: what the",
                "# measured motion takes is compared with it; see inverse_dynamics.md.",
                *([f"{CHECK} {part}" for part in _ONCE_SAMPLED] if self.drives else []),
                f"fit: {yaml_line(fit | self._gaps() | self._drives())}",
            ]
        windows = {"length": "whole" if self.window is None else self.window}
        if self.contacts_left_out:
            windows["contacts"] = LEFT_OUT
        usual = _LONGER if self.window is not None else _SHORT
        lines = [f"# {self.window_reason or usual}", f"windows: {yaml_line(windows)}"]
        fit |= self._gaps()
        if self.loss != "linear":
            lines.append("# The loss forgives stretches that no model here explains.")
            fit["loss"] = self.loss
        if self.cost:
            lines.append("# The time limit [s] is for slow processors; the best so far is kept.")
            fit["time_limit"] = _TIME_LIMIT
        return [*lines, f"fit: {yaml_line(fit)}"] if fit else lines

    def _gaps(self) -> dict[str, Any]:
        """The setting of ``fit`` for what is told too seldom for the usual one."""
        return {} if self.max_gap is None else {"max_gap": self.max_gap}

    def _drives(self) -> dict[str, Any]:
        """The setting of ``fit`` for drives whose torque is sampled once in each set point."""
        gains = {
            "drive_stiffness": {name: _rounded(one.stiffness) for name, one in self.drives.items()},
            "drive_damping": {name: _rounded(one.damping) for name, one in self.drives.items()},
        }
        return {"inverse_dynamics": gains} if self.drives else {}

    def _parameters(self) -> list[str]:
        lines = ["parameters:"]
        if self.mounting is not None:
            entry, doubt = self.mounting
            lines += [f"  {CHECK} {doubt}", f"  - {yaml_line(dict(entry))}"]
        if self.torque:
            return [*lines, *(f"  - {yaml_line(dict(entry))}" for entry in self.torque)]
        if not self.parameters and self.mounting is None:
            lines = [
                f"{CHECK} what is to be found? These recordings determine nothing that init knows."
            ]
            lines.append("parameters: []")
        doubts = _doubts(self.parameters)
        for element, name, group in _grouped(self.parameters):
            own = dict.fromkeys(doubts.pop(_without_name(one), "") for one in group)
            lines += [f"  {CHECK} {part}" for doubt in own for part in _sentences(doubt)]
            lines.append(f"  - {element}: {yaml_line(name)}")
            lines += [f"    {one.attribute}: {yaml_line(one.settings())}" for one in group]
        if self.undetermined:
            lines.append(
                "  # Left at the model's values, as these recordings do not determine them beside "
                "the above or do not contradict them:"
            )
            for attribute in dict.fromkeys(one.attribute for one in self.undetermined):
                group = [one for one in self.undetermined if one.attribute == attribute]
                lines.append(f"  # {attribute}: {group[0].revealing} would show it")
                lines += [
                    f"  # - {yaml_line({one.element: one.name, attribute: one.settings()})}"
                    for one in group
                ]
        return lines


def _grouped(candidates: Sequence[Candidate]) -> list[tuple[str, str, list[Candidate]]]:
    """Candidates by element, in the order in which elements come first."""
    groups: dict[tuple[str, str], list[Candidate]] = {}
    for one in candidates:
        groups.setdefault((one.element, one.name), []).append(one)
    return [(element, name, group) for (element, name), group in groups.items()]


def _doubts(candidates: Sequence[Candidate]) -> dict[str, str]:
    """Every doubt once, with all whom it concerns, by what it says without their names."""
    names: dict[str, dict[str, None]] = {}
    for one in candidates:
        names.setdefault(_without_name(one), {})[one.name] = None  # of any of its attributes
    return {key: key.replace(_NAME, listed(own, None)) for key, own in names.items() if key}


def _without_name(one: Candidate) -> str:
    return re.sub(rf"\b{re.escape(one.name)}\b", _NAME, one.doubt)


def _rounded(gain: float) -> float:
    return float(f"{gain:.3g}")


def _sentences(doubt: str) -> list[str]:
    return [part for part in doubt.split("\n") if part]
