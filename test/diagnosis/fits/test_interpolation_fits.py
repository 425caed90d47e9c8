# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The motion tells what commands do between their samples."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import mujoco
import numpy as np
import pytest
import robot_kinds
from robot_to_try import ARM_PLAN, PLAN, hidden, of_text

from sysid_ros import sysid
from sysid_ros.dataset import load_dataset
from sysid_ros.diagnosis import FindingKind, check_experiment, command_samplings
from sysid_ros.diagnosis.fits import InterpolationScores, interpolation_fits
from sysid_ros.engine.simulation import RolloutPool
from sysid_ros.experiment import load_experiment
from sysid_ros.proposal import propose
from sysid_ros.rehearsal import CommandForm, Controller, JointStates, Reading, Timing, generate

PENDULUM = """<mujoco><worldbody><body><joint name="hinge" axis="0 1 0" damping=".1"/>
  <geom type="capsule" fromto="0 0 0 0 0 -.3" size=".02" mass="1"/></body></worldbody>
  <actuator><motor joint="hinge"/></actuator><sensor><jointpos name="angle" joint="hinge"/></sensor>
  </mujoco>"""
SPATIAL = """<mujoco><option timestep=".002" integrator="implicitfast"/><worldbody><body>
  <joint name="a" axis="0 0 1" armature=".02" damping=".2"/>
  <geom type="capsule" fromto="0 0 0 .3 0 0" size=".02" mass=".8"/>
  <body pos=".3 0 0"><joint name="b" axis="0 1 0" armature=".01" damping=".2"/>
  <geom name="fore" type="capsule" fromto="0 0 0 .3 0 0" size=".02" mass=".5"/></body></body>
  </worldbody><actuator><position name="a" joint="a" kp="40" kv="3.4"/>
  <position name="b" joint="b" kp="60" kv="1.7"/></actuator></mujoco>"""
HELD, LINES = "zoh", "linear"
STATE = Controller(topic="/arm_controller/state", form=CommandForm.STATE, delay=0.008)
ARRAY = Controller(topic="/arm_controller/commands", delay=0.008)
# What commands do, and another way that leaves clearly more.
RECORDED = {
    "samples of a smooth motion": ({"rate": 1000.0, "shown": 20}, STATE, "cubic", "linear"),
    "points on lines": ({"rate": 1000.0, "shown": 20, "joined": True}, STATE, "linear", "cubic"),
    "one in five commands": ({"rate": 500.0, "shown": 5}, ARRAY, "cubic", "hold"),
    "all commands": ({"rate": 100.0}, ARRAY, "hold", "linear"),
}


SLOW = ("points on lines", "one in five commands")


@pytest.fixture(
    scope="module",
    params=[pytest.param(one, marks=[pytest.mark.slow] * (one in SLOW)) for one in RECORDED],
)
def recorded(request, tmp_path_factory) -> tuple[Path, str, str, str]:
    """An experiment of a SCARA, as ``init`` proposes it, what its commands do, and another way."""
    changes, controller, truth, other = RECORDED[request.param]
    folder, spec = tmp_path_factory.mktemp("robot"), of_text(robot_kinds.SCARA)()
    plan = replace(
        PLAN, duration=6.0, timestep=5e-4, controllers=(controller,),
        truth=hidden(spec.compile(), 7), **changes,
    )  # fmt: skip
    made = generate(spec, plan, folder / "bag")
    (folder / "robot.xml").write_text(spec.to_xml())
    proposal = propose(folder / "robot.xml", [made.bag], folder / "experiment.yaml")
    return folder / "experiment.yaml", proposal.text, truth, other


def test_init_chooses_what_the_motion_tells(recorded) -> None:
    _, text, truth, _ = recorded
    commands = [line for line in text.splitlines() if "actuator: " in line and "topic" in line]
    told = [re.search(r"interpolation: (\w+)", line) for line in commands]
    assert {one[1] if one else "hold" for one in told} == {truth}
    assert "times as much would be left" in commands[0]


def test_check_says_when_another_way_explains_more(recorded) -> None:
    file, text, truth, other = recorded
    plain = re.sub(r", interpolation: \w+", "", text)
    for way in (truth, other):
        named = re.sub(r"(- \{actuator: [^}]*)\}", rf"\1, interpolation: {way}}}", plain)
        file.write_text(named)
        findings = check_experiment(load_experiment(file), None)
        found = [one for one in findings if one.kind is FindingKind.INTERPOLATION]
        assert len(found) == (way != truth)
        for one in found:
            assert one.overrides[0].endswith(f".interpolation={truth}")
            assert one.evidence[f"left {truth}"] == 1.0 < one.evidence[f"left {way}"]


def test_held_commands_that_act_at_once_are_not_told_joined(tmp_path: Path, monkeypatch) -> None:
    """A plain loop of ``mj_step`` acts half a step early: held commands ask for less than no delay.

    Joined ones may take half an interval more than that, and had left 27 % less.
    """
    offsets = "sysid_ros.rehearsal.simulation.step_offsets"
    monkeypatch.setattr(offsets, lambda model: np.zeros(model.nu))
    spec = robot_kinds.servo_arm()
    spec.option.timestep = 0.002
    plan = replace(
        ARM_PLAN, duration=8.0, timestep=0.002, rate=100.0, seed=5,
        controllers=(Controller(topic="/arm_controller/commands"),),
        truth=hidden(spec.compile(), 5),
    )  # fmt: skip
    made = generate(spec, plan, tmp_path / "bag")
    (tmp_path / "robot.xml").write_text(spec.to_xml())
    proposal = propose(tmp_path / "robot.xml", [made.bag], tmp_path / "experiment.yaml")
    assert "held until the next; joined by lines" in proposal.text
    assert "interpolation" not in proposal.text


def test_beside_a_wrong_mass_nothing_is_told_of_commands(tmp_path: Path) -> None:
    """Joined commands had left less of what a mass does that nobody has freed."""
    spec = mujoco.MjSpec.from_string(SPATIAL)
    plan = replace(
        ARM_PLAN, duration=8.0, timestep=0.002, rate=100.0, seed=5,
        controllers=(Controller(topic="/arm_controller/commands"),),
    )  # fmt: skip
    made = generate(spec, plan, tmp_path / "bag")
    (tmp_path / "robot.xml").write_text(spec.to_xml())
    file = tmp_path / "experiment.yaml"
    file.write_text(propose(tmp_path / "robot.xml", [made.bag], file).text)
    spec.geom("fore").mass *= 1.5
    (tmp_path / "robot.xml").write_text(spec.to_xml())
    findings = check_experiment(load_experiment(file), None)
    assert [one.kind for one in findings] == [FindingKind.GRAVITY]


def pendulum(commanded: float) -> sysid.ModelSequences:
    """Six seconds of a pendulum under a torque, and commands that are so many times as large."""
    spec = mujoco.MjSpec.from_string(PENDULUM)
    model = spec.copy().compile()
    data, times, angles = mujoco.MjData(model), np.arange(0.0, 6.0, 0.002), []
    torques = np.sin(3.0 * times) + 0.5 * np.sin(11.0 * times)
    for torque in torques:
        data.ctrl[0] = torque
        angles.append(data.qpos[0])
        mujoco.mj_step(model, data)
    measured = np.array(angles) + 1e-4 * np.random.default_rng(0).standard_normal(len(times))
    commands = commanded * torques
    return sysid.ModelSequences(
        "pendulum",
        spec,
        "run",
        sysid.create_initial_state(model, [0.0], [0.0]),
        sysid.TimeSeries.from_control_names(times, commands[:, None], model),
        sysid.TimeSeries.from_names(times, measured[:, None], model, ["angle"]),
        allow_missing_sensors=True,
    )


def test_there_is_no_answer_where_the_simulation_flies_apart_with_one_way() -> None:
    modifier = sysid.AttributeModifier("joint", "hinge", "damping")
    params = sysid.ParameterDict()
    params.add(sysid.Parameter("damping", 0.1, 0.0, 5.0, modifier=modifier))
    later = {HELD: 0.0, LINES: 0.0}
    with RolloutPool(1) as pool:
        for size in (1.0, 1e15):
            fit = interpolation_fits.RecordedFit.of(pendulum(1.0), params, pool)
            assert fit is not None
            found = fit.compared({LINES: pendulum(size)}, later, [])
            assert (found is None) == (size > 1.0)


def test_residuals_are_weighed_by_what_a_fit_from_far_leaves() -> None:
    """Levels of its first steps had hidden what commands do, and other starts told otherwise."""
    modifier = sysid.AttributeModifier("joint", "hinge", "damping")
    params = sysid.ParameterDict()
    params.add(sysid.Parameter("damping", 4.9, 0.0, 5.0, modifier=modifier))
    with RolloutPool(1) as pool:
        fit = interpolation_fits.RecordedFit.of(pendulum(1.0), params, pool)
        assert fit is not None
        ways = fit.compared({LINES: pendulum(1.02)}, {HELD: 0.0, LINES: 0.0}, [])
    assert ways is not None and ways.beats(HELD, LINES)
    assert ways.left[HELD].sum() == pytest.approx(fit.problem.n_samples, rel=0.1)


def test_where_one_more_step_tells_no_way_from_another_nothing_is_fitted_further(
    monkeypatch,
) -> None:
    modifier = sysid.AttributeModifier("joint", "hinge", "damping")
    params = sysid.ParameterDict()
    params.add(sysid.Parameter("damping", 0.12, 0.0, 5.0, modifier=modifier))
    searches: list[object] = []
    minimize = interpolation_fits.minimize
    monkeypatch.setattr(
        interpolation_fits, "minimize", lambda *one: searches.append(one) or minimize(*one)
    )
    later = {HELD: 0.0, LINES: 0.0}
    with RolloutPool(1) as pool:
        for size, searched in ((1.0, False), (1.02, True)):
            fit = interpolation_fits.RecordedFit.of(pendulum(1.0), params, pool)
            assert fit is not None
            ways = fit.compared({LINES: pendulum(size)}, later, [])
            assert ways is not None and bool(searches) == ways.tells == searched
            assert ways.left[HELD].sum() == pytest.approx(fit.problem.n_samples, rel=0.1)


def test_of_dear_models_less_is_fitted_or_it_is_said(recorded, monkeypatch) -> None:
    file, text, truth, _ = recorded
    file.write_text(text)
    experiment = load_experiment(file)
    dataset = load_dataset(experiment, None)
    for work, windows in ((2.2e5, 8), (1e5, None)):
        monkeypatch.setattr(interpolation_fits, "_WORK", work)
        (told,) = command_samplings(experiment, dataset, None)
        assert told.best.value == truth
        assert (told.methods and len(told.methods.left[told.methods.best])) == windows
        assert ("was not tested: fits of this model take too long" in told.doubt) == (not windows)
    assert told.figures == ""


def test_topics_share_the_fit_as_recorded(tmp_path: Path, monkeypatch) -> None:
    spec = of_text(robot_kinds.SCARA)()
    names = [actuator.name for actuator in spec.actuators]
    controllers = tuple(
        Controller(topic=f"/{part}/commands", actuators=tuple(own), delay=0.008)
        for part, own in (("shoulder", names[:2]), ("wrist", names[2:]))
    )
    plan = replace(
        PLAN, duration=6.0, rate=50.0, controllers=controllers, truth=hidden(spec.compile(), 7)
    )
    made = generate(spec, plan, tmp_path / "bag")
    (tmp_path / "robot.xml").write_text(spec.to_xml())
    fits: list[object] = []
    fitted = interpolation_fits.fitted
    monkeypatch.setattr(interpolation_fits, "fitted", lambda one: fits.append(one) or fitted(one))
    proposal = propose(tmp_path / "robot.xml", [made.bag], tmp_path / "experiment.yaml")
    assert "interpolation" not in proposal.text
    assert proposal.text.count("times as much would be left") == 2
    assert len(fits) == 1


def test_commands_that_are_sent_often_are_compared_by_fine_encoders(tmp_path: Path) -> None:
    """Samples of 200 Hz were held, with a delay that was half an interval of them too short."""
    fine = JointStates(
        position=Reading(noise=1e-5, quantum=2e-5), timing=Timing(rate=1000.0, jitter=1e-5)
    )
    spec = robot_kinds.servo_arm()
    plan = replace(
        ARM_PLAN, duration=6.0, rate=1000.0, shown=5, sensors=(fine,), controllers=(ARRAY,),
        truth=hidden(spec.compile(), 7),
    )  # fmt: skip
    made = generate(spec, plan, tmp_path / "bag")
    (tmp_path / "robot.xml").write_text(spec.to_xml())
    proposal = propose(tmp_path / "robot.xml", [made.bag], tmp_path / "experiment.yaml")
    assert proposal.text.count("interpolation: cubic") == 3


def of_noise(left: dict[str, np.ndarray]) -> InterpolationScores:
    """Scores of which models err in nothing."""
    return InterpolationScores(left, dict.fromkeys(left, 0.0))


def test_the_more_often_commands_are_sent_the_more_it_takes_beside_errors_of_the_model() -> None:
    left = {HELD: np.linspace(104.0, 114.0, 16), LINES: np.linspace(94.0, 104.0, 16)}
    errors = 0.9 * sum(map(np.sum, left.values())) / 2.0
    told = [
        InterpolationScores(left, dict.fromkeys(left, errors / w)).beats(LINES, HELD)
        for w in (1.0, 0.2)
    ]
    assert told == [True, False]


def test_what_differs_by_chance_is_not_told() -> None:
    """Two ways share the noise; what they leave of it differs by a few per cent at most."""
    random = np.random.default_rng(0)
    wrong = 0
    for _ in range(400):
        left = random.chisquare(200, 16) * (1.0 + 0.02 * random.standard_normal((2, 16)))
        ways = of_noise({HELD: left[0], LINES: left[1]})
        wrong += ways.beats(HELD, LINES) or ways.beats(LINES, HELD)
    assert wrong <= 8


def test_little_that_all_windows_agree_on_is_not_told() -> None:
    """A simulated arm that held its commands left 2 % less with lines, in nearly all windows."""
    base = np.linspace(90.0, 110.0, 16)
    assert not of_noise({HELD: 1.02 * base, LINES: base}).beats(LINES, HELD)
    assert of_noise({HELD: 1.1 * base, LINES: base}).beats(LINES, HELD)


def test_a_few_windows_do_not_outvote_the_others() -> None:
    base = np.full(16, 100.0)
    few = base + np.where(np.arange(16) < 2, 200.0, -0.1)
    most = base + np.linspace(2.0, 20.0, 16)
    assert not of_noise({HELD: base, LINES: few}).beats(HELD, LINES)
    assert of_noise({HELD: base, LINES: most}).beats(HELD, LINES)
    assert of_noise({HELD: base, LINES: most}).size(LINES) == pytest.approx(1.11**0.5)
