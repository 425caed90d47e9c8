# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""An arm takes up a load and is pushed: both are told apart, and the load is weighed."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from torque_arm import BODIES, OFFSETS, moved, noisy, part_of, torque_sequences, true_spec

from sysid_ros.engine.estimation import FitSettings
from sysid_ros.engine.inverse_dynamics import with_payload
from sysid_ros.engine.moving_horizon import HorizonEstimate, HorizonSettings, TorqueHorizon
from sysid_ros.engine.parameters import ParameterDict
from sysid_ros.engine.signals import ModelSequences
from sysid_ros.experiment import parse_experiment
from sysid_ros.robots import build_parameters

MASS, CENTRE = 0.5, (0.25, 0.01, -0.02)
TAKEN, PUSHED, END, EVERY = 5.0, 11.0, 13.0, 0.2  # s
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
    loaded = spec.copy()
    body = loaded.body(BODIES[-1]).add_body(name="load")
    body.explicitinertial, body.mass, body.ipos = True, MASS, np.array(CENTRE)
    body.inertia = np.full(3, 1e-3)
    times, motion, bare = moved(spec.compile(), END)
    heavy = moved(loaded.compile(), END)[2]
    torque = np.where((times >= TAKEN)[:, None], heavy, bare) - OFFSETS
    pushed = (times >= PUSHED) & (times < PUSHED + 1.0)
    shaking = np.sin(2.0 * np.pi * 2.0 * times[pushed, None] + np.arange(3))
    torque[pushed] += np.array([4.0, -3.0, 3.0]) * shaking
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
    changes = {now: e.changed for now, e in followed.items() if e.changed is not None}
    assert TAKEN < min(changes) < TAKEN + 1.5
    assert set(changes.values()) == {changes[min(changes)]}  # once
    assert changes[min(changes)] == pytest.approx(TAKEN, abs=0.7)
    assert not any(e.unexplained for now, e in followed.items() if now < TAKEN)


def test_a_push_is_no_load(followed: dict[float, HorizonEstimate]):
    said = [e.unexplained for now, e in followed.items() if PUSHED < now < PUSHED + 1.4]
    assert any("a contact or a push" in sentence for one in said for sentence in one)
    before = max(now for now in followed if now < PUSHED)
    during = min(now for now in followed if now > PUSHED + 1.0)
    assert _mass(followed[during])[0] == pytest.approx(_mass(followed[before])[0], rel=0.02)


def test_a_push_that_was_taken_for_a_load_does_not_pass_for_noise():
    horizon = TorqueHorizon(ParameterDict(), FitSettings(), HorizonSettings())
    rows: Any = SimpleNamespace(strange=-np.inf, theta=lambda latest: np.zeros(1))
    grams = SimpleNamespace(
        squares=lambda *given: np.full((1, 2), 250.0), counts=np.full((1, 2), 10)
    )
    new: Any = SimpleNamespace(begin=0.0, grams=grams)  # 5 N m in the root mean square
    loud: Any = SimpleNamespace(weights=np.full(2, 0.01), gains=None)  # 10 N m since the push
    assert horizon._explains(rows, new, loud)
    horizon._usual = np.ones(2)  # 1 N m before it
    assert not horizon._explains(rows, new, loud)
