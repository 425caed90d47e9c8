# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The settings of a fit: what the experiment file says reaches the engine."""

from __future__ import annotations

from dataclasses import fields

from sysid_ros.dataset import fit_settings
from sysid_ros.engine.estimation import FitSettings, TorqueSettings
from sysid_ros.experiment import parse_experiment

CHANGED = """
model: robot.xml
sequences: [{bag: run}]
signals: [{sensor: angle, topic: /joint_states, field: "position[a]"}]
parameters: [{joint: a, damping: {}}]
windows: {length: 0.3}
initial_state: {estimate: false, velocity_filter: 7.0}
fit:
  method: inverse_dynamics
  optimizer: scipy
  loss: huber
  max_iterations: 7
  time_limit: 30.0
  threads: 2
  intervals: white
  landscapes: 4
  engine: reference
  model_error: false
  inverse_dynamics:
    {motion_cutoff: 10.0, row_cutoff: 5.0, prior: gaussian, spread: 2.0, hulls: false,
     total_mass: 8.0, beside_simulation: false, drive_stiffness: {a: 150.0},
     drive_damping: {a: 8.0}}
"""


def test_every_setting_of_a_fit_comes_from_the_experiment() -> None:
    """Each is another than its default in the file, so none can be left behind."""
    found = fit_settings(parse_experiment(CHANGED))
    for given, default in ((found, FitSettings()), (found.torque, TorqueSettings())):
        for field in fields(default):  # type: ignore[arg-type]
            assert getattr(given, field.name) != getattr(default, field.name), field.name
