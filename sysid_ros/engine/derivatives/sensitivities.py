# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Exact derivatives of all runs on one model, and plain ones where they are not known.

One rollout per run, then one compiled pass along all of them, instead of one rollout per unknown.
The pass recomputes the equation of motion at every step; where it does not hold (a contact, a force
this package does not know), this step alone is differenced, and a model for which that happens
often is left to finite differences altogether. Parameters that change what the pass has no
table for are finite differences from the start.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from sysid_ros.arrays import BoolArray, FloatArray
from sysid_ros.engine.derivatives.forward_runs import ForwardRuns
from sysid_ros.engine.derivatives.model_changes import TablesReader
from sysid_ros.engine.derivatives.parameter_effects import ParameterEffects
from sysid_ros.engine.derivatives.run_pass import (
    Followed,
    Pass,
    Run,
    follow_runs,
    unknown_touches,
)
from sysid_ros.engine.derivatives.sensors import sensors_of, unsupported_sensor
from sysid_ros.engine.derivatives.uncovered_steps import differentiate_again
from sysid_ros.engine.mechanics import feet_pairs, touches_of, unsupported
from sysid_ros.engine.simulation import (
    BatchRollout,
    Candidate,
    ModelGroup,
    Perturbations,
    RolloutPool,
    RunBatch,
    RunJacobian,
    directional_quotients,
    finite_differences,
    perturbed,
    portions,
    run_slices,
    simulation_of,
)

MAX_CHUNK_BYTES = 64 << 20  # of the Jacobians of batches that are differentiated together
# Share of differenced steps up to which the others are worth the pass, which costs little beside.
MAX_DOUBTS = 0.75
EXACT = "exact"
# Relative to the scales of the unknowns. Where a joint begins to stick, or a limit to act, within
# one step's difference, it is the difference that is wrong, so the better of two counts.
CHECK_STEPS = (1e-5, 1e-7)
MAX_CHECK_ERROR = 0.01
CHECK_LENGTH = 1000  # steps of a long run
LOOK_EVERY = 20  # steps in which geoms that touch are looked for, which is a tenth of a pass

# A candidate, and the rollouts of all batches with it.
KnownPoint = tuple[Candidate, Sequence[BatchRollout]]


class Sensitivities:
    """Derivatives of one group's runs: windows, or whole recordings.

    Attributes:
      tolerated: Share of a run's steps that the pass need not cover: with so few the pass's
        derivatives of the run are taken as they are, a percent or so off, where that does.
      uncovered: The shares of the latest derivatives' runs that it did not cover, (w,); one where
        the last step is among them.

    Args:
      group: The runs and how candidates are made.
      rollouts: Where simulations run.
      upper: Upper bounds of the parameters, (p,).
      scale: A typical magnitude per parameter, (p,).
    """

    def __init__(
        self, group: ModelGroup[Any], rollouts: RolloutPool, upper: FloatArray, scale: FloatArray
    ) -> None:
        self._group = group
        self._rollouts = rollouts
        self._upper = upper
        self._scale = scale
        model = group.batches[0].model
        self._addresses = np.unique(np.concatenate([batch.readings for batch in group.batches]))
        sensors = np.unique(sensors_of(model, self._addresses)).tolist()
        self._obstacle = unsupported(model) or unsupported_sensor(model, sensors)
        self._effects = ParameterEffects(upper)
        self._seen = self._differenced = 0
        self._looked = False
        self.tolerated = 0.0
        self.uncovered: FloatArray = np.zeros(0)
        self._latest: tuple[bytes, Pass] | None = None
        self._reader = TablesReader(self._addresses)
        self.runs = ForwardRuns(self._addresses, rollouts)

    @property
    def gave_up(self) -> bool:
        """True if all derivatives are finite differences."""
        return self._obstacle is not None

    @property
    def doubted(self) -> float:
        """The share of steps so far whose derivatives are finite differences."""
        return 1.0 if self.gave_up else self._differenced / max(1, self._seen)

    def renew(self, group: ModelGroup[Any], scale: FloatArray) -> None:
        """Go on with the same runs of another builder."""
        group.builder.trust(self._group.builder)
        if group.builder.frozen != self._group.builder.frozen:
            self._reader = TablesReader(self._addresses)
        self._group, self._scale, self._latest = group, scale, None

    def sources(self) -> list[str]:
        """Per parameter ``exact``, or why it is not."""
        if self._obstacle is not None:
            return [f"finite differences: {self._obstacle}"] * len(self._upper)
        unfollowed = self._effects.unfollowed
        told = {j: f"finite differences: it changes {why}" for j, why in unfollowed.items()}
        return [told.get(j, EXACT) for j in range(len(self._upper))]

    def give_up(self, reason: str) -> None:
        """Use finite differences from now on."""
        self._obstacle = reason

    def learn_from(self, other: Sensitivities) -> None:
        """Take over what was found out about the same model on other runs."""
        self._group.builder.trust(other._group.builder)
        self._obstacle = self._obstacle or other._obstacle
        self.tolerated = max(self.tolerated, other.tolerated)
        self._effects.learn_from(other._effects)
        self.runs.trusted = other.runs.trusted
        if self._group.builder is other._group.builder and self._reads_as(other):
            self._latest = other._latest

    def _reads_as(self, other: Sensitivities) -> bool:
        """Return whether the same is read from models, by the same steps."""
        return (
            np.array_equal(self._addresses, other._addresses)
            and self._effects.touching == other._effects.touching
            and np.array_equal(self._scale, other._scale)
            and self._start_sensors == other._start_sensors
        )

    @property
    def _start_sensors(self) -> set[str]:
        """The sensors that starts are read from."""
        return {name for batch in self._group.batches for name in batch.start_sensors}

    def check(
        self,
        theta: FloatArray,
        deviations: FloatArray,
        known: Sequence[RunJacobian] | None = None,
    ) -> None:
        """Compare one directional derivative of the longest run, or its opening, with rollouts.

        The direction is drawn at random, the same in every process. Where the two differ, this
        class is wrong about the model, and finite differences are used from then on.

        Args:
          theta: The point, (p,).
          deviations: From each run's measured start, (w, n_start).
          known: All derivatives at the point, by batch, where there are any.
        """
        if self._obstacle is not None:
            return
        longest = max(
            (int(count), b, k)
            for b, batch in enumerate(self._group.batches)
            for k, count in enumerate(batch.samples)
        )
        batch = self._group.batches[longest[1]].opening(longest[2], CHECK_LENGTH)
        own = list(self._split(deviations))[longest[1]][longest[2]][np.newaxis]
        if known is None:
            exact = self._exact(theta, batch, own)
        else:
            rows = list(run_slices(self._group.batches[longest[1]].samples))[longest[2]]
            exact = known[longest[1]].of_rows(rows)
        if exact is None:
            return
        here = exact.residual
        if self.runs.trusted:
            here = self._moved(batch, theta, own, compare=True)
        # Inwards where a bound is near, and only where the pass gives the derivative.
        direction = np.random.default_rng(0).uniform(0.5, 1.5, theta.size) * self._scale
        direction[theta + 2.0 * max(CHECK_STEPS) * direction > self._upper] *= -1.0
        direction[list(self._effects.unfollowed)] = 0.0
        direction[self._hidden(theta)] = 0.0
        spread = batch.spread[0] * batch.seen

        def moved(step: float, solved: bool) -> FloatArray:
            own_step = own + step * spread
            return self._moved(batch, theta + step * direction, own_step, solved=solved)

        predicted = exact.jacobian @ np.concatenate([direction, spread])
        errors = []
        # Where MuJoCo's solver at the model's own tolerance leaves chance, converged runs count.
        for step, solved in itertools.product(CHECK_STEPS, (False, True)):
            there = partial(moved, solved=solved)
            begun = there(0.0) if solved else here
            for difference in directional_quotients(there, begun, step):
                m = len(difference)
                error, size = np.linalg.norm(predicted[:m] - difference), np.linalg.norm(difference)
                if not error > MAX_CHECK_ERROR * size:
                    return
                errors.append(error / size if size else np.inf)
        self.give_up(f"exact derivatives were {min(errors):.1%} off a rollout")

    def _hidden(self, theta: FloatArray) -> list[int]:
        """The parameters that move a site out of its body's frame or axes.

        MuJoCo takes it for that until it differs by a millionth.
        """
        pass_ = self._prepare(theta)
        alike = np.asarray(pass_.columns.base.model.site_sameframe) != 0
        moved = np.any(pass_.changes.site_places[alike], axis=(0, 1))
        return [j for j, hidden in zip(pass_.followed, moved.tolist(), strict=True) if hidden]

    def _exact(
        self, theta: FloatArray, batch: RunBatch, deviations: FloatArray
    ) -> RunJacobian | None:
        pass_ = self._prepare(theta)
        job = simulation_of(batch, pass_.columns.base, deviations)
        (rollouts,) = self._rollouts.run_batches([job])
        if rollouts.diverged.any():
            return None
        _, ((found, uncovered),) = self._followed(theta, pass_, [(batch, deviations, rollouts)])
        return None if uncovered.any() else found

    def _moved(
        self,
        batch: RunBatch,
        theta: FloatArray,
        deviations: FloatArray,
        *,
        compare: bool = False,
        solved: bool = False,
    ) -> FloatArray:
        """The residuals at other parameters and starts, of MuJoCo's rollouts."""
        candidate = self._group.builder.build(theta)
        run = self.runs.compared if compare else self._rollouts.run_batches
        job = simulation_of(batch, candidate, deviations)
        (done,) = run([job.solved() if solved else job])
        return batch.residual(candidate, done.sensordata)

    def derivatives(
        self, theta: FloatArray, deviations: FloatArray, known: KnownPoint | None = None
    ) -> Iterator[RunJacobian]:
        """Residuals and Jacobian of every batch, in order.

        Args:
          theta: The point, (p,).
          deviations: From each run's measured start, (w, n_start).
          known: The candidate and its rollouts, where the point was simulated already.
        """
        batches, own = self._group.batches, list(self._split(deviations))
        if self._obstacle is not None:
            columns = self._columns(theta, None if known is None else known[0])
            here = [None] * len(batches) if known is None else [e.sensordata for e in known[1]]
            for batch, start, data in zip(batches, own, here, strict=True):
                yield finite_differences(self._rollouts, batch, start, columns, known=data)
            return
        if known is not None and not self._looked:
            self._look_for_touches(*known)
        pass_ = self._prepare(theta, None if known is None else known[0])
        self.uncovered = np.zeros(0)
        plain: Perturbations | None = None
        sizes = [8 * int(b.samples.sum()) * (len(theta) + b.spread.shape[1]) for b in batches]
        for part in portions(sizes, MAX_CHUNK_BYTES):
            jobs = [
                simulation_of(batch, pass_.columns.base, start)
                for batch, start in zip(batches[part], own[part], strict=True)
            ]
            rollouts = self.runs.run_batches(jobs) if known is None else known[1][part]
            runs = list(zip(batches[part], own[part], rollouts, strict=True))
            sound = [each for each in runs if not each[2].diverged.all()]
            before, (pass_, done) = pass_, self._followed(theta, pass_, sound)
            unfollowed = tuple(self._effects.unfollowed)
            if unfollowed and (plain is None or pass_ is not before):
                plain = self._columns(theta, pass_.columns.base, unfollowed)
            yield from self._differentiate(runs, done, pass_, plain, theta)
            del jobs, rollouts, runs, sound, done  # makes room for the next part
        if self.doubted > MAX_DOUBTS:
            self.give_up("forces act along the motion, such as contacts, that it does not know")

    def _look_for_touches(self, candidate: Candidate, rollouts: Sequence[BatchRollout]) -> None:
        """Know of geoms that touch in some states, before a pass without contacts is in vain."""
        self._looked, model = True, candidate.model
        for each in () if self._effects.touching else rollouts:
            positions = each.states[::LOOK_EVERY, 1 : 1 + model.nq]
            if touches_of(model, positions, feet_pairs(model)).pair.size:
                self._effects.touch()
                return

    def _split(self, deviations: FloatArray) -> Iterator[FloatArray]:
        """The deviations of each batch's runs."""
        for own in run_slices(np.array([len(batch.spread) for batch in self._group.batches])):
            yield deviations[own]

    def _columns(
        self,
        theta: FloatArray,
        base: Candidate | None = None,
        components: Sequence[int] | None = None,
    ) -> Perturbations:
        """Columns for finite differences of rollouts."""
        return perturbed(
            self._group.builder, theta, self._upper, self._scale, base=base, components=components
        )

    def _prepare(self, theta: FloatArray, base: Candidate | None = None) -> Pass:
        key = theta.tobytes()
        if self._latest is None or self._latest[0] != key:
            self._latest = (key, self._prepared(theta, base))
        return self._latest[1]

    def _prepared(self, theta: FloatArray, base: Candidate | None) -> Pass:
        builder = self._group.builder
        base = base or builder.build(theta)
        found = self._effects.at(builder, base, theta, self._scale, self._start_sensors)
        parts, whole = self._reader.read(found.tables, static=not self._effects.unfollowed)
        return Pass(
            Perturbations(base, found.moved),
            found.followed,
            found.reading,
            found.tables.completed(found.changes),
            self._addresses,
            (whole,) if self._effects.touching else parts,
            whole,
            self._effects.touching,
        )

    def _followed(
        self, theta: FloatArray, pass_: Pass, runs: Sequence[Run]
    ) -> tuple[Pass, list[Followed]]:
        """Results of the pass along runs; once forces lack where geoms touch, with contacts."""
        done = follow_runs(pass_, runs, self._rollouts)
        if pass_.touching or not unknown_touches(pass_, runs, done):
            return pass_, done
        self._effects.touch()
        self._latest = None
        pass_ = self._prepare(theta, pass_.columns.base)
        return pass_, follow_runs(pass_, runs, self._rollouts)

    def _differentiate(
        self,
        runs: Sequence[Run],
        followed: Sequence[Followed],
        pass_: Pass,
        plain: Perturbations | None,
        theta: FloatArray,
    ) -> Iterator[RunJacobian]:
        """Residuals and Jacobians of batches, by finite differences where the pass is no use."""
        done = iter(followed)
        for batch, own, rollout in runs:
            steps = int(batch.steps.sum())
            self._seen += steps
            if rollout.diverged.all():
                self.uncovered = np.append(self.uncovered, np.ones(len(batch.steps)))
                self._differenced += steps
                columns = self._columns(theta, pass_.columns.base)
                data = rollout.sensordata
                yield finite_differences(self._rollouts, batch, own, columns, known=data)
                continue
            found, uncovered = next(done)
            uncovered = self._not_tolerated(batch, uncovered)
            if uncovered.any() or rollout.diverged.any():
                columns = self._columns(theta, pass_.columns.base)
                self._differenced += differentiate_again(
                    found, uncovered, pass_, columns, batch, own, rollout, self._rollouts
                )
            if plain is not None:  # last, as the pass leaves these columns at zero
                others = finite_differences(
                    self._rollouts, batch, own, plain, starts=False, known=rollout.sensordata
                )
                found.jacobian[:, list(self._effects.unfollowed)] = others.jacobian
            yield found

    def _not_tolerated(self, batch: RunBatch, uncovered: BoolArray) -> BoolArray:
        """Marks of the uncovered steps of a batch, but of runs where these are few enough."""
        firsts = np.cumsum(batch.steps) - batch.steps
        shares = np.add.reduceat(uncovered.astype(np.float64), firsts) / batch.steps
        # Where the pass could not go on, nothing is known of any step behind, nor of its reading.
        shares[uncovered[firsts + batch.steps - 1]] = 1.0
        self.uncovered = np.append(self.uncovered, shares)
        return uncovered & np.repeat(shares > self.tolerated, batch.steps)
