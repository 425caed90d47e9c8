# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Designed motions keep every demand, and tell more than a multisine of the same limits."""

from __future__ import annotations

from pathlib import Path

import mujoco
import numpy as np
import pytest
from designed_arm import ARM, JOINTS
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from sysid_ros.cli import main
from sysid_ros.commands.design import _summary
from sysid_ros.excitation import (
    ExcitationError,
    ExcitationPath,
    MotionLimits,
    design_multisine,
    read_trajectory,
)
from sysid_ros.excitation.design import (
    CRITERIA,
    Demands,
    DesignSettings,
    MovingRobot,
    RestSpline,
    approach,
    criterion,
    design_motion,
    robot_demands,
)
from sysid_ros.excitation.design.clearance import Clearance
from sysid_ros.excitation.design.design import design_task, kept_throughout, search
from sysid_ros.excitation.design.designed_motion import DesignedMotion
from sysid_ros.excitation.design.task import DesignTask
from sysid_ros.excitation.design.torque_information import JointMotion

QUICK = DesignSettings(duration=8.0, starts=2, steps=8, budget=30.0)


@pytest.fixture(scope="module")
def model() -> mujoco.MjModel:
    return mujoco.MjModel.from_xml_string(ARM)


def demands(model: mujoco.MjModel, **changes: float) -> tuple[np.ndarray, Demands]:
    wanted = {"velocity": 2.0, "acceleration": 8.0, "clearance": 0.05} | changes
    robot = robot_demands(model, JOINTS, **wanted)  # type: ignore[arg-type]
    return robot.home, robot.demands


def task_of(model: mujoco.MjModel, **changes: object) -> DesignTask:
    home, found = demands(model)
    return design_task(
        MovingRobot(model, JOINTS, found, home), DesignSettings(duration=8.0, **changes)
    )  # type: ignore[arg-type]


@settings(max_examples=6, deadline=None, phases=[Phase.generate])
@given(
    velocity=st.floats(0.5, 4.0), acceleration=st.floats(2.0, 30.0), effort=st.floats(12.0, 40.0),
    clearance=st.floats(0.0, 0.08), seed=st.integers(0, 100),
)  # fmt: skip
def test_no_design_exceeds_a_limit(
    model: mujoco.MjModel, velocity: float, acceleration: float, effort: float, clearance: float,
    seed: int,
) -> None:  # fmt: skip
    ones = np.ones(2)
    limits = MotionLimits(
        lower=-2.0 * ones, upper=1.8 * ones, velocity=velocity * ones,
        acceleration=acceleration * ones, effort=np.array([effort, 0.5 * effort]),
    )  # fmt: skip
    wanted = Demands(limits=limits, jerk=100.0 * ones, clearance=clearance)
    short = DesignSettings(duration=6.0, starts=1, steps=4, seed=seed)
    motion = design_motion(MovingRobot(model, JOINTS, wanted, np.zeros(2)), short)
    times = np.linspace(0.0, 6.0, 6001)
    q, v, a = motion.motion(times)
    assert np.all(q >= limits.lower - 1e-9) and np.all(q <= limits.upper + 1e-9)
    assert np.all(np.abs(v) <= velocity + 1e-9)
    assert np.all(np.abs(a) <= acceleration + 1e-9)
    np.testing.assert_allclose([q[0], q[-1], v[0], v[-1], a[0], a[-1]], 0.0, atol=1e-9)
    free = mujoco.MjModel.from_xml_string(ARM)
    free.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONTACT)
    data = mujoco.MjData(free)
    for row in range(0, len(times), 50):
        data.qpos[:], data.qvel[:], data.qacc[:] = q[row], v[row], a[row]
        mujoco.mj_inverse(free, data)
        # friction may point either way while a joint turns round
        assert np.all(np.abs(data.qfrc_inverse) <= limits.effort)
        segment = np.zeros(6)
        for pair in (("floor", "lower"), ("floor", "upper")):
            one, other = (model.geom(name).id for name in pair)
            apart = mujoco.mj_geomDistance(free, data, one, other, 1.0, segment)
            assert apart >= clearance - 1e-3


def test_a_design_beats_a_multisine_of_the_same_limits(model: mujoco.MjModel) -> None:
    home, wanted = demands(model)
    motion = design_motion(MovingRobot(model, JOINTS, wanted, home), QUICK)
    task = task_of(model)
    multisine = design_multisine(JOINTS, wanted.limits.of_positions(), duration=8.0, fill=1.0)
    times = np.linspace(0.0, 8.0, 801)
    q = multisine.values(times)
    v = np.gradient(q, times, axis=0)
    played = JointMotion(q, v, np.gradient(v, times, axis=0))
    share = QUICK.rate * 8.0 / len(times)
    other = task.goal.prior + task.information.information(played, share)
    own = task.goal.prior + task.information.information(motion.motion(times), share)
    assert np.linalg.slogdet(own)[1] > np.linalg.slogdet(other)[1] + 0.5 * len(own)


def test_little_is_lost_between_the_instants_that_a_search_looks_at(model: mujoco.MjModel) -> None:
    ones = np.ones(2)
    limits = MotionLimits(
        lower=-2 * ones, upper=2 * ones, velocity=3 * ones, acceleration=20 * ones, effort=30 * ones
    )
    tight = Demands(limits=limits, jerk=np.inf * ones, clearance=0.05)
    few = DesignSettings(duration=6.0, starts=1, steps=6, budget=30.0)
    task = design_task(MovingRobot(model, JOINTS, tight, np.zeros(2)), few)
    found = search(task, few, lambda _: None)
    assert task.finer(4).keeps(found.c)
    kept = kept_throughout(task, found.c, MovingRobot(model, JOINTS, tight, np.zeros(2)))
    assert np.linalg.norm(kept) > 0.985 * np.linalg.norm(found.c)


def test_predicted_errors_are_those_of_least_squares(model: mujoco.MjModel) -> None:
    home, wanted = demands(model)
    noise = np.array([0.3, 0.1])
    motion = design_motion(MovingRobot(model, JOINTS, wanted, home), QUICK, torque_noise=noise)
    task = design_task(MovingRobot(model, JOINTS, wanted, home), QUICK, noise)
    times = np.arange(0.0, 8.0, 1.0 / QUICK.rate)
    rows = (task.information.rows(motion.motion(times)) / noise[:, None]).reshape(
        -1, len(motion.names)
    )
    generator = np.random.default_rng(0)
    draws = np.linalg.lstsq(rows, generator.normal(size=(len(rows), 400)), rcond=None)[0]
    np.testing.assert_allclose(draws.std(axis=1), motion.standard_errors, rtol=0.2)


def test_a_parameter_of_value_zero_has_no_relative_error_and_stands_last() -> None:
    made = DesignedMotion(
        joints=JOINTS, start=np.zeros(2), spline=RestSpline(8.0, 12), control=np.zeros((12, 2)),
        names=("armature", "mass", "damping"), nominal=np.array([0.0, 2.0, 0.1]),
        standard_errors=np.array([0.1, 0.1, 0.1]), condition=1.0, cost=0.0, steps=1,
        told_by="a fit", information=np.eye(3),
    )  # fmt: skip
    assert [made.names[i] for i in made.vaguest_first] == ["damping", "mass", "armature"]
    assert "inf" not in _summary(made)


def test_gradients_agree_with_differences(model: mujoco.MjModel) -> None:
    generator = np.random.default_rng(3)
    for name in CRITERIA:
        task = task_of(model, criterion=name)
        c = generator.normal(size=(task.spline.free, 2)) * 0.3
        around = task.linearized(c)
        direction = generator.normal(size=c.shape)
        step = 1e-5
        change = (task.cost(c + step * direction) - task.cost(c - step * direction)) / (2 * step)
        # Along a direction terms may cancel, their errors do not.
        length = float(np.linalg.norm(around.slope) * np.linalg.norm(direction))
        assert around.slope @ np.ravel(direction) == pytest.approx(change, abs=2e-5 * length)


def test_distances_change_as_their_slopes_say(model: mujoco.MjModel) -> None:
    clearance = Clearance(model, JOINTS, np.zeros(2), 0.01)
    at = np.array([[1.2, 0.7]])
    near = clearance.near(at, 1.0)
    step = 1e-6
    for joint in range(2):
        shift = step * np.eye(2)[joint]
        after, before = clearance.near(at + shift, 1.0), clearance.near(at - shift, 1.0)
        change = (after.distance - before.distance) / (2 * step)
        np.testing.assert_allclose(near.slope[:, joint], change, atol=1e-4)


def test_parameters_of_interest_get_smaller_errors(model: mujoco.MjModel) -> None:
    home, wanted = demands(model)
    plain = design_motion(MovingRobot(model, JOINTS, wanted, home), QUICK)
    word = "frictionloss"
    asked = DesignSettings(duration=8.0, starts=2, steps=8, interest=(word,))
    aimed = design_motion(MovingRobot(model, JOINTS, wanted, home), asked)
    at = [i for i, name in enumerate(plain.names) if word in name]
    assert np.all(aimed.standard_errors[at] < 0.9 * plain.standard_errors[at])
    with pytest.raises(ExcitationError, match="there are"):
        design_task(MovingRobot(model, JOINTS, wanted, home), DesignSettings(interest=("nothing",)))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"velocity": None}, "or --velocity"),
        ({"fill": 0.0}, "fill is 0"),
        ({"keyframe": "home"}, "keyframe 'home'"),
        ({"clearance": -1.0}, "cannot be negative"),
        ({"jerk": -5.0}, "must be positive"),
    ],
)
def test_what_cannot_be_asked_is_said(
    model: mujoco.MjModel, changes: dict[str, float], words: str
) -> None:
    with pytest.raises(ExcitationError, match=words):
        demands(model, **changes)


def test_a_posture_that_touches_is_refused_with_both_geoms(model: mujoco.MjModel) -> None:
    _, wanted = demands(model)
    with pytest.raises(ExcitationError, match=r"floor \(of world\) and lower \(of lower\)"):
        design_motion(MovingRobot(model, JOINTS, wanted, np.array([2.0, 0.5])), QUICK)


def test_a_torque_that_gravity_exceeds_is_refused(model: mujoco.MjModel) -> None:
    ones = np.ones(2)
    limits = MotionLimits(
        lower=-2 * ones, upper=2 * ones, velocity=ones, acceleration=5 * ones, effort=0.5 * ones
    )
    wanted = Demands(limits=limits, jerk=np.inf * ones, clearance=0.0)
    with pytest.raises(ExcitationError, match="needs more torque than"):
        design_motion(MovingRobot(model, JOINTS, wanted, np.array([0.9, 0.3])), QUICK)


@given(
    values=st.lists(st.floats(-1.0, 1.0), min_size=10, max_size=10), duration=st.floats(1.0, 30.0)
)
def test_peaks_and_bounds_hold_at_all_times(values: list[float], duration: float) -> None:
    spline = RestSpline(duration, 13)
    c = np.array(values)[:, None]
    times = np.linspace(0.0, duration, 4001)
    (low, high), *peaks = spline.peaks(c)
    q, v, a, j = (spline.basis(times, order) @ c for order in range(4))
    slack = 1e-9 * (1.0 + duration**-3)
    assert low <= q.min() + slack and high >= q.max() - slack
    for peak, curve, rows in zip(peaks, (v, a, j), spline.bounded()[1:], strict=True):
        highest = np.abs(curve).max()
        assert highest - slack <= peak[0] <= highest * 1.01 + 1e-6
        assert np.abs(rows @ c).max() >= highest - slack


def test_scaling_a_parameter_changes_no_criterion_but_its_scale() -> None:
    generator = np.random.default_rng(0)
    rows = generator.normal(size=(50, 4))
    units = np.array([1.0, 1e-3, 50.0, 2.0])
    for name in CRITERIA:
        plain, _ = criterion(name, rows.T @ rows, np.ones(4))
        other, _ = criterion(name, (rows * units).T @ (rows * units), 1.0 / units)
        assert other == pytest.approx(plain)


def test_the_command_writes_a_motion_that_excite_plays_whole(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "arm.xml").write_text(ARM)
    (tmp_path / "experiment.yaml").write_text(
        "model: arm.xml\nsequences: [none.mcap]\nparameters:\n"
        "- {joint: elbow, damping: {min: 0.0, max: 1.0}}\nsignals:\n"
        "- {qpos: elbow, topic: /joint_states, field: 'position[elbow]'}\n"
    )
    output = tmp_path / "motion.csv"
    arguments = ["design", str(tmp_path / "experiment.yaml"), "--output", str(output)]
    arguments += ["--velocity", "2", "--acceleration", "8", "--duration", "8", "--budget", "2"]
    arguments += ["--approach", "up", "bent"]
    assert main(arguments) == 0
    said = capsys.readouterr().out
    assert "No signal of the experiment tells a joint's torque" in said
    assert "condition number" in said and "On the way from bent the nearest are" in said
    page = (tmp_path / "motion.html").read_text()
    for words in ("Predicted intervals", "elbow.frictionloss", "floor (of world)", "torque, N m"):
        assert words in page
    assert page.count("<svg") == 1 + 2 * 4  # distances, and four curves of each joint
    reference = read_trajectory(output).reference(JOINTS, np.full(2, 8.0))
    assert reference.rests and reference.duration == 8.0
    rest = np.array([0.3, -0.2])
    path = ExcitationPath(reference, rest, ramp=2.0)
    assert path.duration == 12.0
    played = path.commands(np.array([0.0, 2.0, 6.0, 10.0, 12.0]))
    inside = reference.values(np.array([0.0, 4.0, 8.0]))
    np.testing.assert_allclose(played, [rest, *inside, rest], atol=1e-9)


def test_a_blocked_way_is_refused_with_both_geoms(model: mujoco.MjModel) -> None:
    _, wanted = demands(model)
    with pytest.raises(ExcitationError, match=r"keyframe 'low'.*floor \(of world\) and") as caught:
        approach(MovingRobot(model, JOINTS, wanted, np.zeros(2)), "low")
    assert "0 % of the way" in str(caught.value)
    with pytest.raises(ExcitationError, match="keyframe 'high' is not in the model"):
        approach(MovingRobot(model, JOINTS, wanted, np.zeros(2)), "high")


def test_the_nearest_pair_is_the_one_that_mujoco_says(model: mujoco.MjModel) -> None:
    clearance = Clearance(model, JOINTS, np.zeros(2), 0.02)
    postures = np.array([[0.0, 0.0], [1.6, 0.2]])
    nearest = clearance.nearest(postures, 0.3)
    data = mujoco.MjData(model)
    for posture, pair, distance in zip(postures, nearest.pair, nearest.distance, strict=True):
        data.qpos[:] = posture
        mujoco.mj_forward(model, data)
        found = [
            mujoco.mj_geomDistance(model, data, one, other, 0.3, None)
            for one, other in clearance.pairs
        ]
        assert distance == pytest.approx(min(found)) and int(pair) == int(np.argmin(found))


def test_pairs_that_a_model_lists_count_whatever_their_bits() -> None:
    text = """<mujoco><worldbody>
      <geom name="table" type="box" size=".5 .5 .05" pos="0 0 -.3" contype="0" conaffinity="0"/>
      <body><joint name="j" type="hinge" axis="0 1 0"/>
        <geom name="link" size=".03" fromto="0 0 0 .4 0 0" type="capsule" contype="0"
          conaffinity="0"/></body></worldbody>
      <contact><pair geom1="link" geom2="table"/></contact></mujoco>"""
    clearance = Clearance(mujoco.MjModel.from_xml_string(text), ("j",), np.zeros(1), 0.02)
    assert clearance.pairs == [(0, 1)]
    assert clearance.near(np.array([[1.2]]), 0.0).distance == pytest.approx([-0.00718], abs=1e-4)
