# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Output on a terminal: progress while it lasts, tables at the end."""

from __future__ import annotations

from sysid_ros.terminal.printing import (
    console_for,
    plain_number,
    plain_table,
    plain_text,
    print_estimates,
    print_evaluations,
    print_outcome,
    print_trends,
)
from sysid_ros.terminal.progress import FitProgress, ReadingProgress, is_counted, working
