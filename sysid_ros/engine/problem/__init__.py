# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Residuals of whole recordings and of windows as functions of the parameters."""

from __future__ import annotations

from sysid_ros.engine.problem.added_rows import AddedRows, Span, add_grams
from sysid_ros.engine.problem.chord import Chord, in_units_of_noise
from sysid_ros.engine.problem.chunked_problem import (
    ChunkedProblem,
    ChunkPoint,
    ChunkSums,
    ChunkSurvey,
    Evaluate,
    sums_by_signal,
)
from sysid_ros.engine.problem.objective import FD_STEP, Objective
from sysid_ros.engine.problem.projection import minimize_with
from sysid_ros.engine.problem.quick_search import FEW_STEPS, squares_left, tolerating
from sysid_ros.engine.problem.residual import build_residual_fn, model_residual, residual
from sysid_ros.engine.problem.residual_function import ResidualFunction
from sysid_ros.engine.problem.rough_search import rough_search
from sysid_ros.engine.problem.windowed_problem import WindowedProblem
