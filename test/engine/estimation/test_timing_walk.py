# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A walk along delays finds the optimum that a search by slope does not, or widens intervals."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace

import mujoco
import mujoco.rollout
import numpy as np
import pendulum
import pytest

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.estimation import FitResult, FitSettings, fit, timing_walk
from sysid_ros.engine.estimation.fit_rounds import FitRounds
from sysid_ros.engine.estimation.timing_walk import COMMON, FEWEST, PLACE, timing_components
from sysid_ros.engine.least_squares import Linearization, Point
from sysid_ros.engine.parameters import Parameter, ParameterDict, SignalModifier
from sysid_ros.engine.problem import WindowedProblem
from sysid_ros.engine.signals import ModelSequences, SignalType, TimeSeries, create_initial_state

DELAY, PERIOD = 0.02, 0.02  # s
WINDOWS = 5


def shaken(*, in_bursts: bool) -> Callable[[FloatArray], FloatArray]:
    """A quick oscillation, which tells delays apart but for whole periods; bursts tell those."""
    omega = 2.0 * np.pi / PERIOD
    return lambda t: 40.0 * np.sin(omega * t) * ((abs(t % 1.0 - 0.55) < 0.15) | (not in_bursts))


def late(torque: Callable[[FloatArray], FloatArray], noise: float = 1e-4) -> list[ModelSequences]:
    """A pendulum whose motor acts late."""
    model = pendulum.spec(pendulum.TRUTH).compile()
    times = pendulum.TIMESTEP * np.arange(2500)
    start = create_initial_state(model, np.zeros(1), np.zeros(1))
    acting = torque(times - DELAY)[None, :, None]
    _, angle = mujoco.rollout.rollout(model, mujoco.MjData(model), start[None], acting)
    angle = angle[0] + noise * np.random.default_rng(0).normal(size=angle[0].shape)
    column = np.array([0])
    control = TimeSeries(times, torque(times)[:, None], {"motor": (SignalType.MjCtrl, column)})
    measured = TimeSeries(times, angle, {"angle": (SignalType.MjSensor, column)})
    return [pendulum.sequences(control, measured)]


def fitted(
    data: list[ModelSequences], begin: float, length: float = 1.0, *, model_error: bool = True
) -> FitResult:
    params = pendulum.parameters()
    params.add(Parameter("delay", begin, 0.0, 0.2, modifier=SignalModifier("motor", "delay")))
    settings = FitSettings(threads=1, window_length=length, landscapes=0, model_error=model_error)
    return fit(data, params, settings)


def test_a_delay_that_slopes_do_not_lead_to_is_found() -> None:
    data = late(shaken(in_bursts=True))
    alone = fitted(data, 0.05, model_error=False)
    assert alone["delay"].value > DELAY + 0.4 * PERIOD
    result = fitted(data, 0.05)
    assert result["delay"].value == pytest.approx(DELAY, abs=1e-3)
    assert result.noise["angle"] < 0.9 * alone.noise["angle"]


def test_two_optima_that_explain_the_data_alike_are_both_in_the_interval(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    differentiated: list[tuple[int, bytes]] = []
    derivatives = WindowedProblem._new_derivatives

    def counted(problem: WindowedProblem, visit, starts):
        differentiated.append((id(problem), visit.point.theta.tobytes()))
        return derivatives(problem, visit, starts)

    monkeypatch.setattr(WindowedProblem, "_new_derivatives", counted)
    result = fitted(late(shaken(in_bursts=False)), DELAY + PERIOD)
    problem, _ = differentiated[0]
    own = [theta for where, theta in differentiated if where == problem]
    assert len(own) == len(set(own))  # a walk does not make the fit forget its optimum
    low, high = result["delay"].interval() or (np.nan, np.nan)
    assert low <= DELAY + 1e-3
    assert "moves with another start" in result["delay"].flags
    assert high >= result["delay"].value


def test_a_place_where_a_window_diverges_widens_nothing() -> None:
    for last, told in ((0.3, 0.5), (np.inf, 0.0)):
        excess = np.array([0.1, 0.2, -0.5, last])
        place = timing_walk._Place(0, Point(np.ones(1), ()), excess, 0.0)
        assert timing_walk._told(place, 4, np.zeros(1)) == told


def test_where_there_is_one_optimum_nothing_changes_and_it_costs_little(steps: list[int]) -> None:
    data = late(pendulum.torque, noise=1e-3)
    by_noise = fitted(data, 0.03, model_error=False)
    alone = sum(steps)
    result = fitted(data, 0.03)
    assert result.values == pytest.approx(by_noise.values)
    assert "moves with another start" not in result["delay"].flags
    fewest = FEWEST * COMMON * PLACE * max(steps) / WINDOWS  # one walk of the fewest windows
    assert sum(steps) - 2 * alone <= 0.25 * alone + fewest


def test_delays_come_before_time_constants() -> None:
    params = ParameterDict()
    params.add(Parameter("mass", 1.0, 0.0, 2.0))
    for name in ("a", "b"):
        params.add(Parameter(name, 0.0, 0.0, 1.0, modifier=SignalModifier(name, "delay")))
    params["b"].frozen = True
    assert timing_components(params).tolist() == [1]


def test_all_windows_decide_about_the_most_telling_places(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three windows leave two places open, of which thirty rule out the farther one."""
    few, all_of_them = np.array([0.1, -0.1, 0.0]), np.tile([0.9, 1.0, 1.1], 10)

    def place(theta: float, excess: FloatArray) -> timing_walk._Place:
        return timing_walk._Place(0, Point(np.array([theta]), ()), excess, 0.0)

    def of_all(problem, solution, own, at: timing_walk._Place, used) -> timing_walk._Place:
        assert len(at.excess) == len(used)
        assert own == "of all"
        far = at.point.theta[0] == 8.0
        return place(at.point.theta[0], all_of_them if far else all_of_them - 1.0)

    asked: list[Point] = []

    def window_costs(problem, point: Point) -> str:
        asked.append(point)
        return "of all"

    monkeypatch.setattr(timing_walk, "_of_all", of_all)
    monkeypatch.setattr(timing_walk, "window_costs", window_costs)
    problem = SimpleNamespace(windows=range(30))
    solution = SimpleNamespace(point=Point(np.zeros(1), ()))
    judged = timing_walk._judged(
        problem, solution, [place(2.0, few), place(8.0, few)], np.arange(3), np.full(1, 0.1)
    )
    told = [timing_walk._told(at, 30, np.zeros(1))[0] for at in judged]
    assert told == [0.0, timing_walk.REACHED * 2.0]
    assert len(asked) == 1  # what the optimum costs is the same for both


def test_intervals_do_not_depend_on_how_long_the_solver_searched(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    data = late(pendulum.torque, noise=1e-3)
    once = fitted(data, 0.03, 0.5)
    update = FitRounds._update_noise

    def busy(rounds: FitRounds, linearization: Linearization) -> bool:
        rounds._problem.jacobians += 100
        return update(rounds, linearization)

    monkeypatch.setattr(FitRounds, "_update_noise", busy)
    again = fitted(data, 0.03, 0.5)
    assert again.jacobians >= once.jacobians + 100
    assert [p.standard_error for p in again.parameters] == [
        p.standard_error for p in once.parameters
    ]


def test_a_place_where_the_model_flies_apart_is_no_lower_optimum() -> None:
    """Nor does numpy tell the user of infinite costs."""
    excess = np.array([np.inf, *[-1.0] * FEWEST])
    place = timing_walk._Place(0, Point(np.zeros(1)), excess, 0.0)
    with np.errstate(all="raise"):
        assert not place.is_lower(0.05)
