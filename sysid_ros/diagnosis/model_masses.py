# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The model's own masses against what was measured, in simulated windows.

A mass shows in all that a robot does, whatever drives it and ties it together: in windows that are
fitted with friction, armature and delays, what is left lies along the effect of a mass that is not
the model's. Where its weight is all that shows of it, as on a vertical slide, so does a command
whose zero is off, and both are named.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial

import mujoco
import numpy as np

from sysid_ros.diagnosis.declared import Declared
from sysid_ros.diagnosis.filtered import total_delays
from sysid_ros.diagnosis.finding import Change, Finding, FindingKind, repaired_series
from sysid_ros.diagnosis.fits import OneMass, WindowScores, hidden_masses, moving_masses, one_mass
from sysid_ros.diagnosis.recorded import Recorded
from sysid_ros.diagnosis.repair import body_label, freed_mass
from sysid_ros.engine.attributes import lookup
from sysid_ros.engine.elements import SCALAR
from sysid_ros.engine.parameters import (
    AttributeModifier,
    Parameter,
    ParameterDict,
    SignalModifier,
)
from sysid_ros.engine.signals import ModelSequences
from sysid_ros.engine.simulation import RolloutPool
from sysid_ros.errors import DataError, listed

_LATEST = 0.3  # s, of an input
_MASS = "mass of "  # begins the names of suspects
_ZERO = "zero of "
_RESISTANCES = ("damping", "frictionloss", "armature")
_ALIKE = 1.2  # ratio of powers up to which a mass leaves as little as other zeros of commands do
_LESS = 0.95  # of what is left of a signal that shows a mass, once it is another
_UNTESTED = (
    "masses are not tested: the recordings have too few windows that the model can be simulated in"
)


@dataclass(frozen=True)
class MassTest:
    """Simulated windows, with what a fit finds in them and the masses that it does not.

    Attributes:
      recorded: What was recorded.
      sequences: The same as it is simulated.
      length: Of windows, s.
      found: What a fit finds.
      masses: Masses that it does not, each by its body's name.
      zeros: Biases of servos' commands that it does not find, by label.
    """

    recorded: Recorded
    sequences: ModelSequences
    length: float | None
    found: ParameterDict
    masses: Mapping[str, Parameter]
    zeros: Mapping[str, Parameter]

    @classmethod
    def of(
        cls,
        recorded: Recorded,
        sequences: ModelSequences,
        declared: Declared,
        repairs: Sequence[Change],
        length: float | None,
        topics: Mapping[str, str],
    ) -> MassTest:
        """The test of recordings in which nothing touches.

        Args:
          recorded: What was recorded, mistakes repaired.
          sequences: The same as it is simulated, not repaired.
          declared: What the experiment declares.
          repairs: The repairs.
          length: Of its windows, s.
          topics: The topic of each entry's signal by its label.
        """
        repaired = _named(_repaired(sequences, repairs))
        model = repaired.gt_model
        found = declared.params.copy()
        for one in _usual(repaired, declared, topics, total_delays(repairs)):
            if one.name not in found:
                found.add(one)
        bodies = [body_label(model, body) for body in moving_masses(model)]
        masses = {name: _mass(model, name) for name in bodies if not declared.concern("body", name)}
        servos = {**recorded.servos, **recorded.others}.values()
        zeros = {one: _zero(one) for one in servos if not declared.concern("signal", one, "bias")}
        return cls(recorded, repaired, length, found, masses, zeros)

    def findings(self) -> list[Finding]:
        """The mass that is not the model's, if there is one."""
        windows = self._windows
        if windows is None:
            return []
        tested, found, zeros = _names(self.masses), _names(self.found), _names(self.zeros)
        beside = windows.scores(tested, [*found, *zeros])
        off, rival = one_mass(beside), ""
        if off is None:
            off, zeros = one_mass(windows.scores(tested, found)), []
            if off is None or off.left > _ALIKE * beside.left:
                return []
            rival = self._rival(windows, off.left)
        near = self._nearer(windows, off, [*found, *zeros])
        return [] if near is None else [self._finding(near, rival)]

    def _nearer(self, windows: WindowScores, off: OneMass, beside: list[str]) -> OneMass | None:
        """The same from a linearization with that mass; ``None`` where that explains no more."""
        moved = self.masses[off.name.removeprefix(_MASS)].copy()
        moved.update_from_vector((1.0 + off.step) * moved.nominal)
        there = self._linearized({**self.masses, off.name.removeprefix(_MASS): moved})
        if there is None or not any(there.left[k] < _LESS * windows.left[k] for k in off.felt):
            return None
        return off.refined(there.scores([off.name], beside))

    def note(self) -> str:
        """In words that masses cannot be tested, or those of some bodies; empty without any."""
        if not self.masses:
            return ""
        windows = self._windows
        if windows is None:
            return _UNTESTED
        hidden = hidden_masses(windows.scores(_names(self.masses), _names(self.found)))
        if not hidden:
            return ""
        bodies = listed([repr(name.removeprefix(_MASS)) for name in hidden], 4)
        return (
            f"this motion does not show whether the masses of {bodies} are right: half as much "
            "again is no more than friction, armatures and delays make up for"
        )

    @cached_property
    def _windows(self) -> WindowScores | None:
        """Windows linearized at the model's masses; ``None`` where there are too few."""
        return self._linearized(self.masses) if self.masses else None

    def _linearized(self, masses: Mapping[str, Parameter]) -> WindowScores | None:
        suspects = (*masses.values(), *self.zeros.values())
        suspected = ParameterDict({one.name: one for one in suspects})
        with RolloutPool(1) as pool:
            try:
                return WindowScores.of(self.sequences, self.found, suspected, self.length, pool)
            except DataError:  # no window is long enough
                return None

    def _rival(self, windows: WindowScores, left: float) -> str:
        """The zero of a command that explains as much as a weight, in words."""
        scores = windows.scores(_names(self.zeros), _names(self.found))
        steps, gained = scores.gained()
        best = int(np.argmax(gained))
        if scores.left - gained[best] > _ALIKE * left:
            return ", and so would zeros of several commands that are off"
        size = steps[best] * scores.sizes[best]
        return f", and so would a command {[*self.zeros][best]!r} whose zero is off by {size:.3g}"

    def _finding(self, off: OneMass, rival: str) -> Finding:
        """The finding, with the line that frees the mass."""
        body, mass = off.name.removeprefix(_MASS), 1.0 + off.step
        low, high = mass - off.reach, mass + off.reach
        joints = tuple(dict.fromkeys(self._moved(name) for name in off.felt))
        others = [
            f"{name.removeprefix(_MASS)!r} of {1.0 + step:.3g} times"
            for name, step in off.others.items()
        ]
        also = f", or one of {listed(others, 4)}," if others else ""
        gain = ", and so would other gains of the servos" if self.zeros and not rival else ""
        return Finding(
            FindingKind.GRAVITY,
            joints,
            {"mass": mass, "mass_low": low, "mass_high": high},
            f"The masses on {listed([repr(name) for name in joints], 3)} are not the model's, "
            f"whatever friction, armature and delays there are. A mass of {body!r} of {mass:.3g} "
            f"times the model's (95 % interval {low:.3g} to {high:.3g}){also} would explain "
            f"it{rival}{gain}.",
            freed_mass(self.recorded.model, body),
            (),
            body,
        )

    def _moved(self, signal: str) -> str:
        """The joint that a signal is measured on, or the signal."""
        label = signal.partition("[")[0]
        told = (*self.recorded.positions.items(), *self.recorded.velocities.items())
        joints = [joint for joint, own in told if own == label]
        return self.recorded.joint_name(joints[0]) if joints else label


def _names(parameters: Mapping[str, Parameter] | ParameterDict) -> list[str]:
    return [name for one in parameters.values() if not one.frozen for name in one.scalar_names()]


def _repaired(sequences: ModelSequences, repairs: Sequence[Change]) -> ModelSequences:
    """Sequences with every series repaired."""
    repair = partial(repaired_series, changes=repairs)
    return sequences.replaced(
        control=[repair(one) for one in sequences.control],
        sensordata=[repair(one) for one in sequences.sensordata],
    )


def _named(sequences: ModelSequences) -> ModelSequences:
    """Sequences of a model in which every body that moves has a name."""
    model = sequences.gt_model
    nameless = [body for body in moving_masses(model) if not model.body(body).name]
    if not nameless:
        return sequences
    spec = sequences.spec.copy()
    for body in nameless:
        spec.bodies[body].name = body_label(model, body)
    return sequences.replaced(spec=spec)


def _zero(label: str) -> Parameter:
    place = SignalModifier(label, "bias")
    return Parameter(f"{_ZERO}{label}", 0.0, -np.inf, np.inf, modifier=place)


def _mass(model: mujoco.MjModel, name: str) -> Parameter:
    value = float(model.body(name).mass[0])
    place = AttributeModifier("body", name, "mass")
    return Parameter(f"{_MASS}{name}", value, 0.05 * value, 20.0 * value, modifier=place)


def _usual(
    sequences: ModelSequences,
    declared: Declared,
    topics: Mapping[str, str],
    delays: Mapping[str, float],
) -> Iterator[Parameter]:
    """What any fit finds, as far as it is not declared: resistances of joints, delays of topics."""
    model, spec = sequences.gt_model, sequences.spec
    for joint in range(model.njnt):
        name = str(model.joint(joint).name)
        if int(model.jnt_type[joint]) not in SCALAR or not name:
            continue
        for attribute in _RESISTANCES:
            if declared.concern("joint", name, attribute, "friction"):
                continue
            row = lookup("joint", attribute)
            value = row.read(spec, name)[:1]
            low, high = row.bounds(value)
            place = AttributeModifier("joint", name, attribute)
            yield Parameter(f"{attribute} of {name}", value, low, high, modifier=place)
    by_topic: dict[str, list[str]] = {}
    for label in (str(model.actuator(number).name) for number in range(model.nu)):
        if label in topics and not declared.concern("signal", label, "delay"):
            by_topic.setdefault(topics[label], []).append(label)
    for topic, labels in by_topic.items():
        delay = float(np.mean([delays.get(label, 0.0) for label in labels]))
        place_of = SignalModifier(tuple(labels), "delay")
        yield Parameter(
            f"delay of {topic}", delay, min(delay, 0.0), max(_LATEST, delay), modifier=place_of
        )
