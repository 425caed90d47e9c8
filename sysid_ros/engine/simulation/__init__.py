# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Candidates for a model, their simulations, and many rollouts in few native calls."""

from __future__ import annotations

from sysid_ros.engine.simulation.blas import single_blas_thread
from sysid_ros.engine.simulation.candidate import Candidate, CandidateBuilder, ModelGroup
from sysid_ros.engine.simulation.finite_differences import (
    Perturbation,
    Perturbations,
    finite_differences,
    perturbed,
    quotient,
    start_sensors,
)
from sysid_ros.engine.simulation.portions import portions
from sysid_ros.engine.simulation.recorded_run import RecordedRun
from sysid_ros.engine.simulation.rollout_pool import RolloutPool, size_signature
from sysid_ros.engine.simulation.simulated_run import (
    ResidualSlope,
    RunJacobian,
    SimulatedRun,
    TurnedSlope,
)
from sysid_ros.engine.simulation.simulation import Rollout, Simulation, StepControls
from sysid_ros.engine.simulation.simulation_batch import BatchState, SimulationBatch
from sysid_ros.engine.simulation.step_controls import control_integrals, step_means
from sysid_ros.engine.simulation.sysid_rollout import all_states, sysid_rollout, trajectories

__all__ = [
    "BatchState",
    "Candidate",
    "CandidateBuilder",
    "ModelGroup",
    "Perturbation",
    "Perturbations",
    "RecordedRun",
    "ResidualSlope",
    "Rollout",
    "RolloutPool",
    "RunJacobian",
    "SimulatedRun",
    "Simulation",
    "SimulationBatch",
    "StepControls",
    "TurnedSlope",
    "all_states",
    "control_integrals",
    "finite_differences",
    "perturbed",
    "portions",
    "quotient",
    "single_blas_thread",
    "size_signature",
    "start_sensors",
    "step_means",
    "sysid_rollout",
    "trajectories",
]
