# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""An arm takes up a load, is pushed and pressed down, and stops: the load is weighed, and kept."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from torque_arm import BODIES, moved, noisy, part_of, slowed, torque_sequences, true_spec

from sysid_ros.engine.estimation import FitSettings
from sysid_ros.engine.inverse_dynamics import mujoco_torque, with_payload
from sysid_ros.engine.moving_horizon import HorizonEstimate, HorizonSettings, TorqueHorizon
from sysid_ros.engine.parameters import ParameterDict
from sysid_ros.engine.signals import ModelSequences
from sysid_ros.experiment import parse_experiment
from sysid_ros.robots import build_parameters

MASS, CENTRE = 0.5, (0.25, 0.01, -0.02)
TAKEN, PUSHED, PRESSED, STOPPED = 5.0, 11.0, 13.5, 18.0  # s
PUT_DOWN, END, EVERY = 20.6, 22.6, 0.2  # s
EXPERIMENT = f"""
model: arm.xml
sequences: [bag]
signals: [{{effort: a, topic: /joint_states, field: "effort[a]"}}]
payload: {{body: {BODIES[-1]}}}
fit: {{method: inverse_dynamics, inverse_dynamics: {{torque_offsets: false}}}}
"""


def _recorded() -> ModelSequences:
    """What was measured, with a payload in the model that nothing is known of."""
    spec = true_spec()
    loaded, pressed = spec.copy(), spec.copy()
    for heavier, mass in ((loaded, MASS), (pressed, 2.0 * MASS)):
        body = heavier.body(BODIES[-1]).add_body(name="load")
        body.explicitinertial, body.mass, body.ipos = True, mass, np.array(CENTRE)
        body.inertia = np.full(3, 1e-3)
    times, motion, _ = moved(spec.compile(), END)
    motion = slowed(times, motion, STOPPED)
    bare, heavy, heavier_ = (
        mujoco_torque(each.compile(), motion) for each in (spec, loaded, pressed)
    )
    torque = np.where(((times >= TAKEN) & (times < PUT_DOWN))[:, None], heavy, bare)
    pressing = (times >= PRESSED) & (times < PRESSED + 1.4)
    torque[pressing] = heavier_[pressing]
    pushed = (times >= PUSHED) & (times < PUSHED + 1.0)
    swell = np.sin(np.pi * (times[pushed, None] - PUSHED))
    torque[pushed] += np.array([4.0, -3.0, 3.0]) * swell
    positions, torque = noisy(motion.qpos, torque)
    held = with_payload(spec, BODIES[-1])
    return torque_sequences(held, times, positions, torque)


@pytest.fixture(scope="module")
def followed() -> dict[float, HorizonEstimate]:
    """Estimates by the instant at which they were made."""
    whole = _recorded()
    params = build_parameters(parse_experiment(EXPERIMENT), whole.spec)
    horizon = TorqueHorizon(params, FitSettings(method="inverse_dynamics"), HorizonSettings())
    found = {}
    for now in np.arange(EVERY, END, EVERY):
        begin = horizon.needed_from
        made = horizon.update(part_of(whole, 0.0 if np.isnan(begin) else begin - 0.5, float(now)))
        if made is not None:
            found[float(now)] = made
    return found


def _mass(estimate: HorizonEstimate) -> tuple[float, float]:
    (one,) = (p for p in estimate.parameters if p.name == "payload_mass")
    return one.value, one.standard_error or np.inf


def test_a_load_is_weighed(followed: dict[float, HorizonEstimate]):
    at = max(now for now in followed if now < PUSHED)  # less than six seconds after it was taken
    value, error = _mass(followed[at])
    assert value == pytest.approx(MASS, rel=0.05)
    assert abs(value - MASS) < 4.0 * error < 0.2 * MASS
    (one,) = (p for p in followed[at].parameters if p.name == "payload_mass")
    assert one.dof <= 0.5 * (followed[at].windows - 2)  # neighbouring blocks are tied
    (payload,), (spread,) = followed[at].bodies, followed[at].spreads
    assert spread[0, 0] == pytest.approx(error**2)
    assert np.all(np.abs(payload.centre - CENTRE) < 5.0 * np.sqrt(np.diag(spread)[1:4]))
    assert np.all(np.sqrt(np.diag(spread)[1:4]) < 0.05)
    assert payload.centre == pytest.approx(CENTRE, abs=0.02)
    assert abs(_mass(followed[min(followed, key=lambda now: abs(now - TAKEN))])[0]) < 0.05


def test_a_change_of_load_is_seen_within_a_second(followed: dict[float, HorizonEstimate]):
    seen = {now: e.changed for now, e in followed.items() if e.changed is not None}
    assert TAKEN < min(seen) < TAKEN + 1.5
    changes = {changed for now, changed in seen.items() if now < PUSHED}
    assert changes == {seen[min(seen)]}  # once
    assert seen[min(seen)] == pytest.approx(TAKEN, abs=0.7)
    assert not any(e.unexplained for now, e in followed.items() if now < TAKEN)


def test_a_push_is_no_load(followed: dict[float, HorizonEstimate]):
    said = [e.unexplained for now, e in followed.items() if PUSHED < now < PRESSED]
    assert any("a contact or a push" in sentence for one in said for sentence in one)
    before = max(now for now in followed if now < PUSHED)
    for now in (now for now in followed if PUSHED < now < PRESSED):
        assert _mass(followed[now])[0] == pytest.approx(_mass(followed[before])[0], rel=0.02)
    after = followed[max(now for now in followed if now < PRESSED)]
    assert not after.unexplained
    assert after.changed == followed[before].changed


def test_what_presses_down_for_a_second_is_forgotten(followed: dict[float, HorizonEstimate]):
    pressed = [e for now, e in followed.items() if PRESSED + 0.8 < now < PRESSED + 1.4]
    assert any(e.changed is not None and e.changed > PUSHED for e in pressed)
    assert all(e.unexplained for e in pressed)
    before = max(now for now in followed if now < PRESSED)
    for now in (now for now in followed if PRESSED < now < PUT_DOWN):
        assert _mass(followed[now])[0] == pytest.approx(_mass(followed[before])[0], rel=0.02)
    after = [e for now, e in followed.items() if PRESSED + 2.6 < now < STOPPED]
    assert {e.changed for e in after} == {followed[before].changed}
    assert not any(e.unexplained for e in after)


def test_nothing_is_learnt_at_rest(followed: dict[float, HorizonEstimate]):
    stopped = min(now for now in followed if now > STOPPED + 1.5)
    last = followed[max(now for now in followed if now < PUT_DOWN)]
    assert last.windows == followed[stopped].windows
    assert _mass(last) == pytest.approx(_mass(followed[stopped]), rel=0.01)
    assert abs(_mass(last)[0] - MASS) < 3.0 * _mass(last)[1]
    assert last.time > followed[stopped].time + 0.6


def test_a_change_of_load_at_rest_is_seen(followed: dict[float, HorizonEstimate]):
    assert followed[max(followed)].changed == pytest.approx(PUT_DOWN, abs=0.7)


@pytest.mark.parametrize(("weighed", "changed"), [(True, 7.0), (False, None)])
def test_what_was_known_before_comes_back(weighed: bool, changed: float | None):
    """A load that was weighed was put down; one that was not yet was a push."""
    horizon = TorqueHorizon(ParameterDict(), FitSettings(), HorizonSettings())
    parts: Any = horizon
    before = SimpleNamespace(blocks=[], latest=object(), changed=None)
    parts._before, parts._changed = before, 5.0
    parts._latest = object() if weighed else before.latest
    parts._blocks = SimpleNamespace(recall=lambda blocks: None, add=lambda block: None)
    rows: Any = SimpleNamespace(explains=lambda new, latest: latest is before.latest)
    news: list[Any] = [SimpleNamespace(begin=begin) for begin in (7.0, 7.1, 7.2)]
    assert [horizon._as_before(rows, new) for new in news] == [False, False, True]
    assert parts._changed == changed
    assert parts._latest is before.latest
