# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The result folder: written whole or not at all, read back, kept while a fit runs."""

from __future__ import annotations

from sysid_ros.results.checkpoint import Checkpoint, finalize_checkpoint
from sysid_ros.results.reading import ResultError, read_results
from sysid_ros.results.result_folder import ResultFolder
from sysid_ros.results.work_folder import check_writable, open_work_folder

__all__ = [
    "Checkpoint",
    "ResultError",
    "ResultFolder",
    "check_writable",
    "finalize_checkpoint",
    "open_work_folder",
    "read_results",
]
