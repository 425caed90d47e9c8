# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Mistakes that a simulation tells of robots which no equation of single joints covers.

Where joints are not measured, roll on wheels, stand on feet or hang on tendons, windows of the
recordings are simulated with the model as it is. Where it explains a signal badly, repairs compete:
one is accepted that lets the model explain what it did not, in most windows, spoils nothing, and
does better than other frictions do.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import scipy

from sysid_ros.arrays import FloatArray
from sysid_ros.diagnosis.explanation import (
    RESOLUTION,
    Explanation,
    lag_interval,
    named_degrees,
    size_interval,
)
from sysid_ros.diagnosis.filtered import total_delays
from sysid_ros.diagnosis.finding import Change, FindingKind, repaired_series
from sysid_ros.diagnosis.fits import (
    VISIBLE,
    Misfit,
    OpenLoop,
    decisive,
    explained_more,
    helped_signals,
    left_of_helped,
    most_telling,
    signals_misfit,
    spoils,
)
from sysid_ros.diagnosis.hypotheses import Family, Simulated, covered_positions, told_actuators
from sysid_ros.diagnosis.recorded import Recorded
from sysid_ros.engine.parameters import ParameterDict
from sysid_ros.engine.signals import ModelSequences
from sysid_ros.engine.simulation import RolloutPool
from sysid_ros.errors import DataError

_ROUNDS = 3
_SAME = 1.2  # ratio of powers up to which two repairs are as good as each other
_SMALLEST_FACTOR = 1.6
_SMALLEST_OFFSET = 0.1  # rad; of a slide, of its range
_SMALLEST_LAG = 0.01  # s
_LAGS = (0.05, 0.15)  # s
_REFINED = 2  # repairs whose sizes are refined
_STEPS = 9  # simulations of each
_SETTLED = 0.02  # of the power, that a sign, a unit or an exchange leaves if it is all
_AS_MUCH = 0.9  # of what the best repair explains, that another must
_HARDER = (0.1, 0.3)  # of servos' usual efforts, that friction may take in truth
_HARDER_BY = 3.0  # ratio of either end of the shares about the better of these
_FRICTIONS = 6  # simulations that find the best
_GROSS = 0.4  # of a signal's power, that a wrong sign, unit or place leaves at the least
_TELLING = 1.0 / 3.0  # of the windows, on which repairs are tried first: with most to explain
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


# What is left of signals, and what scores a repair by what it leaves of them.
_Scored = tuple[Mapping[str, FloatArray], Callable[..., _Tried]]


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
        self._recorded, self._test = recorded, test
        self._could_be = Simulated(recorded, topics)
        self._covered = covered_positions(recorded)

    def _powers(
        self, *changes: Change, windows: Sequence[int] | None = None
    ) -> dict[str, FloatArray]:
        """The remainder of signals, without sensors that positions alone explain or contradict."""
        powers = _powers(self._test, changes, windows)
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
            (n for n in size if size[n] > (_GROSS if n in self._covered else VISIBLE)),
            key=lambda n: -size[n],
        )
        if not bad:
            return []

        def tried(changes: tuple[Change, ...], size: float = 0.0) -> _Tried:
            return _Tried(changes, size, self._powers(*done, *changes))

        telling = most_telling([before[name] for name in bad], _TELLING)

        def glanced(changes: tuple[Change, ...], size: float = 0.0) -> _Tried:
            return _Tried(changes, size, self._powers(*done, *changes, windows=telling))

        measured = self._measured(bad)
        inputs = self._could_be.driving(measured)
        gross = self._measured([name for name in bad if size[name] > _GROSS])
        could_be = self._could_be
        offered = could_be.discrete(could_be.driving(gross), gross) if gross else ()
        seen = [tried(one) for one in offered if _may_be_accepted(before, glanced(one))]
        accepted = [one for one in seen if self._accepted(before, one)]
        if not any(left_of_helped(before, one.powers) < _SETTLED for one in accepted):
            some = {name: power[telling] for name, power in before.items()}
            accepted += self._sized((before, tried), (some, glanced), inputs, measured)
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

    def _sized(
        self, whole: _Scored, telling: _Scored, inputs: list[str], measured: list[str]
    ) -> list[_Tried]:
        """Those of offsets, scales and lags that are accepted at their best sizes.

        Args:
          whole: What is left without them and with one, in all windows.
          telling: The same in the windows by which they are compared.
          inputs: Commands and efforts that may be to blame.
          measured: Entries of measured signals that may be.
        """
        (before, tried), (some, glanced) = whole, telling
        seen = []
        for family in self._could_be.sized(inputs, measured, _LAGS):
            own = [glanced((family.change(size),), size) for size in family.sizes]
            best = max(own, key=lambda one: explained_more(some, one.powers))
            seen.append((explained_more(some, best.powers), family, best))
        seen.sort(key=lambda one: -one[0])
        refined = []
        for gain, family, best in seen[:_REFINED]:
            near = _refined(some, family, best, glanced) if gain > 0.0 else best
            if not _may_be_accepted(before, near):
                continue
            if _may_be_accepted(before, tried(near.changes, near.size)):
                refined.append(_refined(before, family, tried(best.changes, best.size), tried))
        return [one for one in refined if self._accepted(before, one)]

    def _measured(self, bad: list[str]) -> list[str]:
        """Entries of signals, the first few."""
        found = dict.fromkeys(name.partition("[")[0] for name in bad)
        return [label for label in found if label in self._could_be.topics][:_WORST]

    def _accepted(self, before: Mapping[str, FloatArray], one: _Tried) -> bool:
        """Return whether a repair is decisive for some signals, spoils none, and matters."""
        helped = helped_signals(before, one.powers)
        if not (_may_be_accepted(before, one) and self._matters(one)):
            return False
        return decisive(signals_misfit(one.powers, helped), signals_misfit(before, helped))

    def _matters(self, one: _Tried) -> bool:
        size, label = abs(one.size), one.changes[0].signals[0]
        if one.kind is FindingKind.SCALE:
            degrees = named_degrees(size) and self._could_be.is_angle(label)
            return max(size, 1.0 / size) >= _SMALLEST_FACTOR and not degrees
        if one.kind is FindingKind.OFFSET:
            joint = self._could_be.joint(label)
            return joint is not None and size >= _SMALLEST_OFFSET * self._could_be.unit(joint)
        if one.kind is FindingKind.LAG:
            return size >= _SMALLEST_LAG
        return True

    def _beats_friction(
        self, done: list[Change], before: Mapping[str, FloatArray], one: _Tried
    ) -> bool:
        """Return whether no friction or damping of driven joints explains as much without it.

        Harder joints may be true beside it, too: what is left with both is what it is judged by.
        """
        if one.kind not in (FindingKind.SCALE, FindingKind.LAG):
            return True
        helped = helped_signals(before, one.powers)
        efforts = self._usual_efforts(one)

        def left(attribute: str, share: float, *changes: Change) -> Misfit:
            added = {joint: share * effort for joint, effort in efforts.items()}
            harder = self._test.with_resistance(attribute, added)
            return signals_misfit(_powers(harder, [*done, *changes]), helped)

        for attribute in ("frictionloss", "damping"):
            without = {share: left(attribute, share) for share in _HARDER}
            nearest = min(without, key=lambda share: without[share].share)
            with_both = min(
                (signals_misfit(one.powers, helped), left(attribute, nearest, *one.changes)),
                key=lambda each: each.share,
            )
            if not decisive(with_both, without[nearest]):
                return False
            rival = _least(partial(left, attribute), nearest)
            if not decisive(with_both, rival):
                return False
        return True

    def _usual_efforts(self, one: _Tried) -> dict[str, float]:
        """Forces of the actuators that a repair concerns, on the joints that they move, by name."""
        labels = {*one.changes[0].signals}
        own = [
            actuator for actuator, label in self._could_be.inputs.items()
            if label in labels
            or any(self._recorded.positions.get(j) in labels for j in self._recorded.arms(actuator))
        ]  # fmt: skip
        return {
            self._recorded.joint_name(joint): abs(arm) * _usual_effort(self._recorded, actuator)
            for actuator in own
            for joint, arm in self._recorded.arms(actuator).items()
        }

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
        change, interval = first.changes[0], None

        def score(change: Change) -> Misfit:
            return signals_misfit(self._powers(*done, change), helped)

        if first.kind is FindingKind.LAG:
            resolution = RESOLUTION * self._recorded.interval
            interval = lag_interval(change, first.size, score, resolution)
        elif first.size:
            interval = size_interval(change, first.size, score)
        unique = {change.signals: change for change in others}
        parts = [Explanation(change, 0.0, share, after) for change in first.changes]
        parts[0] = replace(
            parts[0], size=first.size, interval=interval, alternatives=tuple(unique.values())
        )
        return parts


def _may_be_accepted(before: Mapping[str, FloatArray], one: _Tried) -> bool:
    """Return whether a repair helps its own signals, if it has any, or others, and spoils none.

    It may have been tried in some windows only; in all it can only leave more.
    """
    labels = one.changes[0].signals
    own = {name for name in before if name.partition("[")[0] in labels}
    helped = helped_signals(before, one.powers)
    return not spoils(before, one.powers) and bool(own & {*helped} if own else helped)


def _powers(
    test: OpenLoop, changes: Sequence[Change], windows: Sequence[int] | None = None
) -> dict[str, FloatArray]:
    return test.powers(partial(repaired_series, changes=changes), total_delays(changes), windows)


def _usual_effort(recorded: Recorded, actuator: int) -> float:
    """The force that an actuator makes of its usual input, a servo if nothing moved."""
    label = {**recorded.commands, **recorded.efforts}[actuator]
    usual = float(np.mean([np.std(one.values) for one in recorded.pooled(label)]))
    return usual * abs(float(recorded.model.actuator_gainprm[actuator, 0]))


def _least(left: Callable[[float], Misfit], about: float) -> Misfit:
    """The least that friction leaves, of a share of usual efforts about one."""
    found: list[Misfit] = []

    def loss(place: float) -> float:
        found.append(left(math.exp(place)))
        return found[-1].share

    ends = math.log(about / _HARDER_BY), math.log(about * _HARDER_BY)
    scipy.optimize.minimize_scalar(
        loss, bounds=ends, method="bounded", options={"maxiter": _FRICTIONS, "xatol": 0.05}
    )
    return min(found, key=lambda each: each.share)


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
