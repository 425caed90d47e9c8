# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Exact derivatives of all windows of one model, and plain ones where they are not known.

One rollout per window, then one compiled pass along it, instead of one rollout per unknown. The
pass recomputes the equation of motion at every step; where it does not hold (a contact, a force
this package does not know), the window is differentiated by finite differences, and a model for
which that happens often is left to them altogether. Parameters that change what the pass has no
table for are finite differences from the start.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.derivatives.model_changes import FollowedModel, model_derivative
from sysid_ros.engine.derivatives.model_tables import tables_of, unsupported
from sysid_ros.engine.derivatives.run_pass import Pass, differentiate_run
from sysid_ros.engine.derivatives.sensors import readings, sensors_of, unsupported_sensor
from sysid_ros.engine.simulation import (
    Candidate,
    ModelGroup,
    Perturbation,
    Perturbations,
    Rollout,
    RolloutPool,
    RunJacobian,
    SimulatedRun,
    finite_differences,
    perturbed,
    portions,
    start_sensors,
)

TABLE_STEP = 1e-6  # relative, for differences of compiled models, which are smooth
MAX_DOUBTS = 0.25  # share of violated windows beyond which a model is left to finite differences
MAX_CHUNK_BYTES = 64 << 20
EXACT = "exact"
# Relative to the scales of the unknowns. Where a joint begins to stick, or a limit to act, within
# one step's difference, it is the difference that is wrong, so the better of two counts.
CHECK_STEPS = (1e-5, 1e-7)
MAX_CHECK_ERROR = 0.01

# A candidate, and the rollouts of all windows with it.
KnownPoint = tuple[Candidate, Sequence[Rollout]]


class Sensitivities:
    """Derivatives of one group's windows, which may be whole recordings.

    Args:
      group: The windows and how candidates are made.
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
        model = group.windows[0].model
        self._addresses = np.unique(np.concatenate([w.readings for w in group.windows]))
        sensors = np.unique(sensors_of(model, self._addresses)).tolist()
        self._obstacle = unsupported(model) or unsupported_sensor(model, sensors)
        self._unfollowed: dict[int, str] = {}
        self._followed: set[int] = set()
        self._seen = self._violated = 0
        self._latest: tuple[bytes, Pass] | None = None

    @property
    def gave_up(self) -> bool:
        """True if all derivatives are finite differences."""
        return self._obstacle is not None

    def renew(self, group: ModelGroup[Any], scale: FloatArray) -> None:
        """Go on with the same windows of another builder."""
        group.builder.trust(self._group.builder)
        self._group, self._scale, self._latest = group, scale, None

    def sources(self) -> list[str]:
        """Per parameter ``exact``, or why it is not."""
        if self._obstacle is not None:
            return [f"finite differences: {self._obstacle}"] * len(self._upper)
        return [
            f"finite differences: it changes {self._unfollowed[j]}"
            if j in self._unfollowed
            else EXACT
            for j in range(len(self._upper))
        ]

    def give_up(self, reason: str) -> None:
        """Use finite differences from now on."""
        self._obstacle = reason

    def check(
        self,
        theta: FloatArray,
        deviations: Sequence[FloatArray],
        known: Sequence[RunJacobian] | None = None,
    ) -> None:
        """Compare one directional derivative of the longest window with rollouts.

        The direction is drawn at random, the same in every process. Where the two differ, this
        class is wrong about the model, and finite differences are used from then on.

        Args:
          theta: The point, (p,).
          deviations: From each window's measured start, (n_start,) each.
          known: All derivatives at the point, where there are any.
        """
        if self._obstacle is not None:
            return
        windows = self._group.windows
        k = int(np.argmax([window.n_samples for window in windows]))
        exact = self._exact(theta, windows[k], deviations[k]) if known is None else known[k]
        if exact is None:
            return
        # Inwards where a bound is near, and only where the pass gives the derivative.
        direction = np.random.default_rng(0).uniform(0.5, 1.5, theta.size) * self._scale
        direction[theta + 2.0 * max(CHECK_STEPS) * direction > self._upper] *= -1.0
        direction[list(self._unfollowed)] = 0.0
        predicted = exact.jacobian @ np.concatenate([direction, windows[k].spread])
        errors = []
        for step in CHECK_STEPS:
            once, twice = (
                self._moved(windows[k], theta + s * direction, deviations[k], s)
                for s in (step, 2.0 * step)
            )
            difference = (4.0 * once - twice - 3.0 * exact.residual) / (2.0 * step)
            error, size = np.linalg.norm(predicted - difference), np.linalg.norm(difference)
            if not error > MAX_CHECK_ERROR * size:
                return
            errors.append(error / size if size else np.inf)
        self.give_up(f"exact derivatives were {min(errors):.1%} off a rollout")

    def _exact(
        self, theta: FloatArray, window: SimulatedRun, deviation: FloatArray
    ) -> RunJacobian | None:
        pass_ = self._prepare(theta)
        (rollout,) = self._rollouts.run([window.job(pass_.columns.base, deviation)])
        return differentiate_run(pass_, window, deviation, rollout)

    def _moved(
        self, window: SimulatedRun, theta: FloatArray, deviation: FloatArray, step: float
    ) -> FloatArray:
        """The residual at other parameters, from a start moved by ``step`` times its spread."""
        candidate = self._group.builder.build(theta)
        job = window.job(candidate, deviation + step * window.spread)
        (data,) = self._rollouts.sensordata([job])
        return window.residual(candidate, data)

    def derivatives(
        self,
        theta: FloatArray,
        deviations: Sequence[FloatArray],
        known: KnownPoint | None = None,
    ) -> Iterator[RunJacobian]:
        """Residual and Jacobian of every window, in order.

        Args:
          theta: The point, (p,).
          deviations: From each window's measured start, (n_start,) each.
          known: The candidate and its rollouts, where the point was simulated already.
        """
        windows = self._group.windows
        if self._obstacle is not None:
            columns = self._columns(theta)
            yield from finite_differences(self._rollouts, windows, deviations, columns)
            return
        pass_ = self._prepare(theta, None if known is None else known[0])
        plain = self._columns(theta, pass_.columns, tuple(self._unfollowed))
        sizes = [8 * window.n_samples * (len(theta) + window.n_start) for window in windows]
        for part in portions(sizes, MAX_CHUNK_BYTES):
            rollouts = None if known is None else known[1][part]
            yield from self._differentiate(
                windows[part], deviations[part], rollouts, pass_, plain, theta
            )
        if self._violated > MAX_DOUBTS * self._seen:
            self.give_up("forces act along the motion, such as contacts, that it does not know")

    def _columns(
        self,
        theta: FloatArray,
        known: Perturbations | None = None,
        components: Sequence[int] | None = None,
    ) -> Perturbations:
        """Columns for finite differences of rollouts."""
        base = None if known is None else known.base
        return perturbed(
            self._group.builder, theta, self._upper, self._scale, base=base, components=components
        )

    def _prepare(self, theta: FloatArray, base: Candidate | None = None) -> Pass:
        key = theta.tobytes()
        if self._latest is None or self._latest[0] != key:
            self._latest = (key, self._prepared(theta, base))
        return self._latest[1]

    def _prepared(self, theta: FloatArray, base: Candidate | None) -> Pass:
        columns = perturbed(self._group.builder, theta, self._upper, self._scale, step=TABLE_STEP)
        model, sensors = columns.base.model, start_sensors(self._group.windows)
        table, known = FollowedModel(model), columns.base.rollout_key(sensors)
        reading, followed = [], []
        for j, column in enumerate(columns.moved):
            if column.candidate.rollout_key(sensors) == known:
                reading.append(j)
            elif self._is_followed(j, table, column):
                followed.append(j)
        moved = [columns.moved[j] for j in followed]
        return Pass(
            columns,
            tuple(followed),
            tuple(reading),
            tables_of(model),
            model_derivative(model, [c.candidate.model for c in moved], [c.step for c in moved]),
            self._addresses,
            readings(model, self._addresses),
        )

    def _is_followed(self, j: int, base: FollowedModel, column: Perturbation) -> bool:
        """Return whether the pass has tables for all that a parameter changes, found out once."""
        if j not in self._followed and j not in self._unfollowed:
            changed = base.unfollowed_change(column.candidate.model)
            if changed is None:
                self._followed.add(j)
            else:
                self._unfollowed[j] = changed
        return j in self._followed

    def _differentiate(
        self,
        windows: Sequence[SimulatedRun],
        deviations: Sequence[FloatArray],
        rollouts: Sequence[Rollout] | None,
        pass_: Pass,
        plain: Perturbations,
        theta: FloatArray,
    ) -> Iterator[RunJacobian]:
        if rollouts is None:
            rollouts = self._rollouts.run(
                [
                    window.job(pass_.columns.base, deviation)
                    for window, deviation in zip(windows, deviations, strict=True)
                ]
            )
        exact = self._rollouts.map(partial(differentiate_run, pass_), windows, deviations, rollouts)
        others = self._others(windows, deviations, plain)
        for window, deviation, result, other in zip(
            windows, deviations, exact, others, strict=True
        ):
            self._seen += 1
            if result is None:
                self._violated += 1
                columns = self._columns(theta, pass_.columns)
                yield from finite_differences(self._rollouts, [window], [deviation], columns)
            elif other is None:
                yield result
            else:
                result.jacobian[:, list(self._unfollowed)] = other.jacobian
                yield result

    def _others(
        self,
        windows: Sequence[SimulatedRun],
        deviations: Sequence[FloatArray],
        plain: Perturbations,
    ) -> Iterator[RunJacobian | None]:
        """Columns that the pass does not follow."""
        if not plain.moved:
            return iter([None] * len(windows))
        return finite_differences(self._rollouts, windows, deviations, plain, starts=False)
