# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Windows that are simulated after repairs, and with joints that are harder to move."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import mujoco
import mujoco.rollout
import numpy as np
import pytest
from counted_work import calls_of

import sysid_ros.diagnosis.fits.open_loop as open_loop
from sysid_ros.arrays import FloatArray
from sysid_ros.diagnosis.evidence.finding import Change, FindingKind, repaired_series
from sysid_ros.diagnosis.fits import OpenLoop, helped_signals, most_telling, spoils
from sysid_ros.engine.parameters import Parameter, ParameterDict
from sysid_ros.engine.parameters.modifiers import AttributeModifier
from sysid_ros.engine.signals import ModelSequences, TimeSeries
from sysid_ros.engine.signals.initial_state import create_initial_state
from sysid_ros.engine.signals.mappings import SignalType
from sysid_ros.engine.simulation import RolloutPool
from sysid_ros.errors import DataError

SWING = """<mujoco><option timestep="0.002"/><worldbody><body>
  <joint name="swing" axis="0 1 0" frictionloss="0.01" damping="0.01" armature="0.05"/>
  <geom size="0.05" pos="0 0 -0.3" mass="0.5"/></body></worldbody>
  <actuator><motor name="motor" joint="swing"/></actuator>
  <sensor><jointpos name="angle" joint="swing"/></sensor></mujoco>"""

LOADED = SWING.replace(
    "</body></worldbody>",
    """<body pos="0 0 -.3"><joint name="load" axis="0 1 0"
  damping="0.01"/><geom size="0.03" pos="0 0 -.2" mass="0.2"/></body></body></worldbody>""",
)


def sequences(text: str = SWING) -> ModelSequences:
    model = mujoco.MjModel.from_xml_string(text)
    times = 0.002 * np.arange(1000)
    control = 0.8 * np.sin(6.0 * times)[:, None]
    start = create_initial_state(model, model.qpos0, np.zeros(model.nv))
    _, seen = mujoco.rollout.rollout(model, mujoco.MjData(model), start[None], control[None])
    return ModelSequences(
        "swing", mujoco.MjSpec.from_string(text), "recording", start,
        TimeSeries(times, control, {"motor": (SignalType.MjCtrl, np.array([0]))}),
        TimeSeries(times + 0.002, seen[0], {
            str(model.sensor(k).name): (SignalType.MjSensor, np.array([k]))
            for k in range(model.nsensor)
        }),
    )  # fmt: skip


@pytest.mark.parametrize("attribute", ["frictionloss", "damping"])
def test_a_joint_is_harder_to_move_than_its_parameter_says(attribute: str) -> None:
    params = ParameterDict()
    modifier = AttributeModifier("joint", "swing", attribute)
    params.add(Parameter(attribute, 0.01, 0.0, 1.0, modifier=modifier))
    pool = RolloutPool(1)
    test, none = OpenLoop(sequences(), params, None, pool), ParameterDict()
    assert np.mean(test.powers({})["angle"]) < 1e-3
    harder = test.with_resistance(attribute, {"swing": 0.2}).powers({})["angle"]
    assert np.mean(harder) > 0.05
    plain = sequences()
    joint = plain.spec.joint("swing")
    if attribute == "damping":  # no more than its linear term
        joint.damping = np.resize([0.21, 0.0, 0.0], np.size(joint.damping))
    else:
        joint.frictionloss = 0.21
    expected = OpenLoop(plain, none, None, pool).powers({})["angle"]
    np.testing.assert_allclose(harder, expected, rtol=1e-9)


def test_a_recording_that_ends_before_joints_have_forgotten_their_start() -> None:
    short = sequences()
    short = short.replaced(
        control=[one.slice_by_time(0.0, 0.8) for one in short.control],
        sensordata=[one.slice_by_time(0.0, 0.8) for one in short.sensordata],
    )
    test = OpenLoop(short, ParameterDict(), None, RolloutPool(1)).shortened()
    with pytest.raises(DataError, match=r"begins 1\.0 s after its start or later"):
        test.powers({})


def test_stretches_that_do_not_count_are_not_simulated() -> None:
    """A hand that turns the joint there, such as while its power is off, is no mistake."""
    plain = sequences()
    (measured,) = plain.sensordata
    turned = measured.data + 2.0 * ((measured.times > 0.6) & (measured.times < 1.2))[:, None]
    held = plain.replaced(sensordata=[replace(measured, data=turned)], gaps=[((0.5, 1.3),)])
    pool, none = RolloutPool(1), ParameterDict()
    found = OpenLoop(held, none, 0.3, pool).powers({})["angle"]
    assert len(found) > 2
    assert np.max(found) < 1e-3
    open_ = OpenLoop(held.replaced(gaps=[()]), none, 0.3, pool)
    assert np.max(open_.powers({})["angle"]) > 0.05


@pytest.mark.parametrize("text", [SWING, LOADED], ids=["measured", "with a load that is not"])
def test_what_some_windows_leave_is_what_all_of_them_leave_there(text: str) -> None:
    test = OpenLoop(sequences(text), ParameterDict(), 0.1, RolloutPool(1))
    changes = [Change(FindingKind.SIGN, scale={label: -1.0}) for label in ("motor", "angle")]
    for change in changes:
        repair = partial(repaired_series, changes=[change])
        each = [float(one["angle"][0]) for one in test.after(repair).one_by_one({}, [7, 2])]
        some = test.after(repair).powers({}, [2, 7])["angle"]
        np.testing.assert_allclose(each, some[::-1], rtol=1e-9)
        again = test.after(repair)
        again.powers({}, [2])
        whole = again.powers({})["angle"]
        assert len(whole) > 10
        np.testing.assert_allclose(some, whole[[2, 7]], rtol=1e-9)
        fresh = OpenLoop(sequences(text), ParameterDict(), 0.1, RolloutPool(1)).after(repair)
        np.testing.assert_allclose(whole, fresh.powers({})["angle"], rtol=1e-9)


def test_recordings_are_simulated_no_farther_than_to_the_window_that_is_asked_for() -> None:
    test = OpenLoop(sequences(LOADED), ParameterDict(), 0.1, RolloutPool(1))
    test.powers({})
    change = Change(FindingKind.SIGN, scale={"angle": -1.0})
    work = []
    for first in (7, 17):
        each = test.after(partial(repaired_series, changes=[change])).one_by_one({}, [first, 18])
        work.append(calls_of(partial(next, each)))
    assert work[0] < 0.75 * work[1], work


def test_starts_are_read_anew_only_where_measurements_are_repaired(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    read, right = [], open_loop.cut_sequence

    def counted(*arguments: object, **more: object) -> object:
        read.append(arguments)
        return right(*arguments, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(open_loop, "cut_sequence", counted)
    test = OpenLoop(sequences(), ParameterDict(), 0.1, RolloutPool(1))
    counts = []
    for label, factor in (("motor", -1.0), ("motor", 0.5), ("angle", -1.0), ("motor", 2.0)):
        change = Change(FindingKind.SIGN, scale={label: factor})
        repair = partial(repaired_series, changes=[change])
        after = test.after(repair)
        found, late = after.powers({})["angle"], after.powers({"motor": 0.1})["angle"]
        count = len(read)
        counts.append(count)
        fresh = OpenLoop(sequences(), ParameterDict(), 0.1, RolloutPool(1)).after(repair)
        np.testing.assert_allclose(found, fresh.powers({})["angle"], rtol=1e-9)
        np.testing.assert_allclose(late, fresh.powers({"motor": 0.1})["angle"], rtol=1e-9)
        assert np.max(np.abs(late - found)) > 1e-3
        del read[count:]
    assert counts == [1, 1, 2, 2]


def test_how_much_signals_vary_is_found_out_again_only_where_they_are_repaired(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found, right = [], open_loop._variation

    def counted(values: list[FloatArray]) -> tuple[float, float]:
        found.append(values)
        return right(values)

    monkeypatch.setattr(open_loop, "_variation", counted)
    test, counts = OpenLoop(sequences(), ParameterDict(), 0.1, RolloutPool(1)), []
    for label, factor in (("motor", -1.0), ("motor", 0.5), ("angle", -1.0), ("motor", 2.0)):
        change = Change(FindingKind.SIGN, scale={label: factor})
        test.after(partial(repaired_series, changes=[change])).powers({})
        counts.append(len(found))
    assert counts == [1, 1, 2, 2]


def test_windows_in_which_a_signal_is_silent_leave_nothing_of_it() -> None:
    series = sequences(
        SWING.replace("</sensor>", '<actuatorfrc name="torque" actuator="motor"/></sensor>')
    )
    (seen,) = series.sensordata
    data = seen.data.copy()
    data[seen.times > 1.0, 1] = np.nan
    series = series.replaced(sensordata=[TimeSeries(seen.times, data, seen.signal_mapping)])
    test = OpenLoop(series, ParameterDict(), 0.1, RolloutPool(1))
    powers = test.powers({})
    assert len(powers["torque"]) > 15
    assert max(np.max(power) for power in powers.values()) < 0.1
    turned = Change(FindingKind.SIGN, scale={"torque": -1.0})
    wrong = test.after(partial(repaired_series, changes=[turned])).powers({})["torque"]
    assert np.median(wrong[:8]) > 0.5


def test_few_windows_never_dismiss_what_all_would_accept() -> None:
    before = {"angle": np.array([0.5, 4.0, 0.1, 2.0])}
    after = {"angle": np.array([0.1, 0.9, 0.1, 0.5])}
    assert helped_signals(before, after) == ["angle"]
    for places in ([1], [1, 3], [0, 2]):
        assert helped_signals(before, {"angle": after["angle"][places]}) == ["angle"]
    assert most_telling([before["angle"]], 0.5) == [1, 3]
    assert not helped_signals(before, {"angle": before["angle"][[1, 3]]})
    assert spoils(before, {"angle": 3.0 * before["angle"][[1, 3]]})
    assert not spoils(before, after)


def test_what_a_worse_mistake_hid_is_not_spoiled() -> None:
    """A rotor with the wrong sign turns a drone over before its weight shows."""
    before = {"turn": np.full(6, 9.0), "height": np.full(6, 0.02)}
    after = {"turn": np.full(6, 0.2), "height": np.full(6, 0.3)}
    assert not spoils(before, after)
    assert spoils({**before, "turn": np.full(6, 1.2)}, after)
