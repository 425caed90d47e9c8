# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Sequential linear programs in a trust region (Fletcher & Sainz de la Maza, Math. Prog. 43, 1989).

Designs press against their limits, so that most of what there is to find is which limits: linear
programs find that in few steps, and every accepted motion keeps all demands.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import scipy

from sysid_ros.arrays import FloatArray
from sysid_ros.excitation.design.task import DesignTask, Linearization

_FIRST, _LAST = 0.05, 1e-3  # size of a step, as shares of the joints' ranges
_WORTH = 2e-3  # gain in the criterion (1 per thousand in standard errors) that is worth a step
_GROW, _SHRINK = 2.0, 0.4
_GOOD, _BAD = 0.6, 0.1  # of the gain that was promised
_SHARES = (1.0, 0.95, 0.8, 0.6)  # of a step that are tried


@dataclass(frozen=True)
class Descent:
    """The state of a search."""

    c: FloatArray  # control points (k, n), always of a motion that keeps its demands
    cost: float  # its criterion
    radius: float = _FIRST  # size of the next step, as a share of the joints' ranges
    steps: int = 0  # steps that were tried
    converged: bool = False  # true if no step is left that is worth a trial


def descend(
    task: DesignTask,
    state: Descent,
    *,
    steps: int,
    go_on: Callable[[Descent], bool],
) -> Descent:
    """Improve a motion."""
    around: Linearization | None = None
    end = state.steps + steps
    while state.steps < end and not state.converged and go_on(state):
        around = around or task.linearized(state.c)
        step = _program(task, around, state.radius)
        promised = -float(around.slope @ np.ravel(step))
        if promised < _WORTH or state.radius < _LAST:
            return replace(state, converged=True)
        trial, cost = _feasible(task, state.c, step)
        gain = state.cost - cost
        count = state.steps + 1
        if trial is None or gain < _BAD * promised or gain <= 0.0:
            state = replace(state, radius=state.radius * _SHRINK, steps=count)
            continue
        radius = state.radius * (_GROW if gain > _GOOD * promised else 1.0)
        state, around = Descent(trial, cost, min(radius, 0.5), count), None
    return state


def _program(task: DesignTask, around: Linearization, radius: float) -> FloatArray:
    limits = task.demands.limits
    reach = radius * (limits.upper - limits.lower)
    bounds = np.tile(reach, task.spline.free)
    size = np.abs(around.slope).max() or 1.0
    found = scipy.optimize.linprog(
        around.slope / size,
        A_ub=around.matrix,
        b_ub=around.room,
        bounds=np.column_stack((-bounds, bounds)),
        method="highs",
    )
    step = found.x if found.x is not None else np.zeros(len(bounds))
    return np.asarray(step).reshape(task.spline.free, -1)


def _feasible(task: DesignTask, c: FloatArray, step: FloatArray) -> tuple[FloatArray | None, float]:
    """The motion after as much of a step as the demands allow; they were linearized."""
    for share in _SHARES:
        trial = c + share * step
        if task.keeps(trial):
            return trial, task.cost(trial)
    return None, np.inf
