# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""One run of a fit: its tasks, its folder, its state, and the process that it runs in."""

from __future__ import annotations

from sysid_ros.pipeline.cross_validation import folds_of, with_folds
from sysid_ros.pipeline.experiment_run import run_experiment
from sysid_ros.pipeline.fit_task import FitTask, run_fit_task
from sysid_ros.pipeline.resume import Resume, setting_digests
from sysid_ros.pipeline.worker import FitEnd, FitEvent, Worker, run_fit
from sysid_ros.pipeline.worker_process import FIT_PROGRAM, STARTING, FitRequest

__all__ = [
    "FIT_PROGRAM",
    "STARTING",
    "FitEnd",
    "FitEvent",
    "FitRequest",
    "FitTask",
    "Resume",
    "Worker",
    "folds_of",
    "run_experiment",
    "run_fit",
    "run_fit_task",
    "setting_digests",
    "with_folds",
]
