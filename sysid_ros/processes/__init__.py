# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Processes that work: their kinds, their ends, and what becomes of the work."""

from __future__ import annotations

from sysid_ros.processes.execution import (
    IN_THIS_PROCESS,
    TaskPool,
    Workers,
    WorkersError,
    run_tasks,
)
from sysid_ros.processes.interrupt import StopRequest, lasting_interrupts
from sysid_ros.processes.memory import return_freed_memory, return_large_arrays
from sysid_ros.processes.process_life import die_with_parent
from sysid_ros.processes.time_out import TimeOutInterrupt, interrupted_after
