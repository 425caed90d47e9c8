# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Settings of a fit by inverse dynamics, with their defaults."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sysid_ros.engine.estimation import TorqueSettings
from sysid_ros.engine.regressor import DEFAULT_KINDS


@dataclass(frozen=True)
class Settings(TorqueSettings):
    """Choices of a fit, those that an experiment has among them."""

    # what joints and tendons have besides the inertia of bodies, of
    # :data:`~sysid_ros.engine.regressor.columns.JOINT_KINDS`, "offset" and ``TENDON_KINDS``
    kinds: Sequence[str] = DEFAULT_KINDS
    # rad/s over which dry friction changes its sign as tanh does; ``None`` for MuJoCo's own law
    # with the shortest time constant that it allows, with which ``mj_inverse`` of the written model
    # gives the predicted torque
    friction_velocity: float | None = None
    # whether rows in which friction's sign is uncertain have weights of their own
    reversals_apart: bool = True
    reversals_count: bool = True  # whether they count for joints that have enough other rows
    torque_delay: bool = False  # whether measured torque is later than positions by an unknown time
    blocks: int = 40  # of time, for intervals
    # joints (by name) whose torque has an unknown factor, with its prior spread
    gains: Mapping[str, float] = field(default_factory=dict)
