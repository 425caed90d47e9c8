# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Controls averaged over simulation steps."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sysid_ros.engine.signals.control import JoinedIntegrals, SignalIntegral, step_offsets
from sysid_ros.engine.signals.interpolation import value_at

VALUES = st.lists(st.floats(-10, 10), min_size=2, max_size=12)


@given(
    values=VALUES,
    method=st.sampled_from(["zoh", "linear", "cubic"]),
    start=st.floats(-1, 15),
    width=st.floats(1e-3, 4),
)
def test_mean_is_the_integral_over_the_interval(
    values: list[float], method: str, start: float, width: float
) -> None:
    times = np.arange(len(values), dtype=float)
    signal = SignalIntegral(times, np.array(values), method)
    fine = start + width * (np.arange(20000) + 0.5) / 20000
    expected = np.mean(value_at(times, np.array(values), fine, method))
    assert signal.mean(np.array([start]), width)[0] == pytest.approx(expected, abs=5e-3)


def test_a_spline_rests_where_planned_motions_are_over() -> None:
    """A topic that tells samples of a motion is silent until the next."""
    phase = np.linspace(0.0, 1.0, 51)
    moved = 10.0 * phase**3 - 15.0 * phase**4 + 6.0 * phase**5
    times = np.concatenate([phase, 6.0 + phase, [8.0]])  # the recording ends later
    values = np.concatenate([moved, 1.0 - moved, [0.0]])
    fine = np.linspace(0.0, 8.0, 4001)
    course = value_at(times, values, fine, "cubic")
    rests = ((fine > 1.0) & (fine < 6.0)) | (fine > 7.0)
    np.testing.assert_array_equal(course[rests], np.where(fine[rests] < 6.5, 1.0, 0.0))
    on = np.clip(fine, 0.0, 1.0) - np.clip(fine - 6.0, 0.0, 1.0)
    wanted = 10.0 * on**3 - 15.0 * on**4 + 6.0 * on**5
    np.testing.assert_allclose(course, wanted, atol=1e-5)
    found = SignalIntegral(times, values, "cubic").mean(np.array([2.0, 7.2]), 0.1)
    np.testing.assert_allclose(found, [1.0, 0.0], atol=1e-12)


def test_a_delayed_step_command_has_a_derivative() -> None:
    """Sampling a held command would make it piecewise constant in its delay."""
    signal = SignalIntegral(np.array([0.0, 0.5]), np.array([0.0, 1.0]), "zoh")
    steps = np.arange(0.0, 1.0, 0.1)
    area = [0.1 * signal.mean(steps - delay, 0.1).sum() for delay in (0.030, 0.031)]
    assert (area[1] - area[0]) / 0.001 == pytest.approx(-1.0, rel=1e-9)


def test_recordings_asked_together_answer_as_each_alone_to_the_last_bit() -> None:
    """A servo's search ends elsewhere where commands differ by 1e-13."""
    rng = np.random.default_rng(0)
    alone: list[SignalIntegral | None] = [None]
    for method in ("zoh", "linear", "cubic", "zoh"):
        times = np.cumsum(rng.uniform(0.01, 0.1, 40))
        alone.append(SignalIntegral(times, rng.normal(size=40), method))
    own = [slice(100 * k, 100 * (k + 1)) for k in range(len(alone))]
    start = rng.uniform(-0.5, 3.0, (500, 2))
    found = JoinedIntegrals(alone).means(start, 0.007, own)
    assert not found[own[0]].any()
    for rows, one in zip(own[1:], alone[1:], strict=True):
        assert one is not None
        np.testing.assert_array_equal(found[rows], one.mean(start[rows], 0.007))


@pytest.mark.parametrize(
    ("integrator", "dyntype", "expected"),
    [("Euler", "none", -0.001), ("implicitfast", "none", -0.001), ("RK4", "none", 0.0),
     ("implicitfast", "filter", 0.0)],
)  # fmt: skip
def test_force_is_centred_on_the_position_of_semi_implicit_steps(
    integrator: str, dyntype: str, expected: float
) -> None:
    model = mujoco.MjModel.from_xml_string(
        f"""<mujoco><option timestep="0.002" integrator="{integrator}"/>
        <worldbody><body><joint name="j"/><geom size="0.1"/></body></worldbody>
        <actuator><general joint="j" dyntype="{dyntype}" dynprm="0.1"/></actuator></mujoco>"""
    )
    assert step_offsets(model) == pytest.approx([expected])
