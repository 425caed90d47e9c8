# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Exact derivatives of simulations along one rollout; see docs/engine.md."""

from __future__ import annotations

from sysid_ros.engine.derivatives.compilation import (
    COMPILING,
    compilation_told,
    entry_points,
    start_compiling,
)
from sysid_ros.engine.derivatives.forward_runs import ForwardRuns
from sysid_ros.engine.derivatives.sensitivities import EXACT, KnownPoint, Sensitivities
