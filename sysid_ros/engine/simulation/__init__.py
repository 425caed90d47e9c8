# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Candidates for a model, their simulations, and many rollouts in few native calls."""

from __future__ import annotations

from sysid_ros.engine.simulation.blas import single_blas_thread
from sysid_ros.engine.simulation.candidate import (
    Candidate,
    CandidateBuilder,
    ModelGroup,
    model_content,
    model_numbers,
    shapes_model,
)
from sysid_ros.engine.simulation.compared_runs import compared_runs
from sysid_ros.engine.simulation.finite_differences import (
    Perturbation,
    Perturbations,
    directional_quotients,
    finite_differences,
    inward,
    perturbed,
    quotient,
)
from sysid_ros.engine.simulation.mujoco_warnings import collected_warnings
from sysid_ros.engine.simulation.portions import even_portions, portions
from sysid_ros.engine.simulation.recorded_batch import (
    RecordedBatch,
    joined_rollouts,
    recorded_batches,
)
from sysid_ros.engine.simulation.recorded_run import RecordedRun, recorded_runs
from sysid_ros.engine.simulation.rollout_pool import RolloutPool, size_signature
from sysid_ros.engine.simulation.run_batch import (
    ResidualSlope,
    RunBatch,
    RunJacobian,
    TurnedSlope,
    run_slices,
    simulation_of,
)
from sysid_ros.engine.simulation.simulation import (
    SOLVED,
    BatchRollout,
    BatchSimulation,
    Simulation,
    StepControls,
    step_times,
)
from sysid_ros.engine.simulation.simulation_batch import BatchState, SimulationBatch
from sysid_ros.engine.simulation.step_controls import control_integrals, step_means
from sysid_ros.engine.simulation.step_oscillation import step_oscillation
from sysid_ros.engine.simulation.sysid_rollout import (
    SignalNames,
    all_states,
    sysid_rollout,
    trajectories,
)
