# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""One run of a fit: its tasks, its folder, its state."""

from __future__ import annotations

from sysid_ros.pipeline.cross_validation import folds_of, unfinished, with_folds
from sysid_ros.pipeline.experiment_run import run_experiment
from sysid_ros.pipeline.fit_task import FitTask, run_fit_task
from sysid_ros.pipeline.resume import Resume
