# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any

import mujoco
import numpy as np
import pytest
from chains import problem

from sysid_ros.arrays import BoolArray, FloatArray
from sysid_ros.engine.estimation.fit_rounds import FitRounds, Listeners
from sysid_ros.engine.estimation.fit_settings import FitSettings, SignalNoise
from sysid_ros.engine.estimation.stalled_windows import TrustedWindows, holding_up, settled_starts
from sysid_ros.engine.least_squares import (
    INITIAL_DAMPING,
    LOSSES,
    Linearization,
    Point,
    Solution,
    SolverSettings,
    minimize,
)
from sysid_ros.engine.parameters import AttributeModifier, Parameter, ParameterDict

TRUTH, ROWS = 1.0, 40
LANDS = mujoco.MjModel.from_xml_string("""<mujoco><worldbody><geom type="plane" size="1 1 1"/>
  <body pos="0 0 1"><freejoint/><geom size="0.1"/></body></worldbody></mujoco>""")
FALLS = np.array([0.3, 0.2, 0.05, 0.05])  # heights of that ball, m
KINK = 200.0  # times what it is off: no step lowers it, while its slope says that one would
# A trolley, with a load that pulls at it and a wheel that does not; only the trolley is measured.
LOADED = """<mujoco><option timestep="0.002" integrator="implicitfast"/><worldbody><body>
  <joint name="trolley" type="slide" axis="1 0 0" damping="8"/><geom size=".1" mass="2"/>
  <body><joint axis="0 1 0" damping=".02"/><geom size=".05" pos="0 0 -1" mass="1"/></body>
  <body><joint axis="0 1 0" damping="1e-9"/><geom size=".01" mass="1e-3"/></body></body></worldbody>
  <actuator><motor name="motor" joint="trolley"/></actuator>
  <sensor><jointpos name="place" joint="trolley"/></sensor></mujoco>"""


@dataclass(frozen=True)
class Line:
    """A window that follows a parameter and its start linearly, or with a kink where they meet."""

    number: int
    by_theta: FloatArray
    by_start: FloatArray
    noise: FloatArray
    kinked: bool = False
    added: float = 0.0  # weight of a row beside those of simulation, which tells the parameter
    spread: FloatArray = field(default_factory=lambda: np.ones(1))
    lands: bool = True
    model: mujoco.MjModel = LANDS
    n_start: int = 1
    n_samples: int = ROWS

    @property
    def sequence(self) -> Any:
        return SimpleNamespace(name="recording")

    @property
    def reader(self) -> Any:
        return SimpleNamespace(carried=np.zeros(1, dtype=np.bool_))

    @property
    def window(self) -> Any:
        samples = SimpleNamespace(times=np.array([0.0, 1.0]))
        return SimpleNamespace(start=float(self.number), samples=samples)

    def sigma(self, noise: dict[str, float]) -> FloatArray:
        return np.full(ROWS, noise["signal"])

    def residual(self, theta: float, start: float) -> tuple[FloatArray, FloatArray]:
        """The residual and its derivatives, (rows, 2)."""
        if self.kinked:
            off = theta + start
            slope = KINK if off >= 0.0 else -KINK
            value, by_both = np.full(ROWS, 6.0 + slope * off), np.full((ROWS, 2), slope)
            return value, by_both
        value = self.by_theta * (theta - TRUTH) + self.by_start * start + self.noise
        return value, np.stack([self.by_theta, self.by_start], axis=1)


class Problem:
    """What a search and :mod:`stalled_windows` use of a problem, over such windows."""

    loss = LOSSES["linear"]
    lower, upper, scale = np.array([-10.0]), np.array([10.0]), np.ones(1)
    engine = "reference"
    params: Any = SimpleNamespace(
        free=lambda: [SimpleNamespace(size=1, modifier=None)],
        scalar_names=lambda: ["theta"],
        scalar_units=lambda: [""],
    )

    def __init__(self, windows: Sequence[Line]) -> None:
        self.windows = tuple(windows)
        builder = SimpleNamespace(build=lambda theta: SimpleNamespace(model=LANDS))
        batch = SimpleNamespace(steps=np.full(len(windows), len(FALLS)))
        self.groups = [
            SimpleNamespace(windows=windows, select=self._chosen, builder=builder, batches=[batch])
        ]
        self.noise, self.evaluations, self.jacobians = {"signal": 1.0}, 0, 0

    def _chosen(self, places: list[int]) -> list[Line]:
        return [self.windows[k] for k in places]

    def with_groups(self, groups: Sequence[list[Line]], engine: str) -> Problem:
        return Problem(groups[0])

    def initial_point(self) -> Point:
        return Point(np.zeros(1), tuple(np.zeros(1) for _ in self.windows))

    def residuals(self, point: Point) -> list[FloatArray]:
        theta = float(point.theta[0])
        pairs = zip(self.windows, point.starts, strict=True)
        return [one.residual(theta, float(start[0]))[0] for one, start in pairs]

    def added_costs(self, theta: FloatArray) -> FloatArray:
        return np.array([0.5 * one.added * (theta[0] - TRUTH) ** 2 for one in self.windows])

    def simulated(self, point: Point) -> Any:
        states = np.zeros((len(self.windows), len(FALLS), 1 + LANDS.nq + LANDS.nv))
        states[:, :, 4] = 1.0  # the quaternion
        for one, own in zip(self.windows, states, strict=True):
            own[:, 3] = FALLS if one.lands else 1.0
        return [[SimpleNamespace(states=states.reshape(-1, states.shape[2]))]]

    def cost(self, point: Point) -> float:
        return self.linearize(point).cost

    def linearize(self, point: Point) -> Linearization:
        grams, cost = [], 0.0
        for one, start in zip(self.windows, point.starts, strict=True):
            value, slope = one.residual(float(point.theta[0]), float(start[0]))
            rows = np.column_stack([slope, value])
            prior = np.array([[0.0, 1.0, start[0]]])
            weight = self.loss.gradient_weight(value)[:, None]
            row = np.array([[1.0, 0.0, point.theta[0] - TRUTH]])
            grams.append(rows.T @ (weight * rows) + prior.T @ prior + one.added * row.T @ row)
            cost += self.loss.cost(value) + 0.5 * float(start[0]) ** 2
        cost += float(self.added_costs(point.theta).sum())
        return Linearization(cost, tuple(grams), np.zeros((2, 2)))


def windows(kinked: BoolArray) -> list[Line]:
    rng = np.random.default_rng(3)
    return [
        Line(k, *(0.3 * rng.normal(size=(2, ROWS))), rng.normal(size=ROWS), kinked=bool(own))
        for k, own in enumerate(kinked)
    ]


def searched(problem: Any, point: Point) -> Solution:
    return minimize(problem, point, SolverSettings(chance=0.2))


def test_a_window_that_breaks_its_promise_holds_no_search_up() -> None:
    """One of eight has a kink: the search stays where it begins for its sake, and goes on without.

    It stays out, as no start makes it fit as well as the others.
    """
    problem: Any = Problem(windows(np.arange(8) == 2))
    stuck = searched(problem, problem.initial_point())
    assert abs(stuck.point.theta[0] - TRUTH) > 0.5
    trusted = TrustedWindows(problem)
    point = trusted.without_hindrance(stuck)
    assert point is not None
    assert trusted.kept.tolist() == [0, 1, 3, 4, 5, 6, 7]
    assert "1 of 8 windows left out" in trusted.in_words()
    assert trusted.left_out[0].holds("recording", 2.5)
    found = searched(trusted.problem, point)
    assert abs(found.point.theta[0] - TRUTH) < 0.2
    assert len(trusted.whole(found.point).starts) == 8
    assert trusted.without_hindrance(found) is None
    assert trusted.with_returned(found) is None
    assert len(trusted.left_out) == 1


def test_a_window_in_which_nothing_touches_is_not_lost() -> None:
    """It may leap between optima, such as those of a delay, whatever others do."""
    flies = [replace(one, lands=not one.kinked) for one in windows(np.arange(8) == 2)]
    problem: Any = Problem(flies)
    stuck = searched(problem, problem.initial_point())
    assert TrustedWindows(problem).without_hindrance(stuck) is None


def test_windows_that_fit_come_back() -> None:
    problem: Any = Problem(windows(np.zeros(8, dtype=bool)))
    trusted = TrustedWindows(problem)
    trusted._go_on_with(np.arange(6), problem.initial_point())
    found = searched(trusted.problem, trusted.problem.initial_point())
    point = trusted.with_returned(found)
    assert point is not None
    assert not trusted.left_out
    assert len(point.starts) == 8


def test_where_all_keep_their_promise_or_half_break_it_none_is_left_out() -> None:
    for kinked in (np.zeros(8, dtype=bool), np.arange(8) < 4):
        problem: Any = Problem(windows(kinked))
        here = searched(problem, problem.initial_point())
        assert here.linearization is not None
        assert not holding_up(problem, here.point, here.linearization).any()


def test_rows_beside_those_of_simulation_keep_their_promise() -> None:
    """What torque gains by a step counts for the windows to which it has promised that."""
    some = [replace(one, added=1e3 * (one.number < 2)) for one in windows(np.zeros(8, dtype=bool))]
    problem: Any = Problem(some)
    here = problem.initial_point()
    assert not holding_up(problem, here, problem.linearize(here)).any()


def test_starts_settle_by_themselves() -> None:
    """A kink in one window does not keep the starts of the others from where they belong."""
    problem: Any = Problem(windows(np.arange(8) == 2))
    far = Point(np.array([TRUTH]), tuple(np.full(1, 3.0) for _ in range(8)))
    settled, costs = settled_starts(problem, far)
    # The lowest cost along each start is where its slope is zero.
    for k, one in enumerate(problem.windows):
        if not one.kinked:
            value, slope = one.residual(TRUTH, float(settled.starts[k][0]))
            assert abs(slope[:, 1] @ value + settled.starts[k][0]) < 1e-4
    assert np.all(costs < [0.5 * float(r @ r) + 4.5 for r in problem.residuals(far)])


def test_squares_of_a_window_beside_a_touch_down_do_not_lead_a_search() -> None:
    """It is far off for what no start of its own mends, and says that of the parameter."""
    plain = windows(np.zeros(8, dtype=bool))
    plain[2] = replace(plain[2], noise=60.0 * plain[2].by_theta)
    problem: Any = Problem(plain)
    led = searched(problem, problem.initial_point())
    assert led.point.theta[0] < -3.0
    rounds = FitRounds(
        problem, FitSettings(), SignalNoise(), Listeners(None, None), 0.0, [], None, None
    )
    assert rounds._approaching
    found = rounds._approach(problem.initial_point(), 0, INITIAL_DAMPING)
    assert abs(found.point.theta[0] - TRUTH) < 1.0
    assert problem.loss is LOSSES["linear"]


@pytest.mark.parametrize("engine", ["auto", "reference"])
def test_starts_that_no_residual_tells_are_left_out(engine: str) -> None:
    modifier = AttributeModifier("joint", "trolley", "damping")
    params = ParameterDict()
    params.add(Parameter("damping", 8.0, 0.0, 50.0, modifier=modifier))
    whole = problem(mujoco.MjSpec.from_string(LOADED), params, engine=engine)
    point = whole.initial_point()
    before = whole.linearize(point)
    TrustedWindows(whole).leave_unseen(before)
    anew = whole.with_groups(whole.groups, engine)
    for window in anew.windows:  # places, then rates, of trolley, load and wheel
        np.testing.assert_array_equal(window.seen, [True, True, False] * 2)
    for old, new in zip(before.grams, anew.linearize(point).grams, strict=True):
        told = [0, 1, 2, 4, 5, 7]  # the damping, the start's columns that count, the residual
        np.testing.assert_allclose(new[np.ix_(told, told)], old[np.ix_(told, told)], rtol=1e-9)
        unseen = np.zeros((2, 8))
        unseen[[0, 1], [3, 6]] = 1.0  # its prior alone
        np.testing.assert_array_equal(new[[3, 6]], unseen)
