# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Errors predicted for a designed motion beside those of its recording's fit."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import mujoco
import numpy as np
import pytest

from sysid_ros.cli import main
from sysid_ros.dataset import FitInputs
from sysid_ros.errors import DataError
from sysid_ros.excitation import read_trajectory
from sysid_ros.experiment import Experiment, load_experiment
from sysid_ros.judgement.forecast_check import forecast_check, standard_errors
from sysid_ros.judgement.motion_forecast import (
    MotionForecast,
    forecast_path,
    motion_digest,
    read_forecast,
    write_forecast,
)
from sysid_ros.rehearsal import (
    Controller,
    JointStates,
    Motion,
    Reading,
    RecordingPlan,
    Timing,
    generate,
)
from sysid_ros.rehearsal.altered_recording import retell, true_motions
from sysid_ros.rehearsal.commanded import command_anew
from sysid_ros.results import read_results

ARM = """<mujoco><option timestep="0.002" integrator="implicitfast"/><worldbody>
  <body><joint name="a" axis="0 1 0" range="-1.5 1.5" damping="0.3" armature="0.02"/>
    <geom type="capsule" fromto="0 0 0 0 0 -.3" size=".02" contype="0" conaffinity="0"/>
    </body></worldbody>
  <actuator><position name="m" joint="a" kp="15" kv="0.5"/></actuator></mujoco>"""
EXPERIMENT = """
model: arm.xml
sequences: [{}]
signals:
  - {{qpos: a, topic: /joint_states, field: "position[a]"}}
  - {{actuator: m, topic: /position_controller/commands, field: "data[0]"}}
windows: {{length: 1}}
fit: {{model_error: false, intervals: white}}
parameters:
  - joint: a
    damping: {{min: 0.0, max: 10.0}}
    armature: {{min: 0.0, max: 1.0}}
  - {{signal: m, delay: {{initial: 0.01, max: 0.1}}}}
"""
NAMES = ("a_damping", "a_armature", "m_delay")
DESIGN = ["--velocity", "3", "--acceleration", "20", "--duration", "4", "--budget", "1.5"]


def written(folder: Path, sequence: str) -> Experiment:
    (folder / "experiment.yaml").write_text(EXPERIMENT.format(sequence))
    return load_experiment(folder / "experiment.yaml")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A recording of a designed motion, beside it, and one that it was designed after."""
    folder = tmp_path_factory.mktemp("arm")
    (folder / "arm.xml").write_text(ARM)
    states = JointStates(position=Reading(noise=2e-4), timing=Timing(rate=200.0))
    plan = RecordingPlan(
        sensors=(states,), controllers=(Controller(delay=0.01),), duration=8.5,
        motion=Motion(reach=1.0, highest=3.0, acceleration=20.0, speed=3.0),
    )  # fmt: skip
    generate(mujoco.MjSpec.from_string(ARM), plan, folder / "first")
    experiment = written(folder, "first")
    assert main(["design", str(experiment.path), *DESIGN, "--output", str(folder / "m.csv")]) == 0
    record(folder, experiment, "m.csv", "second")
    return folder


def record(folder: Path, experiment: Experiment, motion: str, name: str) -> None:
    """The robot as it stands in the experiment, told a motion."""
    model = mujoco.MjModel.from_xml_string(ARM)
    table = read_trajectory(folder / motion)
    command_anew(experiment, "first", table, model, folder / "commanded", None)
    commanded = replace(
        experiment, sequences=(replace(experiment.sequences[0], bag=str(folder / "commanded")),)
    )
    inputs = FitInputs.read(commanded, None)
    motions = true_motions(inputs.dataset, inputs.params, inputs.params.as_vector())
    generator = np.random.default_rng(4)
    bag = str(folder / "commanded")
    retell(commanded, bag, motions["commanded"], folder / name, None, generator)


def test_a_fit_errs_as_was_predicted_and_the_report_and_the_next_design_say_so(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    experiment = written(folder, "{bag: second, motion: m.csv}")
    assert main(["fit", str(experiment.path), "--output", str(folder / "results"), "--quiet"]) == 0
    (result,) = [path for path in (folder / "results").iterdir() if path.is_dir()]
    found = read_results(result).forecast
    assert found is not None and found.notes == ()
    assert [row.name for row in found.rows] == list(NAMES)
    assert found.ratio == pytest.approx(1.0, abs=0.35)
    assert found.noise_factor == pytest.approx(found.ratio, rel=1e-3)  # nothing was known before
    page = (result / "report.html").read_text()
    assert "Predicted and realised errors" in page and "The prediction held." in page
    arguments = ["--after", str(result), "--output", str(folder / "next.csv")]
    assert main(["design", str(experiment.path), *DESIGN, *arguments]) == 0
    assert f"noise counts {found.noise_factor:.2g} times" in capsys.readouterr().out
    then = read_forecast(folder / "next.csv")
    assert then.noise_factor == pytest.approx(found.noise_factor)
    assert then.known is not None and len(then.recordings) == 1
    assert then.recordings[0] == read_results(result).input_hashes["second"]


def fitted(folder: Path, sequences: str):  # type: ignore[no-untyped-def]
    inputs = FitInputs.read(written(folder, sequences), None)
    return inputs, inputs.fitted(landscapes=False)


def test_what_is_fitted_again_counts_once_and_noise_is_found_by_its_factor(folder: Path) -> None:
    inputs, result = fitted(folder, "first, {bag: second, motion: after.csv}")
    (folder / "after.csv").write_bytes((folder / "m.csv").read_bytes())
    errors = np.array([one.standard_error for one in result.parameters], dtype=float)
    whole = np.linalg.inv(result.covariance)
    first, data = 0.3 * whole, 0.7 * whole  # the fit that the motion was designed after, the rest
    forecast = MotionForecast(
        motion_digest(folder / "after.csv"), "measured torque", 4.0, NAMES, 4.0 * data,
        noise_factor=1.5, known=first, recordings=(inputs.dataset.hashes["first"],),
    )  # fmt: skip
    write_forecast(folder / "after.csv", forecast)
    found = forecast_check(inputs, result, None)
    assert found is not None
    expected = standard_errors(first + 4.0 * data)
    np.testing.assert_allclose([row.predicted for row in found.rows], expected)  # type: ignore[arg-type]
    assert found.ratio == pytest.approx(np.exp(np.mean(np.log(errors / expected))))
    assert found.noise_factor == pytest.approx(2.0 * 1.5, rel=1e-3)
    write_forecast(folder / "after.csv", replace(forecast, recordings=("another",)))
    without = forecast_check(inputs, result, None)
    assert without is not None and without.rows == ()
    assert without.notes == ("first came without a forecast, so that none holds for all.",)
    assert "No standard error can be compared" in without.sentence


def test_a_motion_without_its_own_forecast_is_named(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"there is no .*none\.csv"):
        read_forecast(tmp_path / "none.csv")
    (tmp_path / "m.csv").write_bytes((folder / "m.csv").read_bytes())
    with pytest.raises(DataError, match=r"there is no .*m\.forecast\.json"):
        read_forecast(tmp_path / "m.csv")
    forecast = json.loads(forecast_path(folder / "m.csv").read_text())
    forecast_path(tmp_path / "m.csv").write_text(json.dumps(forecast))
    assert read_forecast(tmp_path / "m.csv").names == NAMES
    (tmp_path / "m.csv").write_text("time,a\n0,0\n1,1\n")
    with pytest.raises(DataError, match=r"another motion than m\.csv"):
        read_forecast(tmp_path / "m.csv")
    forecast_path(tmp_path / "m.csv").write_text(json.dumps({**forecast, "names": ["a_damping"]}))
    with pytest.raises(DataError, match="not of the 1 parameters named"):
        read_forecast(tmp_path / "m.csv")


def test_errors_are_infinite_where_information_leaves_a_parameter_open() -> None:
    row = np.array([1e-3, 1e3, 0.0])
    information = np.outer(row, row) + np.diag([0.0, 0.0, 4.0])
    np.testing.assert_allclose(standard_errors(information), [np.inf, np.inf, 0.5])
    full = information + np.diag([1e-6, 0.0, 0.0])
    np.testing.assert_allclose(
        standard_errors(full), np.sqrt(np.diag(np.linalg.inv(full))), rtol=1e-6
    )
    np.testing.assert_array_equal(standard_errors(np.zeros((2, 2))), np.inf)
