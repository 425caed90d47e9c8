# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The example experiments are valid and hold out what the benchmarks say."""

from __future__ import annotations

from pathlib import Path

import pytest

from sysid_ros.experiment import check_fittable, load_experiment, locate_bag, locate_model
from sysid_ros.experiment.experiment_schema import Experiment
from sysid_ros.robots.declared_parameters import build_parameters
from sysid_ros.robots.source import load_model

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
DATA = {
    "double_pendulum/experiment.yaml": "double_pendulum",
    "servo/experiment.yaml": "servo",
    "servo/drop.yaml": "servo",
}


def names(experiment: Experiment) -> tuple[list[str], list[str]]:
    """The bags that are fitted and those that are held out."""
    held_out = experiment.validation.bags
    return [bag.name for bag in experiment.sequences], [bag.name for bag in held_out]


@pytest.mark.parametrize("name", DATA)
def test_an_example_names_recordings_and_elements_that_exist(name: str, shared_data: Path) -> None:
    experiment = load_experiment(EXAMPLES / name)
    check_fittable(experiment)
    data = shared_data / DATA[name]
    for bag in (*experiment.sequences, *experiment.validation.bags):
        locate_bag(bag.bag, experiment_file=experiment.path, data_dir=data)
    assert experiment.model is not None
    model = locate_model(experiment.model, experiment_file=experiment.path, data_dir=data)
    assert build_parameters(experiment, load_model(model).spec).size > 0


def test_the_double_pendulum_is_split_as_its_benchmark_says() -> None:
    training, held_out = names(load_experiment(EXAMPLES / "double_pendulum/experiment.yaml"))
    assert training == [f"trajectory_{i:02}" for i in (0, 1, 2, 4, 12, 13)]
    assert held_out == [f"trajectory_{i:02}" for i in (3, 5, 11)]


def test_the_servo_holds_out_every_third_powered_recording(shared_data: Path) -> None:
    bags = sorted(bag.name for bag in (shared_data / "servo" / "bags").iterdir())
    powered = [bag for bag in bags if not bag.endswith("_drop")]
    training, held_out = names(load_experiment(EXAMPLES / "servo/experiment.yaml"))
    assert held_out == powered[2::3]
    assert training == [bag for bag in powered if bag not in held_out]
    training, held_out = names(load_experiment(EXAMPLES / "servo/drop.yaml"))
    assert [*training, *held_out] == [bag for bag in bags if bag.endswith("_drop")]
