# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Mistakes that a simulation tells of robots which no equation of single joints covers.

Where joints are not measured, roll on wheels, stand on feet or hang on tendons, windows of the
recordings are simulated with the model as it is. Where it explains a signal badly, repairs compete:
one is accepted that lets the model explain what it did not, in most windows, spoils nothing, and
does better than other frictions do.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import mujoco
import numpy as np
import scipy

from sysid_ros.arrays import FloatArray
from sysid_ros.diagnosis.explanation import Explanation, named_degrees, size_interval
from sysid_ros.diagnosis.filtered import total_delays
from sysid_ros.diagnosis.finding import Change, FindingKind, repaired_series
from sysid_ros.diagnosis.fits import (
    VISIBLE,
    OpenLoop,
    decisive,
    explained_more,
    helped_signals,
    left_of_helped,
    signals_misfit,
)
from sysid_ros.diagnosis.hypotheses import DEGREE, Family, covered_positions, told_actuators
from sysid_ros.diagnosis.recorded import Recorded
from sysid_ros.engine.elements import is_velocity_servo
from sysid_ros.engine.parameters import ParameterDict
from sysid_ros.engine.signals import ModelSequences
from sysid_ros.engine.simulation import RolloutPool
from sysid_ros.errors import DataError

_ROUNDS = 3
_SPOILED = 0.05  # of a signal's power that a repair may add, besides a third of what was there
_SAME = 1.2  # ratio of powers up to which two repairs are as good as each other
_SMALLEST_FACTOR = 1.6
_SMALLEST_OFFSET = 0.1  # rad; of a slide, of its range
_SMALLEST_LAG = 0.01  # s
_SCALES = (0.1, 0.5, 2.0)
_OFFSETS = (-0.5, 0.5)
_LAGS = (0.05, 0.15)  # s
_REFINED = 2  # repairs whose sizes are refined
_STEPS = 9  # simulations of each
_SETTLED = 0.02  # of the power, that a sign, a unit or an exchange leaves if it is all
_AS_MUCH = 0.9  # of what the best repair explains, that another must
_HARDER = (0.1, 0.3)  # of servos' usual efforts, that friction may take in truth
_GROSS = 0.4  # of a signal's power, that a wrong sign, unit or place leaves at the least
_WORST = 4  # signals of which repairs and exchanges are tried
_ORDER = (
    FindingKind.SIGN, FindingKind.DEGREES, FindingKind.SWAP, FindingKind.OFFSET, FindingKind.SCALE,
    FindingKind.LAG,
)  # fmt: skip


@dataclass(frozen=True)
class _Tried:
    """A repair of one or two parts, and what it leaves of each signal by window."""

    changes: tuple[Change, ...]
    size: float
    powers: Mapping[str, FloatArray]

    @property
    def kind(self) -> FindingKind:
        return self.changes[0].kind


def simulated_explanations(
    recorded: Recorded,
    sequences: ModelSequences,
    params: ParameterDict,
    length: float | None,
    done: Sequence[Change],
    topics: Mapping[str, str],
) -> list[Explanation]:
    """The repairs with which a simulation explains what it does not without them.

    Args:
      recorded: What was recorded, mistakes that other tests found repaired.
      sequences: The same as it is simulated, not repaired.
      params: Those that a fit would start from.
      length: Of windows, s.
      done: The repairs.
      topics: The topic of each entry's signal by its label.
    """
    if recorded.is_open_chain and len(told_actuators(recorded)) == recorded.model.nu:
        return []  # every joint has an equation of its own
    found: list[Explanation] = []
    with RolloutPool(1) as pool:
        test = OpenLoop(sequences, params, length, pool)
        test = test.after(partial(repaired_series, changes=done))
        search = _Search(recorded, test if recorded.coordinates else test.shortened(), topics)
        try:
            for _ in range(_ROUNDS):
                more = search.best([one.change for one in found])
                found += more
                if not more:
                    break
        except DataError:  # no window is long enough
            return []
    return found


class _Search:
    """Finds the best next repair.

    Args:
      recorded: What was recorded.
      test: Simulates it.
      topics: The topic of each entry's signal.
    """

    def __init__(self, recorded: Recorded, test: OpenLoop, topics: Mapping[str, str]) -> None:
        self._recorded, self._test, self._topics = recorded, test, topics
        self._inputs = {**recorded.commands, **recorded.efforts}
        self._covered = covered_positions(recorded)

    def _powers(self, *changes: Change) -> dict[str, FloatArray]:
        """The remainder of signals, without sensors that positions alone explain or contradict."""
        powers = _powers(self._test, changes)
        if not self._recorded.coordinates:
            return powers
        sensors = {name for signals in self._recorded.vectors for name in signals}
        poses = {
            name for name in sensors if any(part in name for part in ("_position", "_orientation"))
        }
        return {
            name: power for name, power in powers.items()
            if name.partition("[")[0] not in sensors - poses
        }  # fmt: skip

    def best(self, done: list[Change]) -> list[Explanation]:
        """The best repair beside those that are done, in its parts; none where none is decisive."""
        before = self._powers(*done)
        size = {name: float(np.mean(power)) for name, power in before.items()}
        bad = sorted(
            (n for n in size if size[n] > VISIBLE and n not in self._covered),
            key=lambda n: -size[n],
        )
        if not bad:
            return []

        def tried(changes: tuple[Change, ...], size: float = 0.0) -> _Tried:
            return _Tried(changes, size, self._powers(*done, *changes))

        measured = self._measured(bad)
        inputs = self._driving(measured)
        gross = self._measured([name for name in bad if size[name] > _GROSS])
        seen = [tried(one) for one in self._discrete(self._driving(gross), gross)] if gross else []
        accepted = [one for one in seen if self._accepted(before, one)]
        if not any(left_of_helped(before, one.powers) < _SETTLED for one in accepted):
            accepted += self._sized(before, inputs, measured, tried)
        accepted.sort(key=lambda one: -explained_more(before, one.powers))
        accepted = [one for one in accepted if self._beats_friction(done, before, one)]
        if not accepted:
            return []
        most = explained_more(before, accepted[0].powers)
        good = [one for one in accepted if explained_more(before, one.powers) > _AS_MUCH * most]
        left = min(left_of_helped(before, one.powers) for one in good)
        equal = [
            one for one in good if left_of_helped(before, one.powers) <= _SAME * left + _SETTLED
        ]
        return self._explained(before, min(equal, key=_simplicity), equal, done)

    def _discrete(self, inputs: list[str], measured: list[str]) -> Iterator[tuple[Change, ...]]:
        """Signs, degrees and exchanges, these with signs."""
        for label in (*inputs, *measured):
            yield (Change(FindingKind.SIGN, scale={label: -1.0}),)
            if self._is_angle(label):
                for factor in (DEGREE, 1.0 / DEGREE):
                    yield (Change(FindingKind.DEGREES, scale={label: factor}),)
        for one, other in (*self._pairs(inputs), *self._pairs(measured)):
            swap = Change(FindingKind.SWAP, exchange=((one, other),))
            yield (swap,)
            for turned in ((one,), (other,), (one, other)):
                yield (swap, Change(FindingKind.SIGN, scale=dict.fromkeys(turned, -1.0)))

    def _sized(
        self,
        before: Mapping[str, FloatArray],
        inputs: list[str],
        measured: list[str],
        tried: Callable[..., _Tried],
    ) -> list[_Tried]:
        """Those of offsets, scales and lags that are accepted at their best sizes."""
        topics: dict[str, list[str]] = {}
        for label in self._inputs.values():
            topics.setdefault(self._topics[label], []).append(label)
        families = [one for label in (*inputs, *measured) for one in self._families(label)]
        families += [Family(FindingKind.LAG, tuple(labels), _LAGS) for labels in topics.values()]
        seen = []
        for family in families:
            own = [tried((family.change(size),), size) for size in family.sizes]
            best = max(own, key=lambda one: explained_more(before, one.powers))
            seen.append((explained_more(before, best.powers), family, best))
        seen.sort(key=lambda one: -one[0])
        refined = [_refined(before, *one[1:], tried) for one in seen[:_REFINED] if one[0] > 0.0]
        return [one for one in refined if self._accepted(before, one)]

    def _measured(self, bad: list[str]) -> list[str]:
        """Entries of signals, the first few."""
        found = dict.fromkeys(name.partition("[")[0] for name in bad)
        return [label for label in found if label in self._topics][:_WORST]

    def _driving(self, measured: list[str]) -> list[str]:
        """Inputs that may be to blame: of the joints that are explained badly, or all."""
        joints = {j for j, label in self._recorded.positions.items() if label in measured}
        own = [
            label for actuator, label in self._inputs.items()
            if joints & {*self._recorded.arms(actuator)}
        ]  # fmt: skip
        unseen = [
            label for actuator, label in self._inputs.items()
            if not {*self._recorded.arms(actuator)} & {*self._recorded.positions}
        ]  # fmt: skip
        return list(dict.fromkeys([*own, *unseen]))

    def _pairs(self, labels: list[str]) -> Iterator[tuple[str, str]]:
        """Entries that may stand in each other's place: of one topic and one kind."""
        scalar = {*self._recorded.positions.values(), *self._inputs.values()}
        for one, other in itertools.combinations([x for x in labels if x in scalar], 2):
            if self._topics[one] == self._topics[other]:
                yield one, other

    def _joint(self, label: str) -> int | None:
        """The joint that a position or a position servo's command is of."""
        for joint, own in self._recorded.positions.items():
            if own == label:
                return joint
        for actuator, own in self._recorded.commands.items():
            if own == label and not is_velocity_servo(self._recorded.model, actuator):
                return self._recorded.joint_of(actuator)
        return None

    def _is_angle(self, label: str) -> bool:
        joint = self._joint(label)
        if joint is not None:
            return self._recorded.is_hinge(joint)
        model = self._recorded.model
        sensor = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_SENSOR, label)
        if sensor >= 0:
            return int(model.sensor_type[sensor]) == int(mujoco.mjtSensor.mjSENS_GYRO)
        return label in self._recorded.others.values()

    def _families(self, label: str) -> Iterator[Family]:
        """Scales and offsets; a torque's factor looks like that of masses."""
        if label not in self._recorded.efforts.values():
            yield Family(FindingKind.SCALE, (label,), _SCALES)
        joint = self._joint(label)
        if joint is not None and (unit := self._unit(joint)):
            yield Family(FindingKind.OFFSET, (label,), tuple(unit * one for one in _OFFSETS))

    def _unit(self, joint: int) -> float:
        """The unit of offsets: 1 rad, or the range of a slide."""
        recorded = self._recorded
        return 1.0 if recorded.is_hinge(joint) else float(np.ptp(recorded.model.jnt_range[joint]))

    def _accepted(self, before: Mapping[str, FloatArray], one: _Tried) -> bool:
        """Return whether a repair is decisive for some signals, spoils none, and matters."""
        helped = helped_signals(before, one.powers)
        spoiled = any(
            np.mean(power) > 1.33 * np.mean(before[name]) + _SPOILED
            for name, power in one.powers.items()
        )
        if not helped or spoiled or not self._matters(one):
            return False
        labels = one.changes[0].signals
        own = [name for name in before if name.partition("[")[0] in labels]
        if own and not {*own} & {*helped}:
            return False
        return decisive(signals_misfit(one.powers, helped), signals_misfit(before, helped))

    def _matters(self, one: _Tried) -> bool:
        size, label = abs(one.size), one.changes[0].signals[0]
        if one.kind is FindingKind.SCALE:
            degrees = named_degrees(size) and self._is_angle(label)
            return max(size, 1.0 / size) >= _SMALLEST_FACTOR and not degrees
        if one.kind is FindingKind.OFFSET:
            joint = self._joint(label)
            return joint is not None and size >= _SMALLEST_OFFSET * self._unit(joint)
        if one.kind is FindingKind.LAG:
            return size >= _SMALLEST_LAG
        return True

    def _beats_friction(
        self, done: list[Change], before: Mapping[str, FloatArray], one: _Tried
    ) -> bool:
        """Return whether no friction, damping or inertia of driven joints explains as much."""
        if one.kind not in (FindingKind.SCALE, FindingKind.LAG):
            return True
        helped = helped_signals(before, one.powers)
        after = signals_misfit(one.powers, helped)
        return all(
            decisive(after, signals_misfit(_powers(rival, done), helped))
            for rival in self._rivals(one)
        )

    def _rivals(self, one: _Tried) -> Iterator[OpenLoop]:
        """The model with joints that are harder to move."""
        labels = {*one.changes[0].signals}
        own = [
            actuator for actuator, label in self._inputs.items()
            if label in labels
            or any(self._recorded.positions.get(j) in labels for j in self._recorded.arms(actuator))
        ]  # fmt: skip
        joints = {
            self._recorded.joint_name(joint): abs(arm) * _usual_effort(self._recorded, actuator)
            for actuator in own
            for joint, arm in self._recorded.arms(actuator).items()
        }  # fmt: skip
        for share, attribute in itertools.product(_HARDER, ("frictionloss", "damping")):
            added = {joint: share * effort for joint, effort in joints.items()}
            yield self._test.with_resistance(attribute, added)

    def _explained(
        self,
        before: Mapping[str, FloatArray],
        first: _Tried,
        equal: list[_Tried],
        done: list[Change],
    ) -> list[Explanation]:
        helped = helped_signals(before, first.powers)
        share, after = (
            signals_misfit(before, helped).share,
            signals_misfit(first.powers, helped).share,
        )
        others = tuple(
            one.changes[0]
            for one in equal
            if one.kind is first.kind
            and {*one.changes[0].signals}.isdisjoint(first.changes[0].signals)
        )
        interval = None
        if first.size:
            interval = size_interval(
                first.changes[0], first.size,
                lambda change: signals_misfit(self._powers(*done, change), helped),
            )  # fmt: skip
        unique = {change.signals: change for change in others}
        parts = [Explanation(change, 0.0, share, after) for change in first.changes]
        parts[0] = replace(
            parts[0], size=first.size, interval=interval, alternatives=tuple(unique.values())
        )
        return parts


def _powers(test: OpenLoop, changes: Sequence[Change]) -> dict[str, FloatArray]:
    return test.powers(partial(repaired_series, changes=changes), total_delays(changes))


def _usual_effort(recorded: Recorded, actuator: int) -> float:
    """The force that an actuator makes of its usual input, a servo if nothing moved."""
    label = {**recorded.commands, **recorded.efforts}[actuator]
    usual = float(np.mean([np.std(one.values) for one in recorded.pooled(label)]))
    return usual * abs(float(recorded.model.actuator_gainprm[actuator, 0]))


def _refined(
    before: Mapping[str, FloatArray],
    family: Family,
    best: _Tried,
    tried: Callable[..., _Tried],
) -> _Tried:
    """The best size about one of a family's."""
    sizes = [*family.sizes, 1.0 if family.kind is FindingKind.SCALE else 0.0]
    place = sorted(sizes).index(best.size)
    low, high = (sorted(sizes)[min(max(place + k, 0), len(sizes) - 1)] for k in (-1, 1))
    by_ratio = family.kind is FindingKind.SCALE
    found = [best]

    def loss(place: float) -> float:
        size = float(math.exp(place) if by_ratio else place)
        found.append(tried((family.change(size),), size))
        return -explained_more(before, found[-1].powers)

    ends = (math.log(low), math.log(high)) if by_ratio else (low, high)
    scipy.optimize.minimize_scalar(
        loss, bounds=ends, method="bounded", options={"maxiter": _STEPS, "xatol": 1e-3}
    )
    return max(found, key=lambda one: explained_more(before, one.powers))


def _simplicity(one: _Tried) -> tuple[int, int, float]:
    return (
        len(one.changes),
        _ORDER.index(one.kind),
        float(np.mean([p.mean() for p in one.powers.values()])),
    )
