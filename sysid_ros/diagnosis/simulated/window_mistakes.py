# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Masses, mounts, late inputs and factors of forces that simulated windows ask for, on any robot.

What is wrong shows in all that a robot does, whatever drives it and ties it together: in windows
that are fitted with friction, armature and delays, what is left lies along the effect of a mass
that is not the model's, or of a force that is another. Where its weight is all that shows of a
mass, as on a vertical slide, so does a command whose zero is off, and both are named.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

import mujoco
import numpy as np

from sysid_ros.diagnosis.evidence import (
    Change,
    Declared,
    Explanation,
    Family,
    Finding,
    FindingKind,
    Recorded,
    Turned,
    joint_pairs,
    repaired_series,
    resolution_of,
    total_delays,
)
from sysid_ros.diagnosis.fits import (
    OneMass,
    WindowScores,
    delay_of,
    found_by_fits,
    gain_of,
    gravity_of,
    hidden_masses,
    mass_of,
    moving_masses,
    one_mass,
    springs,
    with_names,
    zero_of,
)
from sysid_ros.diagnosis.simulated import mass_finding
from sysid_ros.diagnosis.simulated.all_masses import all_masses_off, common_factor
from sysid_ros.diagnosis.simulated.changed_load import body_of, changed_load
from sysid_ros.diagnosis.simulated.mistaken_forces import MovingForces, is_most
from sysid_ros.diagnosis.simulated.moved_mass import moved_mass, suspected_bodies
from sysid_ros.diagnosis.simulated.simulated_entries import Simulated
from sysid_ros.diagnosis.simulated.tilted_gravity import turned_gravity
from sysid_ros.engine.elements import FREE, body_label
from sysid_ros.engine.parameters import Parameter, ParameterDict
from sysid_ros.engine.signals import ModelSequences
from sysid_ros.engine.simulation import RolloutPool
from sysid_ros.engine.uncertainty import sensor_of
from sysid_ros.errors import DataError

_ALIKE = 1.2  # ratio of powers up to which a mass leaves as little as other zeros of commands do
_LESS = 0.95  # of what is left of a signal that shows a mass, once it is another
_UNEXPLAINED = 0.2  # of signals' variation, from which on something else is wrong
_LATE = 0.015  # s, from which a delay is told that no equation of joints shows
_BETTER_WINDOWS = 0.75  # of the windows, in which it must be better


@dataclass(frozen=True)
class WindowTest:
    """Simulated windows, with what a fit finds in them and what it does not."""

    recorded: Recorded  # what was recorded
    model: mujoco.MjModel  # the robot, whole and with the names that its file gives
    sequences: ModelSequences  # what was recorded as it is simulated, with a name for each body
    length: float | None  # of windows, s
    usual: ParameterDict  # what a fit finds
    # of it, the delays of topics by their labels, and what was known of them before
    delays: Mapping[tuple[str, ...], float]
    masses: Mapping[str, Parameter]  # masses that a fit does not find, each by its body's name
    weighed: tuple[str, ...]  # names of bodies whose masses it finds, and not their centres
    zeros: Mapping[str, Parameter]  # biases of servos' commands that it does not find, by label
    # those of the forces of which several move a free body, by label
    factors: Mapping[str, Parameter]
    springs: Mapping[str, Parameter]  # stiffnesses of the model that it does not find, by name
    # of a robot that is fixed to something, of which the experiment says nothing
    gravity: Parameter | None
    # whether any may be told: beside gains that nobody knows once these are free
    tells_masses: bool

    @classmethod
    def of(
        cls,
        recorded: Recorded,
        sequences: ModelSequences,
        declared: Declared,
        repairs: Sequence[Change],
        length: float | None,
        topics: Mapping[str, str],
    ) -> WindowTest:
        """The test of recordings.

        Args:
          recorded: What was recorded, mistakes repaired.
          sequences: The same as it is simulated, not repaired.
          declared: What the experiment declares.
          repairs: The repairs.
          length: Of its windows, s.
          topics: The topic of each entry's signal by its label.
        """
        model = sequences.gt_model
        bodies = {
            body: body_label(model, body)
            for body in moving_masses(model)
            if model.body(body).name or model.body_jntnum[body]  # parts of others have none
        }
        repair = partial(repaired_series, changes=repairs)
        own = with_names(sequences, bodies).replaced(
            control=[repair(one) for one in sequences.control],
            sensordata=[repair(one) for one in sequences.sensordata],
        )
        could_be, concern = Simulated(recorded, topics), declared.concern
        usual, known = declared.params.copy(), total_delays(repairs)
        for one in found_by_fits(own, concern):
            usual.add(one)
        delays: dict[tuple[str, ...], float] = {}
        for topic, labels in could_be.by_topic().items():
            late = tuple(one for one in labels if not concern("signal", one, "delay"))
            if late:
                delays[late] = float(np.mean([known.get(label, 0.0) for label in late]))
                usual.add(delay_of(topic, late, delays[late]))
        fixed = not np.any(model.jnt_type == FREE)
        servos = {**recorded.servos, **recorded.others}.values()
        efforts, together = recorded.efforts.items(), could_be.moves_with_others
        forces = [label for actuator, label in efforts if together(actuator)]
        return cls(
            recorded, model, own, length, usual, delays,
            {name: mass_of(own, name) for name in bodies.values() if not concern("body", name)},
            tuple(
                name for one in declared.params.free() if (name := body_of(one)) in bodies.values()
                and not concern("body", name, "com_", "mass_ipos")
            ),
            {one: zero_of(one) for one in servos if not concern("signal", one, "bias")},
            {one: gain_of(one) for one in forces if not concern("signal", one, "gain")},
            {one.name: one for one in springs(own, lambda *names: concern(*names, "stiffness"))},
            gravity_of(own) if fixed and declared.gravity() is None else None,
            declared.frees_gains(recorded),
        )  # fmt: skip

    def loads(self) -> list[Finding]:
        """The load that changes in the midst of a recording, if there is one."""
        beside = () if self.gravity is None else self.gravity.scalar_names()
        return changed_load(self._windows, self.usual, self.masses, beside)

    def masses_off(self) -> list[Finding]:
        """The mass that is not the model's, if there is one, or all of them by one factor."""
        if not self.tells_masses or (windows := self._weighed) is None:
            return []
        usual = _names(self.usual)
        tested = {} if self.springs else self.masses
        if whole := all_masses_off(windows, tested, usual, self._linearized):
            return [mass_finding.told_masses(whole, self._shown(whole.felt))]
        springs: tuple[Parameter, ...] = ()
        off, beside = self._mass_off(windows)
        if off is not None and self.springs:
            springs = tuple(self.springs.values())
            windows = self._linearized(*springs, patient=windows.patient, begun=windows)
            if windows is None:
                return []
            off, beside, springs = self._told_from_springs(windows)
        near = None if off is None else self._nearer(windows, off, beside, *springs)
        moved = self._moved_masses({} if near is None else near[1])
        if moved or off is None or near is None:
            return moved
        zeros = _names(self.zeros)
        if not zeros or not set(zeros).isdisjoint(beside):
            return [self._finding(near[0], "")]
        scores, most = windows.scores(zeros, usual), _ALIKE * off.left
        return [self._finding(near[0], *mass_finding.of_zeros(scores, [*self.zeros], most))]

    def _moved_masses(self, told: Mapping[str, float]) -> list[Finding]:
        """The body that weighs differently and elsewhere, whatever springs do, if there is one.

        Args:
          told: What the one mass that is told leaves of each signal; nothing without one.
        """
        windows, tested = self._weighed, _names(self.masses)
        if windows is None or not tested:
            return []
        beside = [*_names(self.usual), *_names(self.zeros)]
        scores, masses = windows.scores(tested, beside), self.masses
        suspects = suspected_bodies(scores, masses, self.weighed, self.sequences)
        linearized = partial(self._linearized, *self.springs.values())
        found = moved_mass(windows, suspects, tested, [*beside, *self.springs], linearized, told)
        if found is None:
            return []
        return [found.finding(self.model, self._shown(found.felt), self.factors, self.zeros)]

    def _told_from_springs(
        self, windows: WindowScores
    ) -> tuple[OneMass | None, list[str], tuple[Parameter, ...]]:
        """The mass that is off whatever springs do, as a soft one gives like under more weight.

        Returns:
          It, columns that it is told from and springs among them: none where only their being the
          model's tells it. No mass where springs explain more.
        """
        off, beside = self._mass_off(windows)
        with_springs = [*beside, *self.springs]
        scores = windows.scores(_names(self.masses), with_springs)
        if (still := one_mass(scores)) is not None:
            return still, with_springs, tuple(self.springs.values())
        return (None if off is None or off.left > _ALIKE * scores.left else off), beside, ()

    def _mass_off(self, windows: WindowScores) -> tuple[OneMass | None, list[str]]:
        """The mass that may be off, and what it is told from: zeros of commands if it can be."""
        if not self.masses:
            return None, []
        tested, usual = _names(self.masses), _names(self.usual)
        beside = [*usual, *_names(self.zeros)]
        most = windows.scores(tested, beside)
        off = one_mass(most)
        if off is not None:
            return off, beside
        off = one_mass(windows.scores(tested, usual))
        return (None if off is None or off.left > _ALIKE * most.left else off), usual

    def turned(self) -> Turned | None:
        """Gravity from elsewhere, or none, that explains most of what is left."""
        if self._windows is None or self.gravity is None:
            return None
        model, columns = self.sequences.gt_model, (_names(self.usual), _names(self.masses))
        return turned_gravity(self._windows, self.gravity, *columns, model, self._linearized)

    def late_inputs(self) -> list[Explanation]:
        """Delays of inputs that no equation of joints shows."""
        if (windows := self._windows) is None:
            return []
        unseen, found = Simulated(self.recorded, {}).unequalled(), []
        for labels, known in self.delays.items():
            name = _names(self.usual, labels)[0]
            late = windows.value(name) - known
            if unseen.isdisjoint(labels) or name in windows.held or abs(late) < _LATE:
                continue
            rest = [one for one in (*_names(self.usual), *_names(self.masses)) if one != name]
            scores = windows.scores([name], rest)
            unit, best = float(scores.sizes[0]), float(scores.gained()[0][0])
            more, better = scores.better(0, -late / unit, best)
            left = scores.left - float(scores.gained()[1][0])
            suspects = [name, *_names(self.zeros), *_names(self.factors)]
            noise = windows.together(suspects, rest)[1] * scores.left
            if not is_most(more, left, noise) or better < _BETTER_WINDOWS:
                continue
            near = self._settled(windows)
            scores = near.scores([name], rest)
            unit, best = float(scores.sizes[0]), float(scores.gained()[0][0])
            late = near.value(name) - known + best * unit
            reach = unit * scores.reach(0, best) + resolution_of(self.recorded, labels)
            change = Family(FindingKind.LAG, labels, ()).change(late)
            shares = _shares(left + more, left)
            found.append(Explanation(change, late, *shares, (late - reach, late + reach)))
        return found

    def mistaken_forces(self) -> list[Explanation]:
        """The sign, the factor or the exchange of several forces that move a free body."""
        windows, recorded = self._windows, self.recorded
        if windows is None or not self.factors:
            return []
        own = [actuator for actuator, one in recorded.efforts.items() if one in self.factors]
        arms = dict.fromkeys(joint for actuator in own for joint in recorded.arms(actuator))
        driven = [joint for joint in arms if joint in recorded.positions]
        measured = [joint_pairs(recorded, *pair) for pair in itertools.combinations(driven, 2)]
        usual, masses = _names(self.usual), _names(self.masses)
        shown = Simulated(recorded, {}).compared(windows.left)
        forces = MovingForces(
            windows, self.factors, usual, masses, self._linearized, self._repaired
        )
        return forces.mistaken(measured, shown)

    def _repaired(self, change: Change) -> WindowScores | None:
        """The windows, linearized after a repair."""
        repair = partial(repaired_series, changes=[change])
        sequences = self.sequences.replaced(
            control=[repair(one) for one in self.sequences.control],
            sensordata=[repair(one) for one in self.sequences.sensordata],
        )
        return replace(self, sequences=sequences)._linearized()

    def note(self) -> str:
        """In words that masses cannot be tested, or those of some bodies; empty without any."""
        if not self.masses:
            return ""
        if (windows := self._windows) is None:
            return mass_finding.UNTESTED
        hidden = hidden_masses(windows.scores(_names(self.masses), _names(self.usual)))
        return mass_finding.told_hidden([self._body(name) for name in hidden])

    @cached_property
    def _windows(self) -> WindowScores | None:
        """Windows linearized at the model's values; ``None`` where there are too few."""
        windows = self._linearized()
        if windows is None or windows.settled or not self.tells_masses:
            return windows
        off = self._mass_off(windows)[0]
        if off is None and common_factor(windows, self.masses, _names(self.usual)) is None:
            return windows
        # What a few steps of a fit leave may look like a mass, and be gone after a few more.
        return self._linearized(patient=True, begun=windows)

    def _settled(self, windows: WindowScores) -> WindowScores:
        """The same at the end of a fit, of which a few steps end on the way to a long delay."""
        if windows.patient or windows.settled:
            return windows
        return self._linearized(patient=True, begun=windows) or windows

    @cached_property
    def _weighed(self) -> WindowScores | None:
        """The same for masses: at the end of a fit, as steps from guessed gains hide them."""
        windows = self._windows
        if windows is None or windows.patient or windows.settled or not self.recorded.guessed:
            return windows
        return self._linearized(patient=True, begun=windows)

    def _linearized(
        self, *moved: Parameter, patient: bool = False, begun: WindowScores | None = None
    ) -> WindowScores | None:
        """The same with some of the suspects elsewhere, fitted on from others or to the end."""
        suspects = (*self.masses.values(), *self.zeros.values(), *self.factors.values())
        suspects += moved if self.gravity is None else (self.gravity, *moved)
        if not suspects:
            return None
        suspected = ParameterDict({one.name: one for one in suspects})
        with RolloutPool(1) as pool:
            try:
                return WindowScores.of(
                    self.sequences, self.usual, suspected, self.length, pool,
                    patient=patient, begun=begun,
                )  # fmt: skip
            except DataError:  # no window is long enough
                return None

    def _nearer(
        self, windows: WindowScores, off: OneMass, beside: list[str], *besides: Parameter
    ) -> tuple[OneMass, Mapping[str, float]] | None:
        """The same with that mass, and what it leaves of each signal; ``None`` if as much."""
        body = self._body(off.name)
        moved = self.masses[body].copy()
        moved.update_from_vector(np.clip((1.0 + off.step) * moved.nominal, *moved.get_bounds()))
        there = self._linearized(moved, *besides, patient=windows.patient, begun=windows)
        if there is None or not any(there.left[k] < _LESS * windows.left[k] for k in off.felt):
            return None
        if there.unexplained(off.felt) > _UNEXPLAINED:
            return None
        near = off.refined(there.scores([off.name], beside))
        return None if near is None else (near, there.left)

    def _body(self, name: str) -> str:
        """The body of a mass's column."""
        return next(body for body, one in self.masses.items() if one.name == name)

    def _finding(self, off: OneMass, rival: str, zero: str = "") -> Finding:
        """The finding, with the line that frees the mass."""
        rivals = tuple((self._body(name), 1.0 + step) for name, step in off.others.items())
        known = bool({*self.recorded.servos} - self.recorded.guessed)
        factor, body = 1.0 + off.step, self._body(off.name)
        rival = rival or (mass_finding.of_servos(factor, known=known) if self.zeros else "")
        what = (self.model, body, (factor, off.reach), self._shown(off.felt))
        return replace(mass_finding.told_mass(*what, rivals, rival), zero=zero)

    def _shown(self, signals: Sequence[str]) -> tuple[str, ...]:
        """The joints that signals are measured on, or the signals."""
        told = (*self.recorded.positions.items(), *self.recorded.velocities.items())
        joints = {label: self.recorded.joint_name(one) for one, label in reversed(told)}
        return tuple(dict.fromkeys(joints.get(one, one) for one in map(sensor_of, signals)))


def _names(
    parameters: Mapping[str, Parameter] | ParameterDict, labels: tuple[str, ...] = ()
) -> list[str]:
    """Names of the columns of free parameters, or of that of some signals."""
    return [
        name
        for one in parameters.values()
        if not one.frozen and (not labels or getattr(one.modifier, "names", ()) == labels)
        for name in one.scalar_names()
    ]


def _shares(before: float, after: float) -> tuple[float, float]:
    """Shares of what a repair leaves, before and after, root mean squares."""
    return 1.0, float(np.sqrt(max(after, 0.0) / before))
