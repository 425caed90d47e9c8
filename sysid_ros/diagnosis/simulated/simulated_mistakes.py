# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Mistakes that a simulation tells of robots which no equation of single joints covers.

Where joints are not measured, roll on wheels, stand on feet or hang on tendons, windows of the
recordings are simulated. Where the model explains a signal badly, repairs compete: one is accepted
that explains what it did not, in most windows, spoils nothing, and beats other frictions.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.diagnosis.evidence import (
    Change,
    Explanation,
    FindingKind,
    Recorded,
    lag_interval,
    repaired_series,
    resolution_of,
    size_interval,
    total_delays,
)
from sysid_ros.diagnosis.fits import (
    Misfit,
    OpenLoop,
    beats_resistance,
    decisive,
    explained_more,
    helped_or_late,
    helped_signals,
    late_signals,
    left_of_helped,
    most_telling,
    signals_misfit,
    spoils,
)
from sysid_ros.diagnosis.simulated.simulated_entries import (
    Simulated,
    covered_positions,
    held_dofs,
    told_actuators,
)
from sysid_ros.diagnosis.simulated.tried_repairs import RepairsInSome, Tried, refined
from sysid_ros.diagnosis.simulated.unexplained_signals import Blame
from sysid_ros.engine.elements import n_actuators
from sysid_ros.engine.parameters import ParameterDict
from sysid_ros.engine.signals import ModelSequences
from sysid_ros.engine.simulation import RolloutPool
from sysid_ros.errors import DataError, listed

_ROUNDS = 3
_SAME = 1.2  # ratio of powers up to which two repairs are as good as each other
_LAGS = (0.05, 0.15)  # s
_REFINED = 2  # repairs whose sizes are refined
_SETTLED = 0.02  # of the power, that a sign, a unit or an exchange leaves if it is all
_AS_MUCH = 0.9  # of what the best repair explains, that another must
_CARRIED = 4.0  # of a joint's power, that a simulation without what moved it leaves
# Of what is left without it, and of all, where noise hides starts of what flies for a moment.
_FAR, _ROUGH = 0.125, 0.4
_TELLING = 1.0 / 3.0  # of the windows, on which repairs are tried first: with most to explain
_PAIRED = 2  # repairs beside which an offset or a lag is looked for where none is enough
_FEW = 4  # entries of a file, up to which every sign is tried so, and offsets
_ORDER = (
    FindingKind.SIGN, FindingKind.DEGREES, FindingKind.SWAP, FindingKind.OFFSET, FindingKind.SCALE,
    FindingKind.LAG,
)  # fmt: skip
_BESIDE = (FindingKind.OFFSET, FindingKind.LAG)


def simulated_explanations(
    recorded: Recorded,
    sequences: ModelSequences,
    params: ParameterDict,
    length: float | None,
    done: Sequence[Change],
    topics: Mapping[str, str],
    on_note: Callable[[str], None] = lambda _: None,
) -> list[Explanation]:
    """The repairs with which a simulation explains what it does not without them.

    Args:
      recorded: What was recorded, mistakes that other tests found repaired.
      sequences: The same as it is simulated, not repaired.
      params: Those that a fit would start from.
      length: Of windows, s.
      done: The repairs.
      topics: The topic of each entry's signal by its label.
      on_note: Told which joints something moved that the model lacks.
    """
    told = told_actuators(recorded)
    driven = {joint for actuator in told for joint in recorded.arms(actuator)}
    if (
        recorded.is_open_chain
        and len(told) == n_actuators(recorded.model)
        and driven >= {*recorded.positions}
    ):
        return []  # every joint has an equation of its own
    found: list[Explanation] = []
    with RolloutPool(1) as pool:
        repair = partial(repaired_series, changes=done)
        own = sequences.replaced(
            control=[repair(one) for one in sequences.control],
            sensordata=[repair(one) for one in sequences.sensordata],
        )
        test = OpenLoop(own, params, length, pool)
        test = test if recorded.coordinates else test.shortened()
        search = _Search(recorded, test, topics, total_delays(done))
        try:
            for _ in range(_ROUNDS):
                more = search.best([one.change for one in found])
                found += more
                if not more:
                    break
        except DataError:  # no window is long enough
            return []
    if not found and (carried := search.carried()):
        on_note(
            f"the model leaves {listed([repr(name) for name in carried], 4)} farther off than if "
            "nothing moved there, and neither drives nor holds it: if something outside moved it, "
            "as waves a ship, give it a position actuator that is told the measured position, too "
            "stiff to sag or lag"
        )
    return found


class _Search:
    """Finds the best next repair; ``delays`` [s] by label are those that other tests found."""

    def __init__(
        self,
        recorded: Recorded,
        test: OpenLoop,
        topics: Mapping[str, str],
        delays: Mapping[str, float],
    ) -> None:
        self._recorded, self._test = recorded, test
        self._known = (Change(FindingKind.LAG, delay=delays),)
        self._could_be = Simulated(recorded, topics)
        self._covered = covered_positions(recorded)
        self._latest: tuple[list[Change], OpenLoop] | None = None
        self._left: dict[str, float] = {}  # of each signal, shares of its variation, at last

    def carried(self) -> list[str]:
        """Joints without an actuator, spring or equality that move otherwise than they would."""
        recorded, held = self._recorded, held_dofs(self._recorded.model, [*self._could_be.inputs])
        return [
            recorded.joint_name(joint)
            for joint, label in recorded.positions.items()
            if not held[recorded.model.jnt_dofadr[joint]] and self._left.get(label, 0.0) > _CARRIED
        ]

    def _powers(
        self, *changes: Change, windows: Sequence[int] | None = None, test: OpenLoop | None = None
    ) -> dict[str, FloatArray]:
        powers = self._after(changes, test).powers(self._delays(changes), windows)
        return self._could_be.compared(powers)

    def _one_by_one(
        self, done: list[Change], changes: tuple[Change, ...], windows: Sequence[int]
    ) -> Iterator[dict[str, FloatArray]]:
        every = (*done, *changes)
        each = self._after(every).one_by_one(self._delays(every), windows)
        return map(self._could_be.compared, each)

    def _after(self, changes: tuple[Change, ...], test: OpenLoop | None = None) -> OpenLoop:
        """The recordings after repairs of values, the latest of which are asked about again."""
        values = [one for one in changes if one.kind is not FindingKind.LAG]
        if test is not None:
            return test.after(partial(repaired_series, changes=values))
        if self._latest is None or self._latest[0] != values:
            self._latest = values, self._test.after(partial(repaired_series, changes=values))
        return self._latest[1]

    def _delays(self, changes: tuple[Change, ...]) -> dict[str, float]:
        """By how much later inputs take effect after some repairs, s."""
        return total_delays((*self._known, *changes))

    def best(self, done: list[Change]) -> list[Explanation]:
        """The best repair beside those that are done, in its parts; none where none is decisive."""
        before = self._powers(*done)
        self._left = {name: float(np.mean(power)) for name, power in before.items()}
        blame = Blame.of(self._left, self._covered, self._could_be)
        if not blame.bad:
            return self._late(before, done)
        telling = most_telling([before[name] for name in blame.bad], _TELLING)
        tried = partial(self._tried, done)
        some = RepairsInSome(tried, partial(self._one_by_one, done), before, telling)
        options = [*self._could_be.discrete(blame.inputs, blame.entries, blame.partners)]
        seen = [one for one in map(some.promising, options) if one is not None]
        accepted = self._whole(before, seen, some)
        if not blame.worst:  # what swings by itself hides much of a sign: one is told if it is all
            accepted = [one for one in accepted if left_of_helped(before, one.powers) < _SETTLED]
            seen, options = [], []
        if not any(one.left_of(blame.bad) < _SETTLED for one in accepted):
            inputs = self._could_be.driving(blame.measured)
            accepted += self._sized(before, some, inputs, blame.measured)
        accepted = [one for one in accepted if self._beats_rivals(done, before, one)]
        if not accepted:
            signs = self._could_be.reversed_pairs((*blame.inputs, *blame.gross))
            pairs = [one for one in map(some.promising, signs) if one is not None]
            accepted = self._whole(before, pairs, some)
        if accepted:
            return self._selected(before, accepted, done)
        few = len(self._could_be.topics) <= _FEW  # so that offsets are tried, and lags anyway
        blamed = (blame.inputs, blame.entries) if few else ([], [])
        firsts = [tried(one) for one in _firsts(some, seen, options if few else [])]
        return self._beside(before, firsts, telling, blamed, done)

    def _whole(
        self, before: Mapping[str, FloatArray], seen: Sequence[Tried], some: RepairsInSome
    ) -> list[Tried]:
        """Signs, units and exchanges that are accepted in all windows."""
        promising = [one for one in seen if one.may_be_accepted(before)]
        found = [some.in_rest(one, before) for one in promising]
        # Commands that are alike may be exchanged and both reversed, or only that.
        found += [
            some.in_all(one.changes[1:]) for one in promising
            if {*one.changes[-1].scale} == {*one.changes[0].signals} and one.changes[1:]
        ]  # fmt: skip
        return [one for one in found if one is not None and self._accepted(before, one)]

    def _selected(
        self, before: Mapping[str, FloatArray], accepted: list[Tried], done: list[Change]
    ) -> list[Explanation]:
        """The simplest of the best."""
        most = max(explained_more(before, one.powers) for one in accepted)
        good = [one for one in accepted if explained_more(before, one.powers) > _AS_MUCH * most]
        left = [left_of_helped(before, one.powers) for one in good]
        enough = _SAME * min(left) + _SETTLED
        equal = [one for one, own in zip(good, left, strict=True) if own <= enough]

        def costs(one: Tried) -> tuple[int, int, float]:
            return len(one.changes), _ORDER.index(one.kind), -explained_more(before, one.powers)

        return self._explained(before, min(equal, key=costs), equal, done)

    def _tried(
        self,
        done: list[Change],
        changes: tuple[Change, ...],
        size: float = 0.0,
        windows: Sequence[int] | None = None,
    ) -> Tried:
        return Tried(changes, size, self._powers(*done, *changes, windows=windows))

    def _late(self, before: Mapping[str, FloatArray], done: list[Change]) -> list[Explanation]:
        """The delay of inputs that no equation covers, where all is explained but for a little."""
        late = late_signals(before)
        unseen = self._could_be.unequalled()
        for family in self._could_be.sized([], [], _LAGS) if late else ():
            if unseen.isdisjoint(family.labels):
                continue
            whole = partial(self._tried, done)
            tried = [whole((family.change(size),), size) for size in family.sizes]
            best = max(tried, key=lambda one: explained_more(before, one.powers))
            best = refined(before, family, best, whole)
            after, share = (signals_misfit(each, late) for each in (best.powers, before))
            if (
                decisive(after, share)
                and not spoils(before, best.powers)
                and self._could_be.matters(best.changes[0], best.size)
                and self._beats_rivals(done, before, best)
            ):
                return self._explained(before, best, [best], done)
        return []

    def _beside(
        self,
        before: Mapping[str, FloatArray],
        firsts: Sequence[Tried],
        telling: list[int],
        blamed: tuple[list[str], list[str]],
        done: list[Change],
    ) -> list[Explanation]:
        """A sign, a unit or an exchange beside which an offset or a lag explains the rest."""
        found: list[tuple[float, float, Tried, Tried]] = []
        for first in firsts:
            own = [*done, *first.changes]
            each = partial(self._one_by_one, own)
            some = RepairsInSome(partial(self._tried, own), each, first.powers, telling)
            for other in self._sized(first.powers, some, *blamed, kinds=_BESIDE):
                helped = helped_signals(before, other.powers)
                pair = signals_misfit(other.powers, helped), signals_misfit(before, helped)
                if helped and decisive(*pair):
                    found.append((pair[0].share, pair[1].share, first, other))
        for after, share, first, other in sorted(found, key=lambda one: one[0]):
            own = [*done, *first.changes]
            alone = self._tried(done, other.changes, other.size)
            helped = helped_signals(before, other.powers)
            pair = signals_misfit(other.powers, helped), signals_misfit(alone.powers, helped)
            instead = self._could_be.forces_like(first.changes[0], *other.changes)
            left = self._powers(*done, *instead) if instead else before
            as_forces = decisive(signals_misfit(left, helped), signals_misfit(before, helped))
            if decisive(*pair) and not as_forces and self._beats_rivals(own, first.powers, other):
                parts = [Explanation(one, 0.0, share, after) for one in first.changes]
                return [*parts, *self._explained(first.powers, other, [other], own)]
        return []

    def _sized(
        self,
        before: Mapping[str, FloatArray],
        some: RepairsInSome,
        inputs: list[str],
        measured: list[str],
        kinds: Collection[FindingKind] = _ORDER,
    ) -> list[Tried]:
        """Those of offsets, scales and lags that are accepted at their best sizes.

        ``before`` is left without them; ``inputs`` and ``measured`` are entries that may be wrong.
        """
        seen = []
        for family in self._could_be.sized(inputs, measured, _LAGS):
            if family.kind not in kinds:
                continue
            tried = [some.promising((family.change(size),), size) for size in family.sizes]
            if own := [one for one in tried if one is not None]:
                seen.append((family, min(own, key=some.left)))
        seen.sort(key=lambda one: some.left(one[1]))
        accepted = []
        for family, best in seen[:_REFINED]:
            near = some.refined(family, best) if some.left(best) < 0.0 else best
            if not near.may_be_accepted(before):
                continue
            if some.in_all(near.changes, near.size).may_be_accepted(before):
                every = some.in_all(best.changes, best.size)
                accepted.append(refined(before, family, every, some.in_all))
        return [one for one in accepted if self._accepted(before, one)]

    def _accepted(self, before: Mapping[str, FloatArray], one: Tried) -> bool:
        """Return whether a repair is decisive for some, spoils none, explains more, and matters."""
        helped = helped_signals(before, one.powers)
        gains = one.may_be_accepted(before) and explained_more(before, one.powers) > 0.0
        if not (gains and self._could_be.matters(one.changes[0], one.size)):
            return False
        after, share = signals_misfit(one.powers, helped), signals_misfit(before, helped)
        return decisive(after, share) or (not one.size and decisive(after, share, _FAR, _ROUGH))

    def _beats_rivals(
        self, done: list[Change], before: Mapping[str, FloatArray], one: Tried
    ) -> bool:
        """Return whether neither frictions of driven joints nor forces explain as much without."""
        if forces := self._could_be.forces_like(one.changes[0]):
            helped, otherwise = helped_signals(before, one.powers), self._powers(*done, *forces)
            return decisive(signals_misfit(one.powers, helped), signals_misfit(otherwise, helped))
        if one.kind not in (FindingKind.SCALE, FindingKind.LAG):
            return True
        helped = helped_or_late(before, one.powers)
        efforts = self._could_be.usual_efforts(one.changes[0].signals)

        def left(attribute: str, share: float, *, repaired: bool) -> Misfit:
            added = {joint: share * effort for joint, effort in efforts.items()}
            harder = self._test.with_resistance(attribute, added)
            changes = [*done, *one.changes] if repaired else done
            return signals_misfit(self._powers(*changes, test=harder), helped)

        return beats_resistance(signals_misfit(one.powers, helped), left)

    def _explained(
        self, before: Mapping[str, FloatArray], first: Tried, equal: list[Tried], done: list[Change]
    ) -> list[Explanation]:
        helped = helped_or_late(before, first.powers)
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
        unique = tuple({change.signals: change for change in others}.values())
        parts = [Explanation(change, 0.0, share, after) for change in first.changes]
        parts[0] = replace(parts[0], size=first.size, interval=interval, alternatives=unique)
        return parts


def _firsts(
    some: RepairsInSome, seen: Sequence[Tried], options: Sequence[tuple[Change, ...]]
) -> list[tuple[Change, ...]]:
    """Mistakes beside which an offset or a lag is looked for: what seems best, and signs."""
    best = sorted(seen, key=some.left)[:_PAIRED]
    firsts = [one.changes for one in best if some.left(one) < 0.0]
    signs = [one for one in options if len(one) == 1 and one[0].kind is FindingKind.SIGN]
    return [*firsts, *(one for one in signs if one not in firsts)]
