# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Exact derivatives of simulations along one rollout; see docs/engine.md."""

from __future__ import annotations

from sysid_ros.engine.derivatives.ahead import start_compiling
from sysid_ros.engine.derivatives.compilation import entry_points
from sysid_ros.engine.derivatives.compilation_stage import COMPILING, compilation_told
from sysid_ros.engine.derivatives.engine import Sensitivities
from sysid_ros.engine.derivatives.residual_jacobian import ResidualJacobian

__all__ = [
    "COMPILING",
    "ResidualJacobian",
    "Sensitivities",
    "compilation_told",
    "entry_points",
    "start_compiling",
]
