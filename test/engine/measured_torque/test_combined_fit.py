# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Measured torque in a fit by simulation of a servo, whose motion alone tells no masses."""

from __future__ import annotations

import itertools
from dataclasses import replace

import mujoco
import numpy as np
import pytest

from sysid_ros import sysid
from sysid_ros.engine.attributes import lookup
from sysid_ros.engine.estimation import NOTHING_KNOWN, FitSettings
from sysid_ros.engine.measured_torque import methods
from sysid_ros.engine.measured_torque.combined_fit import (
    torque_beside_simulation,
    without_torque,
)
from sysid_ros.engine.parameters import AttributeModifier, Parameter, ParameterDict, SignalModifier
from sysid_ros.engine.problem import Span
from sysid_ros.engine.signals import ModelSequences, SignalType, TimeSeries, create_initial_state

pytest.importorskip("clarabel", reason="the convex solver is not installed")

JOINTS = ("shoulder", "elbow")
SENSORS = tuple(f"{joint}_{what}" for what in ("pos", "torque") for joint in JOINTS)
MASSES = {"upper": 2.0, "fore": 1.0}
GAIN, RATE, FINER = 80.0, 6.0, 8
STEP, DURATION = 0.002, 10.0
TRUTH = {"upper_mass": 2.0, "fore_mass": 1.0, "shoulder_damping": 0.3, "elbow_damping": 0.3,
         "shoulder_servo_kp": GAIN, "elbow_servo_kp": GAIN}  # fmt: skip

ARM = """
<mujoco>
  <option timestep="{step}" integrator="{integrator}">
    <flag contact="disable" limit="disable"/>
  </option>
  <worldbody>
    <body name="upper">
      <joint name="shoulder" axis="0 1 0" damping="0.3" armature="0.05"/>
      <inertial mass="{upper}" pos="0.15 0 0" diaginertia="0.002 {upper_i} {upper_i}"/>
      <body name="fore" pos="0.3 0 0">
        <joint name="elbow" axis="0 1 0" damping="0.3" armature="0.05"/>
        <inertial mass="{fore}" pos="0.12 0 0.02" diaginertia="0.001 {fore_i} {fore_i}"/>
      </body>
    </body>
  </worldbody>
  <actuator>
    <position name="shoulder_servo" joint="shoulder" kp="80" kv="6"/>
    <position name="elbow_servo" joint="elbow" kp="80" kv="6"/>
  </actuator>
  <sensor>
    <jointpos name="shoulder_pos" joint="shoulder"/>
    <jointpos name="elbow_pos" joint="elbow"/>
    <jointactuatorfrc name="shoulder_torque" joint="shoulder"/>
    <jointactuatorfrc name="elbow_torque" joint="elbow"/>
  </sensor>
</mujoco>
"""


def arm(step: float, wrong: float = 1.0, integrator: str = "implicitfast") -> mujoco.MjSpec:
    """The arm, or one whose links weigh something else."""
    upper, fore = (wrong * mass for mass in MASSES.values())
    inertias = {"upper_i": 0.008 * upper, "fore_i": 0.006 * fore}
    return mujoco.MjSpec.from_string(
        ARM.format(step=step, integrator=integrator, upper=upper, fore=fore, **inertias)
    )


def recorded(
    seed: int, wrong: float = 1.3, hold: float = 0.0, rate: float = 125.0, *, late: bool = True
) -> ModelSequences:
    """A servo that follows a sum of sines, integrated with no error worth mentioning.

    Args:
      seed: Of the sines and the noise.
      wrong: By what the model's links are too heavy.
      hold: For how long references are held, s; they change with the time step where it is 0.
      rate: Samples per second.
      late: Whether torque at a jump of the reference is that behind it, or that before.
    """
    model, rng = arm(STEP / FINER, integrator="RK4").compile(), np.random.default_rng(seed)
    times = STEP / FINER * np.arange(round(DURATION * FINER / STEP))
    wanted = np.zeros((len(times), 2))
    for k in range(1, 6):
        phase = rng.uniform(0.0, 2.0 * np.pi, 2)
        wanted += 0.3 * rng.normal(size=2) * np.sin(2.0 * np.pi * 0.2 * k * times[:, None] + phase)
    data, seen = mujoco.MjData(model), np.empty((len(times), 4))
    data.qpos[:], data.qvel[:] = wanted[0], (wanted[1] - wanted[0]) * FINER / STEP
    held = round(hold * FINER / STEP)
    if held:
        wanted = wanted[::held].repeat(held, axis=0)[: len(times)]
    before, behind = np.vstack([wanted[:1], wanted[:-1]]), np.vstack([wanted[1:], wanted[-1:]])
    for i, row in enumerate(seen):
        row[:2] = data.qpos
        row[2:] = GAIN * ((wanted if late else before)[i] - data.qpos) - RATE * data.qvel
        data.ctrl[:] = wanted[i] if held else 0.5 * (wanted[i] + behind[i])
        mujoco.mj_step(model, data)
    at = np.round(np.arange(0.0, DURATION, 1.0 / rate) * FINER / STEP).astype(int)
    told = slice(None, None, held or FINER)
    noise = rng.standard_normal((len(at), 4)) * (1e-4, 1e-4, 0.03, 0.03)
    return sequences(
        arm(STEP, wrong), (times[told], wanted[told], hold > 0.0), times[at], seen[at] + noise
    )


def sequences(
    spec: mujoco.MjSpec,
    commands: tuple[np.ndarray, np.ndarray, bool],
    times: np.ndarray,
    seen: np.ndarray,
) -> ModelSequences:
    model, (stamps, wanted, held) = spec.copy().compile(), commands
    controls = {f"{n}_servo_ctrl": (SignalType.MjCtrl, np.array([i])) for i, n in enumerate(JOINTS)}
    sensors = {n: (SignalType.MjSensor, np.array([i])) for i, n in enumerate(SENSORS)}
    return ModelSequences(
        "arm", spec, "run", create_initial_state(model, model.qpos0, np.zeros(2)),
        TimeSeries(stamps, wanted, controls, ("zoh", "zoh") if held else None),
        TimeSeries(times, seen, sensors),
    )  # fmt: skip


def parameters(spec: mujoco.MjSpec) -> ParameterDict:
    params = ParameterDict()
    for element, name, attribute in (
        ("body", "upper", "mass"), ("body", "fore", "mass"), ("joint", "shoulder", "damping"),
        ("joint", "elbow", "damping"), ("actuator", "shoulder_servo", "kp"),
        ("actuator", "elbow_servo", "kp"),
    ):  # fmt: skip
        row = lookup(element, attribute)
        nominal = row.read(spec, name)
        params.add(
            Parameter(
                f"{name}_{attribute}", nominal, 0.2 * nominal, 5.0 * nominal, unit=row.unit,
                modifier=AttributeModifier(element, name, attribute),
            )
        )  # fmt: skip
    return params


SETTINGS = FitSettings(threads=1)


@pytest.fixture(scope="module")
def recording() -> ModelSequences:
    return recorded(0)


@pytest.fixture(scope="module")
def fitted(recording) -> sysid.FitResult:
    return sysid.fit([recording], parameters(recording.spec), SETTINGS)


def test_torque_finds_masses_that_the_motion_of_a_servo_leaves_open(recording, fitted):
    for name, truth in TRUTH.items():
        estimate = fitted[name]
        assert abs(estimate.value - truth) < 3.5 * estimate.standard_error, name
        assert estimate.standard_error < 0.01 * truth, name  # 0.025 with the time step's error
    motion = without_torque(recording, ("shoulder_torque", "elbow_torque"))
    alone = sysid.fit([motion], parameters(recording.spec), SETTINGS)
    for name in ("upper_mass", "fore_mass"):
        error = alone[name].standard_error
        assert error is None or error > 3.0 * fitted[name].standard_error


def test_torque_has_a_noise_level_of_its_own_behind_the_row_filter(fitted):
    for joint in JOINTS:
        assert 0.002 < fitted.noise[f"{joint}_torque"] < 0.06
        assert fitted.residuals[f"{joint}_torque"].samples > 20


def test_refits_of_the_bias_check_have_rows_of_torque_at_a_time_step_of_zero(
    recording, fitted, monkeypatch
):
    asked = []

    def seen(*_, **options):
        asked.append(options)
        return fitted

    monkeypatch.setattr(methods, "fit", seen)
    check = sysid.bias_check([recording], parameters(recording.spec), fitted, SETTINGS)
    assert len(check.refits) == len(asked) == 3
    assert all(one["added"] is not None and not one["judged"] for one in asked)


def test_the_check_of_windows_has_rows_of_torque_of_each_cut(recording, fitted):
    check = methods.window_check_by_method(
        [recording], parameters(recording.spec), fitted, SETTINGS, known=NOTHING_KNOWN
    )
    assert [one.cut for one in check.possible] == [one.cut for one in check.estimates]
    own, *others = check.estimates
    width = own.upper - own.lower
    for one in others:  # without these rows nothing tells masses
        assert np.all(one.upper - one.lower < 4.0 * width)
        assert not check.apart(own, one)


def rows_of(recording, params=None):
    return torque_beside_simulation(
        [recording], params or parameters(recording.spec), SETTINGS, NOTHING_KNOWN
    )


def test_one_gram_matrix_per_window_has_the_cost_its_slope_and_adds_up(recording):
    rows = rows_of(recording)
    whole = rows.over([Span("run", 0.0, DURATION)])
    parts = whole.over(Span("run", 0.0, DURATION).cut(np.array([2.0, 3.5, 8.0])))
    theta, noise = 1.1 * rows.proposal, whole.first_noise()
    (gram,) = whole.grams(theta, noise)
    np.testing.assert_allclose(parts.grams(theta, noise).sum(axis=0), gram, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(whole.costs(theta, noise), 0.5 * gram[-1, -1])
    assert parts.costs(theta, noise).sum() == pytest.approx(0.5 * gram[-1, -1])
    for i in range(len(theta)):
        moved = [theta + sign * 1e-4 * np.eye(len(theta))[i] for sign in (-1.0, 1.0)]
        low, high = (float(whole.costs(one, noise)[0]) for one in moved)
        assert gram[i, -1] == pytest.approx((high - low) / 2e-4, rel=1e-5, abs=1e-6)


@pytest.mark.parametrize("late", [True, False], ids=["behind jumps", "before jumps"])
def test_torque_that_is_sampled_where_references_jump_is_not_taken_for_damping(late):
    held = recorded(7, hold=0.008, late=late)
    rows = rows_of(held).over([Span("run", 2.0 * k, 2.0 * k + 2.0) for k in range(5)])
    truth = np.array(list(TRUTH.values()))
    gram = rows.grams(truth, dict.fromkeys(rows.signals, 0.03)).sum(axis=0)[[0, 1, 2, 3, -1]]
    step = np.linalg.solve(gram[:-1, :4], -gram[:-1, -1])
    # 1.1 of damping with the sawtooth, 0.09 where joints that give way to it are not allowed for
    np.testing.assert_allclose(step / truth[:4], 0.0, atol=0.03)


@pytest.mark.slow  # 60 s
def test_intervals_hold_the_truth_and_are_no_wider_than_repetition_says():
    held, ratios = [], []
    for hold, rate in itertools.product([0.008, 0.002, 0.0], [100.0, 125.0, 500.0]):
        found = []
        for seed in range(4):
            recording = recorded(seed, hold=hold, rate=rate)
            fitted = sysid.fit([recording], parameters(recording.spec), SETTINGS)
            found.append([fitted[name] for name in TRUTH])
            for name, truth in TRUTH.items():
                low, high = fitted[name].interval()
                held.append(low <= truth <= high)
        values = np.array([[one.value for one in row] for row in found])
        errors = np.array([[one.standard_error for one in row] for row in found])
        ratios.append(np.sqrt(np.mean(errors**2, axis=0)) / values.std(axis=0, ddof=1))
    assert np.mean(held) > 0.92
    assert (np.median(ratios, axis=0) < 3.0).all()  # 2.1 at most; 5.1 with the time step's error


def test_whole_inertias_have_the_slope_of_their_coordinates(recording):
    row = lookup("body", "inertia")
    nominal = row.read(recording.spec, "fore")
    low, high = row.bounds(nominal)
    params = ParameterDict()
    params.add(
        Parameter("fore", nominal, low, high, modifier=AttributeModifier("body", "fore", "inertia"))
    )
    rows = rows_of(recording, params).over([Span("run", 0.0, DURATION)])
    noise = rows.first_noise()
    (gram,) = rows.grams(nominal, noise)
    for i in range(10):
        moved = [nominal + sign * 1e-4 * np.eye(10)[i] for sign in (-1.0, 1.0)]
        low_cost, high_cost = (float(rows.costs(one, noise)[0]) for one in moved)
        assert gram[i, -1] == pytest.approx((high_cost - low_cost) / 2e-4, rel=1e-4, abs=1e-4)


def test_what_only_a_simulation_knows_is_left_to_it(recording):
    late = parameters(recording.spec)
    late.add(Parameter("late", 0.0, -0.01, 0.01, modifier=SignalModifier("elbow_torque", "delay")))
    assert rows_of(recording, late) is None
    longer = parameters(recording.spec)
    body = next(each.name for each in recording.spec.bodies[1:] if each.name and not each.mocap)
    place = AttributeModifier("body", body, "pos_z")
    longer.add(Parameter("longer", 0.0, -0.01, 0.01, modifier=place))
    assert rows_of(recording, longer) is None
    longer["longer"].frozen = True
    assert rows_of(recording, longer) is not None
    assert rows_of(without_torque(recording, ("shoulder_torque", "elbow_torque"))) is None
    assert rows_of(without_torque(recording, ("elbow_pos",))) is None


def test_the_setting_leaves_torque_to_the_simulated_servo(recording):
    torque = replace(SETTINGS.torque, beside_simulation=False)
    settings = replace(SETTINGS, torque=torque, max_iterations=1, model_error=False)
    found = sysid.fit([recording], parameters(recording.spec), settings)
    assert found.residuals["elbow_torque"].samples > 1000  # not thinned by a filter
