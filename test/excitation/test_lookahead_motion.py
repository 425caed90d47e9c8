# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Trajectories that a controller is told ahead: however late they come, it feels nothing of it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from sysid_ros.excitation import (
    REPEATED,
    CommandedCurve,
    CommandGuard,
    CommandLimits,
    ExcitationPath,
    FloatArray,
    LookaheadMotion,
    Motion,
    Playback,
    TabulatedReference,
    check_limits,
)

PERIOD = 0.01
VELOCITY, ACCELERATION = np.array([2.5]), np.array([30.0])
LIMITS = CommandLimits(np.array([-2.0]), np.array([9.0]), VELOCITY, ACCELERATION)
TABLE = np.array([[0.0], [0.0], [3.0], [1.0], [2.0], [0.0], [0.0]])
REFERENCE = TabulatedReference(
    ("a",), np.array([0.0, 0.5, 2.0, 3.0, 4.0, 5.0, 5.5]), TABLE, 0.8 * ACCELERATION
)
LAG = 0.03  # s
SAG = np.array([[0.05], [0.0]])  # rad, rad/s
TICKS = 600
EVEN = np.ones(TICKS)


class Controller:
    """A joint_trajectory_controller: joins the points of the latest message by cubics.

    To a first point that is still to come it leaves from where its robot is measured: ``LAG``
    behind and ``SAG`` below what it is told.
    """

    def __init__(self, rest: FloatArray) -> None:
        self._curve = CommandedCurve.resting(0.0, rest)

    def told(self, time: float, curve: CommandedCurve) -> None:
        """Take a message at ``time``, s; one that is over is refused."""
        if curve.times[-1] < time:
            return
        if curve.times[0] > time:
            position, velocity = self.at(time - LAG) - SAG
            curve = CommandedCurve(
                np.append(time, curve.times),
                np.concatenate([position[None], curve.positions]),
                np.concatenate([velocity[None], curve.velocities]),
            )
        self._curve = curve

    def at(self, time: float) -> FloatArray:
        """Position and velocity (2, n) at ``time``, s."""
        return self._curve.at(time)


def planned(period: float) -> LookaheadMotion:
    """A motion that is told every ``period`` s, at its beginning."""
    path = ExcitationPath(REFERENCE, np.zeros(1), ramp=0.5)
    check_limits(path, LIMITS)
    playback = Playback(path, LIMITS, period=period, announces=True)
    guard = CommandGuard(LIMITS, period, path.rest)
    return LookaheadMotion(
        Motion(playback, guard, period=period, timeout=60.0), period=period, now=0.0
    )


def moved(
    gaps: Sequence[float],
    delays: FloatArray,
    stop_at: int | None = None,
    clock: float = 0.0,
    period: float = PERIOD,
) -> tuple[FloatArray, float]:
    """Play.

    Args:
      gaps: Between messages, in periods.
      delays: From each message to its arrival, s; none overtakes another.
      stop_at: Message at which it is stopped.
      clock: s by which the controller's clock is behind.
      period: s between messages.

    Returns:
      Positions and velocities every millisecond, (m, 2, n), and when the last message came, s.
    """
    motion = planned(period)
    messages: list[tuple[float, CommandedCurve]] = []
    time, arrival = 0.0, 0.0
    for tick in range(2000):
        time += period * (gaps[tick] if tick < len(gaps) else 1.0)
        if tick == stop_at:
            motion.stop()
        motion = motion.following(time) or motion
        told = motion.message
        arrival = max(arrival, time + delays[tick % len(delays)])
        times = told.times + motion.planned + clock
        messages.append((arrival, CommandedCurve(times, told.positions, told.velocities)))
        if motion.finished:
            break
    assert motion.finished and motion.fault(0.0) is None
    controller, seen = Controller(np.zeros(1)), []
    for instant in np.arange(0.0, arrival + 1.0, 1e-3):
        while messages and messages[0][0] <= instant + 1e-9:
            controller.told(instant, messages.pop(0)[1])
        seen.append(controller.at(instant))
    return np.array(seen), time


def asked(seen: FloatArray) -> tuple[float, float]:
    """The largest velocity and acceleration, as shares of their limits."""
    velocities = seen[:, 1]
    accelerations = np.abs(np.diff(velocities, axis=0)) / 1e-3
    assert np.abs(np.diff(seen[:, 0], axis=0)).max() <= VELOCITY[0] * 1e-3
    assert not np.any(velocities[-1])
    shares = np.abs(velocities).max() / VELOCITY[0], accelerations.max() / ACCELERATION[0]
    return float(shares[0]), float(shares[1])


DELAYS = {
    "none": lambda chance: np.zeros(TICKS),
    "a period": lambda chance: chance.uniform(0.0, PERIOD, TICKS),
    "up to the lead": lambda chance: chance.uniform(0.0, 0.099, TICKS),
    "seldom": lambda chance: np.where(chance.random(TICKS) < 0.05, 0.099, 0.001),
}


@pytest.mark.parametrize("stop_at", [None, 150])
@pytest.mark.parametrize("kind", DELAYS)
def test_a_message_that_comes_late_by_less_than_the_lead_changes_nothing(kind, stop_at):
    exact, _ = moved(EVEN, np.zeros(TICKS), stop_at)
    seen, _ = moved(EVEN, DELAYS[kind](np.random.default_rng(0)), stop_at)
    np.testing.assert_allclose(seen[: len(exact)], exact[: len(seen)], atol=1e-9)
    assert asked(seen)[1] <= 1.15  # where the path has a corner


def test_one_that_comes_later_than_that_meets_a_controller_that_brakes():
    """Nobody can take back what is on its way: the step grows with what is beyond the lead."""

    def largest_step(delay: float) -> float:
        delays = np.where(np.arange(TICKS) == 250, delay, 0.0)  # and those behind it in the queue
        return float(np.abs(np.diff(moved(EVEN, delays)[0][:, 0], axis=0)).max())

    on_time, late, very_late = (largest_step(delay) for delay in (0.11, 0.15, 0.25))
    assert on_time <= VELOCITY[0] * 1e-3 < late < 0.02 < very_late


GAPS = {
    "uneven": lambda chance: chance.uniform(0.5, 1.5, TICKS),
    "late": lambda chance: chance.uniform(1.0, 2.0, TICKS),
    "short stalls": lambda chance: np.where(
        chance.random(TICKS) < 0.1, chance.uniform(1.0, 5.0, TICKS), 1.0
    ),
    "stalls": lambda chance: np.where(
        chance.random(TICKS) < 0.05, chance.uniform(1.0, 30.0, TICKS), 1.0
    ),
}


@pytest.mark.parametrize("stop_at", [None, 150])
@pytest.mark.parametrize("kind", GAPS)
@pytest.mark.parametrize("period", [PERIOD, 0.02, 0.05, 0.1])
def test_messages_that_are_made_late_do_not_jerk_a_controller(
    kind: str, stop_at: int | None, period: float
):
    gaps, delays = GAPS[kind](np.random.default_rng(1)), np.full(TICKS, 0.02)
    most = asked(moved(gaps, delays, stop_at, period=period)[0])[1]
    made_up_for = period == PERIOD and kind != "stalls"
    assert most <= (1.15 if made_up_for else 1.6)


@given(
    seed=st.integers(0, 2**32 - 1),
    kind=st.sampled_from(list(GAPS)),
    way=st.floats(0.0, 0.02),
    clock=st.floats(-0.02, REPEATED - 0.02),
    stop_at=st.none() | st.integers(0, 600),
)
@settings(max_examples=6, deadline=None, phases={Phase.explicit, Phase.generate})
def test_whatever_is_late_and_by_whatever_clock_nothing_is_a_step(seed, kind, way, clock, stop_at):
    chance = np.random.default_rng(seed)
    gaps, delays = GAPS[kind](chance), chance.uniform(0.0, way, TICKS)
    assert asked(moved(gaps, delays, stop_at, clock)[0])[1] <= 1.6


@pytest.mark.parametrize("kind", ["uneven", "late", "short stalls"])
def test_what_leaves_time_for_the_way_is_made_up_for(kind: str):
    """The robot is late by the lead, and by nothing else."""
    _, end = moved(GAPS[kind](np.random.default_rng(0)), np.zeros(TICKS))
    assert end == pytest.approx(5.5 + 0.1, abs=0.05)


@pytest.mark.parametrize("clock", [-0.08, 0.03, 0.1])
def test_clocks_that_differ_a_little_take_from_the_lead(clock: float):
    seen, _ = moved(EVEN, np.full(TICKS, 0.001), clock=clock)
    assert asked(seen)[1] <= 1.15


def test_with_few_messages_the_lead_is_longer():
    motion = planned(0.1)
    assert motion.lead == pytest.approx(0.25)
    assert motion.following(0.04) is None
    first = motion.following(0.1)
    assert first is not None and first.message.times[0] == pytest.approx(-REPEATED)


def test_a_rate_that_cannot_be_kept_ends_the_motion():
    motion, said = planned(PERIOD), None
    for tick in range(1, 60):
        said = said or motion.fault(0.08)
        motion = motion.following(0.08 * tick) or motion
    assert said and said.startswith("commands go out 0.08 s apart where 0.01 s are asked for")


@pytest.mark.parametrize("period", [0.1, 0.05, 0.02, 0.0125, 0.01])
def test_a_stop_is_left_at_a_knot(period: float):
    motion, left = planned(period), 0
    for _ in range(40):
        motion = motion.following(motion.planned + period) or motion
        knots = motion._curve.times
        for due in range(3, 25):
            if missed := motion._missed(motion.planned + due * period, due):
                instant, left = motion.planned + missed * period, left + 1
                assert instant >= knots[-1] or np.abs(knots - instant).min() < 1e-6
    assert left
