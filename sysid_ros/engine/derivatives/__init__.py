# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Exact derivatives of simulations along one rollout; see docs/engine.md."""

from __future__ import annotations

from sysid_ros.engine.derivatives.__main__ import main
from sysid_ros.engine.derivatives.engine import Sensitivities
from sysid_ros.engine.derivatives.residual_jacobian import ResidualJacobian

__all__ = [
    "ResidualJacobian",
    "Sensitivities",
    "main",
]
