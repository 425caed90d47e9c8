# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Runs with a few steps that the pass does not cover: these steps alone are differenced.

A contact that the pass does not know, or a force, acts for some steps only. Each such step starts
from the state that the run had before it, so that it is a simulation of its own, of one step: all
of them, moved in one component of the state, in the controls or in one parameter, are one batch.
A step costs up to twice what it costs in a difference of whole runs, and the others are free.
Contacts that close later or earlier are no jump here, since every step keeps the contacts that it
had. Where a step has none the less no derivative, its run is differenced whole.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

import mujoco
import numpy as np

from sysid_ros.arrays import BoolArray, FloatArray, IndexArray
from sysid_ros.engine.derivatives.directions import StepSlopes, control_directions, state_changes
from sysid_ros.engine.derivatives.run_pass import (
    BatchPass,
    Pass,
    differentiated,
)
from sysid_ros.engine.elements import BALL, FREE
from sysid_ros.engine.signals import quaternion_product
from sysid_ros.engine.simulation import (
    BatchRollout,
    BatchSimulation,
    Perturbations,
    RolloutPool,
    RunBatch,
    RunJacobian,
    finite_differences,
    portions,
    run_slices,
)

# m, rad, per second: large against what the constraint solver leaves, small against the millimetre
# in which a contact hardens.
STATE_STEP = 1e-7
# Of a column: where its differences to both sides differ by more, the step has no derivative, or
# collision detection is not exact enough to show it (of convex shapes it is good to a micrometre).
ROUGH = 0.1
# Share of a run's steps up to which they are differenced alone, which takes both sides; with more,
# the whole run is differenced.
MAX_SHARE = 0.5
MAX_BYTES = 64 << 20  # of the derivatives of steps that are kept at a time, and of states moved


def differentiate_again(
    found: RunJacobian,
    uncovered: BoolArray,
    pass_: Pass,
    moved: Perturbations,
    batch: RunBatch,
    deviations: FloatArray,
    rollouts: BatchRollout,
    pool: RolloutPool,
) -> int:
    """Overwrite the Jacobian of the runs of a batch that have steps that are not covered.

    Args:
      found: What the pass gave.
      uncovered: Marks of such steps, (steps,).
      pass_: The point.
      moved: All parameters, moved, each in a model of its own.
      batch: The runs.
      deviations: From each run's measured start, (w, n_start).
      rollouts: Theirs.
      pool: Where simulations run.

    Returns:
      How many steps were differenced.
    """
    firsts = np.cumsum(batch.steps) - batch.steps
    counts = np.add.reduceat(uncovered.astype(np.int64), firsts)
    few = np.flatnonzero((counts > 0) & (counts <= MAX_SHARE * batch.steps) & ~rollouts.diverged)
    whole = np.setdiff1d(np.flatnonzero((counts > 0) | rollouts.diverged), few)
    size = 2 * batch.model.nv + batch.model.na
    width = len(moved.moved) + batch.spread.shape[1]
    each = 8 * (size + len(pass_.addresses)) * (size + width)
    for part in portions((each * counts[few]).tolist(), MAX_BYTES):
        chosen = few[part]
        own = np.repeat(np.isin(np.arange(len(counts)), chosen), batch.steps)
        some = BatchRollout(
            rollouts.states[own], rollouts.sensordata[own], rollouts.diverged[chosen]
        )
        runs = batch.select(chosen.tolist())
        slopes, rough = _slopes(pass_, moved, runs, deviations[chosen], some, uncovered[own], pool)
        again = BatchPass(pass_.undivided(), runs, deviations[chosen], some, slopes)
        ((better, left),) = differentiated([again], pool)
        left[uncovered[own]] |= rough
        sound = ~np.logical_or.reduceat(left, np.cumsum(runs.steps) - runs.steps)
        rows = list(run_slices(runs.samples))
        sound &= [bool(np.isfinite(better.jacobian[one]).all()) for one in rows]
        _overwrite(found, batch, chosen[sound], better.jacobian[np.repeat(sound, runs.samples)])
        whole = np.union1d(whole, chosen[~sound])
    if len(whole):
        runs = batch.select(whole.tolist())
        own = np.repeat(np.isin(np.arange(len(counts)), whole), batch.steps)
        data = rollouts.sensordata[own]
        differences = finite_differences(pool, runs, deviations[whole], moved, known=data)
        _overwrite(found, batch, whole, differences.jacobian)
    alone = np.setdiff1d(few, whole)
    return int(counts[alone].sum() + batch.steps[whole].sum())


def _overwrite(
    found: RunJacobian, batch: RunBatch, chosen: IndexArray, jacobian: FloatArray
) -> None:
    """Put the Jacobian of some runs in its place."""
    runs = np.isin(np.arange(len(batch.samples)), chosen)
    found.jacobian[slice(None) if runs.all() else np.repeat(runs, batch.samples)] = jacobian


def _slopes(
    pass_: Pass,
    moved: Perturbations,
    batch: RunBatch,
    deviations: FloatArray,
    rollouts: BatchRollout,
    uncovered: BoolArray,
    pool: RolloutPool,
) -> tuple[StepSlopes, BoolArray]:
    """The derivatives of uncovered steps in all directions, and which have none, (k,)."""
    base = pass_.columns.base
    steps = _Steps(base.model, pass_.addresses, pool)
    firsts = np.cumsum(batch.steps) - batch.steps
    before = np.roll(rollouts.states, 1, axis=0)
    before[firsts] = batch.starts(base, deviations)
    before = before[uncovered]
    every = batch.controls(base)
    control = every[uncovered]
    here = steps.taken(base.model, before, control)
    columns, rough = [], np.zeros(len(before), dtype=bool)
    moving = _moved_states(base.model, before)
    at_once = max(1, MAX_BYTES // (2 * before.nbytes))  # all components may take a gigabyte
    while some := list(itertools.islice(moving, at_once)):
        sides = np.array(some)  # (components, 2, k, nstate)
        again = np.tile(control, (2 * len(sides), 1))
        after = steps.taken(base.model, sides.reshape(-1, before.shape[1]), again)
        states, readings = (each.reshape(*sides.shape[:3], -1) for each in after)
        for state, reading in zip(states, readings, strict=True):
            forth = steps.changes(here, (state[0], reading[0])) / STATE_STEP
            back = steps.changes((state[1], reading[1]), here) / STATE_STEP
            columns.append(0.5 * (forth + back))
            size = np.linalg.norm(columns[-1], axis=1)
            rough |= ~(np.linalg.norm(forth - back, axis=1) <= ROUGH * size)
    by_state = np.stack(columns, axis=2)
    n_start = batch.spread.shape[1]
    direct = np.zeros((*by_state.shape[:2], len(pass_.followed) + n_start))
    for k, j in enumerate(pass_.followed):
        column = moved.moved[j]
        if column.candidate.model_key != base.model_key:
            after = steps.taken(column.candidate.model, before, control)
            direct[:, :, k] = steps.changes(here, after) / column.step
    which, change = control_directions(batch, base, every, pass_.moved, pass_.moving)
    for c, k in enumerate(which):
        own = change[uncovered, c]
        step = STATE_STEP / max(float(np.abs(own).max(initial=0.0)), STATE_STEP)
        after = steps.taken(base.model, before, control + step * own)
        direct[:, :, k] += steps.changes(here, after) / step
    place = np.full(len(uncovered), -1, dtype=np.int64)
    place[uncovered] = np.arange(len(before))
    return StepSlopes(place, by_state, direct), rough


class _Steps:
    """Single steps of models of one size, and what is read before each.

    Args:
      model: One of them.
      addresses: The columns of the sensor data that are read.
      pool: Where simulations run.
    """

    def __init__(self, model: mujoco.MjModel, addresses: IndexArray, pool: RolloutPool) -> None:
        self._model, self._addresses, self._pool = model, addresses, pool

    def taken(
        self, model: mujoco.MjModel, before: FloatArray, control: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """States behind steps (k, nq + nv + na), and readings before them (k, n_reading)."""
        alone = np.ones(len(before), dtype=np.int64)
        steps = BatchSimulation(model, before, control, alone)
        (done,) = self._pool.run_batches([steps.solved()])
        size = int(model.nq + model.nv + model.na)
        return done.states[:, 1 : 1 + size], done.sensordata[:, self._addresses]

    def changes(self, one: Sequence[FloatArray], other: Sequence[FloatArray]) -> FloatArray:
        """From the outcome of steps to that of others, (k, 2 nv + na + n_reading)."""
        return np.hstack([state_changes(self._model, one[0], other[0]), other[1] - one[1]])


def _moved_states(
    model: mujoco.MjModel, states: FloatArray
) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Yield full-physics states (k, nstate) moved to both sides, by component in tangent space."""
    for joint in range(model.njnt):
        kind, place = int(model.jnt_type[joint]), 1 + int(model.jnt_qposadr[joint])
        straight = 0 if kind == BALL else 3 if kind == FREE else 1
        for column in range(place, place + straight):
            yield _shifted(states, column)
        if kind in (FREE, BALL):
            own = slice(place + straight, place + straight + 4)
            for axis in np.eye(3):
                sides = []
                for step in (STATE_STEP, -STATE_STEP):
                    turn = np.array([[1.0, *(0.5 * step * axis)]])
                    turned = states.copy()
                    turned[:, own] = quaternion_product(states[:, own], turn)
                    sides.append(turned)
                yield sides[0], sides[1]
    first = 1 + model.nq
    for column in range(first, first + model.nv + model.na):
        yield _shifted(states, column)


def _shifted(states: FloatArray, column: int) -> tuple[FloatArray, FloatArray]:
    ahead, behind = states.copy(), states.copy()
    ahead[:, column] += STATE_STEP
    behind[:, column] -= STATE_STEP
    return ahead, behind
