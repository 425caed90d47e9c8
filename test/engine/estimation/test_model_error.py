# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A wrong model gets no tight intervals: time steps, windows, recordings that differ."""

from __future__ import annotations

from dataclasses import replace

import mujoco
import mujoco.rollout
import numpy as np
import pendulum
import pytest

from sysid_ros.arrays import FloatArray, IndexArray
from sysid_ros.engine.estimation import FitSettings, bias_check, fit
from sysid_ros.engine.estimation.shifts import ModelError, Shift, by_change, size_by_step
from sysid_ros.engine.estimation.window_sample import followed_shift
from sysid_ros.engine.least_squares import Point, ReducedSystem
from sysid_ros.engine.parameters import (
    AttributeModifier,
    Parameter,
    ParameterDict,
    SignalModifier,
)
from sysid_ros.engine.problem import WindowedProblem
from sysid_ros.engine.signals import (
    ModelSequences,
    SignalType,
    TimeSeries,
    create_initial_state,
)
from sysid_ros.engine.uncertainty import recording_scatter

STATISTICAL = FitSettings(model_error=False, threads=1)
FOLLOWED = "sysid_ros.engine.estimation.model_error.followed_shift"
TRUE_STEP, STEP = 0.00025, 0.002
SERVO = {"kp": 1770.0, "armature": 0.02, "damping": 15.0}
LIMITS = {"kp": 5000.0, "armature": 2.0, "damping": 500.0}


def test_one_linearization_tells_what_a_refit_would() -> None:
    data = [pendulum.sequences(*pendulum.recording(duration=10.0, noise=5e-3))]
    result = fit(data, pendulum.parameters(), FitSettings(threads=1))
    refits = bias_check(data, pendulum.parameters(), result, FitSettings(threads=1)).refits
    assert result.model_error is not None
    finer, shorter, _ = result.model_error.shifts
    armature = result["armature"]
    place = [p.name for p in result.parameters].index("armature")
    for shift, refit in ((finer, refits[0]), (shorter, refits[1])):
        assert shift.change == refit.change
        moved = refit.values[place] - armature.value
        assert shift.values[place] == pytest.approx(moved, rel=0.1, abs=2.0 * shift.chance[place])
    # A first-order integrator's error is twice the shift from h to h/2.
    assert armature.extrapolated == pytest.approx(armature.value + 2.0 * finer.values[place])
    assert armature.systematic >= abs(2.0 * finer.values[place])
    expected = np.hypot(result.model_error.statistical[place], armature.systematic)
    assert armature.standard_error == pytest.approx(expected, rel=1e-6)
    assert "moves with half the time step" in armature.flags


def test_of_two_shorter_time_steps_the_one_that_moves_an_estimate_farther_counts() -> None:
    """A delay moves by 0.26 ms from 2 ms to 0.25, by 0.02 to half of it, by 0.2 to a quarter."""

    def shift(order: float, *values: float, problem: str = "") -> Shift:
        moved = np.array(values)
        return Shift(
            "half the time step", order, moved, 0.1 * abs(moved), order * abs(moved), problem
        )

    quarter, half = shift(4.0 / 3.0, 0.20, 0.3), shift(2.0, 0.02, 0.2)
    windows = replace(half, change="windows of 0.5 s")
    found = by_change([quarter, half, windows])
    assert [each.change for each in found] == [half.change, windows.change]
    assert found[0].error == pytest.approx([0.8 / 3.0, 0.4])
    assert found[0].order * found[0].values == pytest.approx([0.8 / 3.0, 0.4])  # extrapolates alike
    assert by_change([shift(4.0 / 3.0, np.nan, np.nan, problem="it diverges"), half]) == (half,)


def test_a_shift_by_another_time_step_is_no_smaller_than_its_windows_make_it_by_chance() -> None:
    """Of 16 windows of 1 s at 25 Hz a delay's parts of 0.03 ms may add up to 0.02 or 0.2 ms."""
    values, chance = np.array([0.02, -0.2, 0.3, np.nan]), np.array([0.13, 0.13, np.nan, np.nan])
    np.testing.assert_array_equal(size_by_step(values, chance, few=False), [0.13, 0.2, 0.3, np.nan])
    few = size_by_step(np.array([0.1, -0.5]), np.array([0.13, 0.13]), few=True)
    np.testing.assert_array_equal(few, [0.0, 0.5])


@pytest.mark.parametrize("sizes", [(10.0,) * 6, (10.0, 6.0), (np.inf, np.inf)])
def test_shifts_that_are_as_large_hide_none_of_each_other(sizes: tuple[float, ...]) -> None:
    one = np.ones(1)
    shifts = tuple(Shift(f"choice {k}", 0.0, one, one, size * one) for k, size in enumerate(sizes))
    (flags,) = ModelError(one, one, shifts).flags()
    assert len(flags) == len(sizes)
    (flags,) = ModelError(one, one, (*shifts[:1], Shift("small", 0.0, one, one, one))).flags()
    assert flags == ("moves with choice 0",)


def test_a_search_that_a_limit_ended_reaches_to_where_it_was_going() -> None:
    data = [pendulum.sequences(*pendulum.recording(duration=6.0, noise=5e-3))]
    ended = fit(data, pendulum.parameters(), FitSettings(threads=1, max_iterations=1))
    finished = fit(data, pendulum.parameters(), FitSettings(threads=1))
    noise = fit(data, pendulum.parameters(), replace(STATISTICAL, max_iterations=1))
    missed = 0
    for early, late, statistical in zip(
        ended.parameters, finished.parameters, noise.parameters, strict=True
    ):
        interval, narrow = early.interval(), statistical.interval()
        assert interval is not None and narrow is not None
        assert interval[0] <= late.value <= interval[1]
        missed += not narrow[0] <= late.value <= narrow[1]
        far = abs(late.value - early.value) > abs(early.standard_error or 0.0)
        assert not far or "moves with more steps" in early.flags
    assert missed  # which is what it is about
    assert not any("more steps" in flag for one in finished.parameters for flag in one.flags)


def test_the_cost_is_a_fraction_of_the_fits(steps: list[int]) -> None:
    """In steps that are linearized, as time depends on the machine."""
    data = [pendulum.sequences(*pendulum.recording(duration=10.0, noise=5e-3))]
    by_noise = fit(data, pendulum.parameters(), STATISTICAL)
    alone = sum(steps)
    result = fit(data, pendulum.parameters(), FitSettings(threads=1))
    assert result.values == pytest.approx(by_noise.values)
    # Of ten windows four are linearized with a quarter of the time step, at the least; a fit of all
    # of them takes nine linearizations or more.
    assert alone < sum(steps) - alone <= 15 * steps[0]


def servo_spec(values: dict[str, float], step: float) -> mujoco.MjSpec:
    return mujoco.MjSpec.from_string(
        f"""<mujoco><option timestep="{step}"/>
        <worldbody><body name="link"><joint name="hinge" axis="0 1 0" frictionloss="0.1"
          armature="{values["armature"]}" damping="{values["damping"]}"/>
          <inertial pos="0 0 -0.1" mass="0.3" diaginertia="0.002 0.002 0.002"/></body></worldbody>
        <actuator><position name="servo" joint="hinge" kp="{values["kp"]}"/></actuator>
        <sensor><jointpos name="angle" joint="hinge"/></sensor></mujoco>"""
    )


def servo_recording(seed: int, start: dict[str, float], end: float = 10.0) -> ModelSequences:
    """A stiff servo as it is, simulated in fine steps, with the model of 2 ms that is fitted."""
    model = servo_spec(SERVO, TRUE_STEP).compile()
    commanded = np.arange(0.0, end, 0.01)
    command = 0.4 * np.sin(2.0 * commanded) + 0.05 * np.sign(np.sin(5.0 * commanded))
    fine = np.repeat(command, round(0.01 / TRUE_STEP))
    begin = create_initial_state(model, np.zeros(1), np.zeros(1))
    _, angles = mujoco.rollout.rollout(
        model, mujoco.MjData(model), begin[None], fine[None, :, None]
    )
    every = round(0.005 / TRUE_STEP)
    angle = angles[0, ::every]
    angle = angle + 3e-4 * np.random.default_rng(seed).normal(size=angle.shape)
    column = np.array([0])
    spec = servo_spec(start, STEP)
    return ModelSequences(
        "servo",
        spec,
        "run",
        create_initial_state(spec.copy().compile(), np.zeros(1), np.zeros(1)),
        TimeSeries(commanded, command[:, None], {"servo": (SignalType.MjCtrl, column)}, ("zoh",)),
        TimeSeries(
            TRUE_STEP * every * np.arange(len(angle)), angle,
            {"angle": (SignalType.MjSensor, column)},
        ),
    )  # fmt: skip


def servo_parameters(start: dict[str, float]) -> ParameterDict:
    params = ParameterDict()
    for name, value in start.items():
        place = ("actuator", "servo") if name == "kp" else ("joint", "hinge")
        modifier = AttributeModifier(*place, name)
        params.add(Parameter(name, value, 0.0, LIMITS[name], modifier=modifier))
    return params


def test_a_stiff_servo_at_a_long_time_step_is_flagged_and_wide() -> None:
    start = {"kp": 1000.0, "armature": 0.03, "damping": 20.0}
    data = [servo_recording(0, start)]
    by_noise = fit(data, servo_parameters(start), STATISTICAL)
    result = fit(data, servo_parameters(start), FitSettings(threads=1))
    missed = 0
    for name, truth in SERVO.items():
        low, high = by_noise[name].interval() or (np.nan, np.nan)
        missed += not low <= truth <= high
        low, high = result[name].interval() or (np.nan, np.nan)
        assert low <= truth <= high, name
        assert "moves with half the time step" in result[name].flags
    assert missed >= 1


DRIVE, LATE = {"armature": 0.086, "damping": 2.0, "frictionloss": 0.78}, 0.0116


def drive_spec(values: dict[str, float], step: float) -> mujoco.MjSpec:
    return mujoco.MjSpec.from_string(
        f"""<mujoco><option timestep="{step}" integrator="implicitfast"/>
        <worldbody><body name="link"><joint name="hinge" axis="0 1 0"
          frictionloss="{values["frictionloss"]}"
          armature="{values["armature"]}" damping="{values["damping"]}"/>
          <inertial pos="0 0 -0.02" mass="0.5" diaginertia="0.001 0.001 0.001"/></body></worldbody>
        <actuator><velocity name="drive" joint="hinge" kv="60"/></actuator>
        <sensor><jointpos name="angle" joint="hinge"/></sensor></mujoco>"""
    )


def drive_recording(seed: int, start: dict[str, float]) -> ModelSequences:
    """Speeds that are commanded at 40 Hz, simulated in fine steps, and the model of 1 ms."""
    random, commanded = np.random.default_rng(seed), np.arange(0.0, 20.0, 0.025)
    rates, phases = random.uniform(0.1, 0.6, 5), random.uniform(0.0, 2.0 * np.pi, 5)
    waves = np.sin(2.0 * np.pi * rates * commanded[:, None] + phases)
    command = 0.3 * (waves / np.sqrt(1.0 + 3.0 * rates)).sum(axis=1)
    fine = TRUE_STEP * np.arange(round(20.0 / TRUE_STEP))
    acts = np.searchsorted(commanded, fine - LATE + 1e-9, side="right") - 1
    model, column = drive_spec(DRIVE, TRUE_STEP).compile(), np.array([0])
    begin = create_initial_state(model, np.zeros(1), np.zeros(1))
    inputs = command[np.maximum(acts, 0)][None, :, None]
    _, angles = mujoco.rollout.rollout(model, mujoco.MjData(model), begin[None], inputs)
    angle = np.insert(angles[0, :, 0], 0, 0.0)[:: round(0.01 / TRUE_STEP)]
    angle = angle + 1e-5 * random.normal(size=angle.shape)
    spec = drive_spec(start, 0.001)
    return ModelSequences(
        "drive",
        spec,
        "run",
        create_initial_state(spec.copy().compile(), np.zeros(1), np.zeros(1)),
        TimeSeries(commanded, command[:, None], {"drive": (SignalType.MjCtrl, column)}, ("zoh",)),
        TimeSeries(
            0.01 * np.arange(len(angle)), angle[:, None],
            {"angle": (SignalType.MjSensor, column)},
        ),
    )  # fmt: skip


def test_a_delay_that_moves_by_a_part_of_the_time_step_is_followed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It trades with armature along a valley on which one linearization says nothing of either."""
    start = {"armature": 0.12, "damping": 3.0, "frictionloss": 0.5}
    params = ParameterDict()
    for name, value in start.items():
        modifier = AttributeModifier("joint", "hinge", name)
        params.add(Parameter(name, value, 0.0, 20.0 * value, modifier=modifier))
    params.add(Parameter("delay", 0.01, 0.0, 0.1, modifier=SignalModifier("drive", "delay")))
    followed: list[FloatArray] = []

    def kept(changed: WindowedProblem, own: WindowedProblem, at: Point) -> FloatArray:
        followed.append(followed_shift(changed, own, at))
        return followed[-1]

    monkeypatch.setattr(FOLLOWED, kept)
    result = fit([drive_recording(8, start)], params, FitSettings(threads=1, window_length=0.7))
    (moved,) = followed
    assert moved[0] < -0.01 and moved[3] > 3e-4  # less armature behind a longer delay, as it is
    for name, truth in {**DRIVE, "delay": LATE}.items():
        low, high = result[name].interval() or (np.nan, np.nan)
        assert low <= truth <= high, name


def test_where_one_step_says_too_little_the_time_steps_shift_is_followed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    start = {"kp": 1000.0, "armature": 0.03, "damping": 20.0}
    data, params = servo_recording(0, start, 5.0), servo_parameters(start)
    followed: list[FloatArray] = []

    def kept(changed: WindowedProblem, own: WindowedProblem, at: Point) -> FloatArray:
        followed.append(followed_shift(changed, own, at))
        return 10.0 * followed[-1]  # surely beyond one step and chance

    monkeypatch.setattr(FOLLOWED, kept)
    monkeypatch.setattr("sysid_ros.engine.estimation.model_error.MIN_COSTLY", 99)  # windows
    coarse = fit([data], params, FitSettings(threads=1))
    here = np.array([one.value for one in coarse.parameters])
    fine = fit([data.with_finer_step(4)], params, STATISTICAL, start=here)
    assert coarse.model_error is not None
    moved = np.array([one.value for one in fine.parameters]) - here
    assert followed[0] == pytest.approx(moved, rel=0.3)  # three steps go most of the way
    assert np.all(coarse.model_error.shifts[0].error > 10.0 * np.abs(followed[0]))


def test_a_time_step_that_matters_little_is_not_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(FOLLOWED)
    data = [pendulum.sequences(*pendulum.recording(duration=4.0, noise=2e-2))]
    assert fit(data, pendulum.parameters(), FitSettings(threads=1)).model_error is not None


@pytest.mark.parametrize(("common", "expected"), [(0.0, (1.0, 1.5)), (1.0, (3.0, 6.0))])
def test_recordings_that_differ_beyond_their_windows_widen(
    common: float, expected: tuple[float, float]
) -> None:
    """A parameter that is another in every recording: six of ten windows each."""
    recordings = np.repeat(np.arange(6), 10)
    factors = scatter_factors(recordings, 0.5 * common * np.ones(2))
    assert np.all(factors >= 1.0)
    assert expected[0] <= np.mean(factors) <= expected[1]


def test_one_parameter_that_differs_widens_no_other() -> None:
    recordings = np.repeat(np.arange(6), 10)
    factors = scatter_factors(recordings, np.array([2.0, 0.0, 0.0, 0.0, 0.0]))
    assert np.mean(factors[:, 0]) > 5.0
    # They do scatter a little: what is left of the first disturbs them.
    assert np.mean(factors[:, 1:]) < 0.25 * np.mean(factors[:, 0])


def test_a_long_recording_among_short_ones_widens_nothing() -> None:
    """Its leverage makes its part large, with right models too."""
    recordings = np.repeat(np.arange(4), [36, 8, 8, 8])
    assert np.mean(scatter_factors(recordings, np.zeros(5)) ** 2) < 1.5


def scatter_factors(recordings: IndexArray, scatter: FloatArray) -> FloatArray:
    """Factors (200, p) of linear problems whose parameters scatter between recordings."""
    rng, n, p = np.random.default_rng(1), len(recordings), len(scatter)
    factors = []
    for _ in range(200):
        jacobian = rng.normal(size=(n, 4, p))
        value = np.arange(p) + scatter * rng.normal(size=(recordings.max() + 1, p))[recordings]
        residual = rng.normal(size=(n, 4)) - np.einsum("wmi,wi->wm", jacobian, value)
        hessians = np.einsum("wmi,wmj->wij", jacobian, jacobian)
        gradients = np.einsum("wmi,wm->wi", jacobian, residual)
        system = ReducedSystem(hessians.sum(0), gradients.sum(0), hessians, gradients)
        errors = np.sqrt(np.diag(np.linalg.inv(system.hessian)))
        factors.append(recording_scatter(system, np.arange(p), errors, recordings.tolist()))
    return np.array(factors)


@pytest.mark.slow
def test_intervals_cover_with_the_truth_at_a_finer_time_step() -> None:
    """Pooled over 480 intervals; by noise alone far fewer contain the truth."""
    start = {"kp": 1000.0, "armature": 0.03, "damping": 20.0}
    covered, by_noise = [], []
    for seed in range(160):
        data = [servo_recording(seed, start)]
        for settings, found in ((FitSettings(threads=1), covered), (STATISTICAL, by_noise)):
            result = fit(data, servo_parameters(start), settings)
            for name, truth in SERVO.items():
                low, high = result[name].interval() or (np.nan, np.nan)
                found.append(low <= truth <= high)
    assert np.mean(covered) >= 0.92
    assert np.mean(by_noise) < 0.9
