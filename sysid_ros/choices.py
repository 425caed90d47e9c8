# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Names that experiment files and the command line offer, readable before anything is imported."""

from __future__ import annotations

SEARCH_METHODS = (
    "starts", "cma-es", "random", "nsga2",  # METHODS of search.search_methods
    "inverse_dynamics",  # search.torque_start
)  # fmt: skip
LOG_NAMES = ("tensorboard", "wandb", "mlflow")  # the keys of run_logs.run_log.LOGS
FIT_METHODS = ("forward", "inverse_dynamics")  # the methods of engine.measured_torque.methods
