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
    Explanation,
    lag_interval,
    named_degrees,
    resolution_of,
    size_interval,
)
from sysid_ros.diagnosis.filtered import total_delays
from sysid_ros.diagnosis.finding import Change, FindingKind, repaired_series
from sysid_ros.diagnosis.fits import (
    VISIBLE,
    Misfit,
    OpenLoop,
    beats_resistance,
    decisive,
    explained_more,
    helped_signals,
    helps,
    left_of_helped,
    most_telling,
    signals_misfit,
    spoils,
)
from sysid_ros.diagnosis.hypotheses import (
    Family,
    Simulated,
    covered_positions,
    offset_unit,
    told_actuators,
)
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
_REFINED, _STEPS = 2, 9  # repairs whose sizes are refined, and simulations of each
_SETTLED = 0.02  # of the power, that a sign, a unit or an exchange leaves if it is all
_AS_MUCH = 0.9  # of what the best repair explains, that another must
_GROSS = 0.4  # of a signal's power, that a wrong sign, unit or place leaves at the least
# Of what is left without it, and of all, where noise hides starts of what flies for a moment.
_FAR, _ROUGH = 0.125, 0.4
_TELLING = 1.0 / 3.0  # of the windows, on which repairs are tried first: with most to explain
_PAIRED = 2  # repairs beside which a lag is looked for where none is enough
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

    @property
    def left(self) -> float:
        return float(np.mean([power.mean() for power in self.powers.values()]))


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
    told = told_actuators(recorded)
    driven = {joint for actuator in told for joint in recorded.arms(actuator)}
    if (
        recorded.is_open_chain
        and len(told) == recorded.model.nu
        and driven >= {*recorded.positions}
    ):
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
        telling = most_telling([before[name] for name in bad], _TELLING)
        tried, glanced = partial(self._tried, done), partial(self._tried, done, windows=telling)
        some = {name: power[telling] for name, power in before.items()}
        measured = self._measured(bad)
        worst = [name for name in bad if size[name] > _GROSS]
        gross = self._measured(worst)  # a pose's two parts are no entries
        to_blame = self._could_be.driving(gross) if worst else []
        seen = [glanced(one) for one in self._could_be.discrete(to_blame, gross or measured)]
        promising = [tried(one.changes) for one in seen if _may_be_accepted(before, one)]
        # Commands that are alike may be exchanged and both reversed, or only that.
        promising += [
            tried(one.changes[1:]) for one in promising
            if {*one.changes[-1].scale} == {*one.changes[0].signals} and one.changes[1:]
        ]  # fmt: skip
        accepted = [one for one in promising if self._accepted(before, one)]
        if not worst:  # what swings by itself hides much of a sign: one is told if it is all
            accepted = [one for one in accepted if left_of_helped(before, one.powers) < _SETTLED]
            seen = []
        if not any(left_of_helped(before, one.powers) < _SETTLED for one in accepted):
            inputs = self._could_be.driving(measured)
            accepted += self._sized((before, tried), (some, glanced), inputs, measured)
        accepted = [one for one in accepted if self._beats_friction(done, before, one)]
        if not accepted:
            offered = self._could_be.reversed_pairs((*to_blame, *gross))
            pairs = [tried(one) for one in offered if _may_be_accepted(before, glanced(one))]
            accepted = [one for one in pairs if self._accepted(before, one)]
        if not accepted:
            seen.sort(key=lambda one: -explained_more(some, one.powers))
            seen = [one for one in seen if explained_more(some, one.powers) > 0.0]
            firsts = [tried(one.changes) for one in seen[:_PAIRED]]
            return self._beside_lag(before, firsts, telling, done)
        return self._selected(before, accepted, done)

    def _selected(
        self, before: Mapping[str, FloatArray], accepted: list[_Tried], done: list[Change]
    ) -> list[Explanation]:
        """The simplest of the best."""
        most = max(explained_more(before, one.powers) for one in accepted)
        good = [one for one in accepted if explained_more(before, one.powers) > _AS_MUCH * most]
        left = min(left_of_helped(before, one.powers) for one in good)
        equal = [
            one for one in good if left_of_helped(before, one.powers) <= _SAME * left + _SETTLED
        ]
        simplest = min(equal, key=lambda one: (len(one.changes), _ORDER.index(one.kind), one.left))
        return self._explained(before, simplest, equal, done)

    def _tried(
        self,
        done: list[Change],
        changes: tuple[Change, ...],
        size: float = 0.0,
        windows: Sequence[int] | None = None,
    ) -> _Tried:
        return _Tried(changes, size, self._powers(*done, *changes, windows=windows))

    def _beside_lag(
        self,
        before: Mapping[str, FloatArray],
        firsts: Sequence[_Tried],
        telling: list[int],
        done: list[Change],
    ) -> list[Explanation]:
        """A sign, a unit or an exchange that explains what it should only beside a lag."""
        for first in firsts:
            own = [*done, *first.changes]
            whole = (first.powers, partial(self._tried, own))
            some = {name: power[telling] for name, power in first.powers.items()}
            for late in self._sized(whole, (some, partial(whole[1], windows=telling)), [], []):
                helped = helped_signals(before, late.powers)
                share, after = (signals_misfit(powers, helped) for powers in (before, late.powers))
                if decisive(after, share) and self._beats_friction(own, first.powers, late):
                    parts = [
                        Explanation(one, 0.0, share.share, after.share) for one in first.changes
                    ]
                    return [*parts, *self._explained(first.powers, late, [late], own)]
        return []

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
        after, share = signals_misfit(one.powers, helped), signals_misfit(before, helped)
        far = not one.size and decisive(after, share, _FAR, _ROUGH)
        return far or decisive(after, share)

    def _matters(self, one: _Tried) -> bool:
        size, label = abs(one.size), one.changes[0].signals[0]
        if one.kind is FindingKind.SCALE:
            degrees = named_degrees(size) and self._could_be.is_angle(label)
            return max(size, 1.0 / size) >= _SMALLEST_FACTOR and not degrees
        if one.kind is FindingKind.OFFSET:
            joint = self._could_be.joint(label)
            return joint is not None and size >= _SMALLEST_OFFSET * offset_unit(
                self._recorded, joint
            )
        if one.kind is FindingKind.LAG:
            return size >= _SMALLEST_LAG
        return True

    def _beats_friction(
        self, done: list[Change], before: Mapping[str, FloatArray], one: _Tried
    ) -> bool:
        """Return whether no friction or damping of driven joints explains as much without it."""
        if one.kind not in (FindingKind.SCALE, FindingKind.LAG):
            return True
        helped = helped_signals(before, one.powers)
        efforts = self._could_be.usual_efforts(one.changes[0].signals)

        def left(attribute: str, share: float, *, repaired: bool) -> Misfit:
            added = {joint: share * effort for joint, effort in efforts.items()}
            harder = self._test.with_resistance(attribute, added)
            changes = [*done, *one.changes] if repaired else done
            return signals_misfit(_powers(harder, changes), helped)

        return beats_resistance(signals_misfit(one.powers, helped), left)

    def _explained(
        self,
        before: Mapping[str, FloatArray],
        first: _Tried,
        equal: list[_Tried],
        done: list[Change],
    ) -> list[Explanation]:
        helped = helped_signals(before, first.powers)
        share, after = (signals_misfit(one, helped).share for one in (before, first.powers))
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
            resolution = resolution_of(self._recorded, change.signals)
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
    """Return whether a repair helps its own signals, if it has any, or others, and spoils none."""
    labels = one.changes[0].signals
    own = {name for name in before if name.partition("[")[0] in labels}
    return not spoils(before, one.powers) and helps(before, one.powers, own)


def _powers(
    test: OpenLoop, changes: Sequence[Change], windows: Sequence[int] | None = None
) -> dict[str, FloatArray]:
    return test.powers(partial(repaired_series, changes=changes), total_delays(changes), windows)


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
