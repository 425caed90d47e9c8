# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Names that experiment files and the command line offer, readable before anything is imported."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

SEARCH_METHODS = (
    "starts", "cma-es", "random", "nsga2",  # METHODS of search.search_methods
    "inverse_dynamics",  # search.torque_start
)  # fmt: skip
LOG_NAMES = ("tensorboard", "wandb", "mlflow")  # the keys of run_logs.run_log.LOGS


@dataclass(frozen=True)
class FitMethod:
    """A way to fit."""

    # robots are simulated: inputs must drive them, starts are searched for, and bounds keep a
    # search where simulations make sense. Otherwise measured torque is explained at once, which has
    # parameters of its own and needs no bounds
    simulates: bool


INVERSE_DYNAMICS = "inverse_dynamics"
FIT_METHODS: Mapping[str, FitMethod] = {  # the keys of engine.measured_torque.methods.METHODS
    "forward": FitMethod(simulates=True),
    INVERSE_DYNAMICS: FitMethod(simulates=False),
}
