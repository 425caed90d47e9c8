# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Parameters that are estimated while a recording grows, from a horizon that moves with it."""

from __future__ import annotations

from sysid_ros.engine.moving_horizon.horizon_memory import Memory
from sysid_ros.engine.moving_horizon.horizon_settings import HorizonEstimate, HorizonSettings
from sysid_ros.engine.moving_horizon.moving_horizon import MovingHorizon
from sysid_ros.engine.moving_horizon.signal_trace import SignalTrace
from sysid_ros.engine.moving_horizon.torque_horizon import TorqueHorizon
from sysid_ros.engine.moving_horizon.torque_memory import TorqueMemory
