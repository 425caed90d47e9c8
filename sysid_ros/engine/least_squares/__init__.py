# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Nonlinear least squares within bounds: losses, the solver, optimizers by name."""

from __future__ import annotations

from sysid_ros.engine.least_squares.damped_steps import GOOD_GAIN, damped_step
from sysid_ros.engine.least_squares.gauss_newton import (
    Linearization,
    Point,
    ReducedSystem,
    Trial,
    bounded_quadratic_step,
    eliminate_starts,
    start_solutions,
    without_starts,
)
from sysid_ros.engine.least_squares.levenberg_marquardt import (
    CANCELED,
    INITIAL_DAMPING,
    Solution,
    SolverSettings,
    Step,
    expected_gains,
    minimize,
    minimizing,
    one_step,
)
from sysid_ros.engine.least_squares.losses import LOSSES, Loss, loss_named
from sysid_ros.engine.least_squares.optimizers import (
    OPTIMIZERS,
    Adapter,
    Ending,
    Optimizer,
    StopOptimizing,
    optimizer_named,
)
from sysid_ros.engine.least_squares.search_progress import FitStatus, Iteration
