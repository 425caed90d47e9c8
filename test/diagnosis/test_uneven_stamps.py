# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Stamps that vary are a mistake where they are wrong, or where motion hides between them."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from sysid_ros.arrays import FloatArray
from sysid_ros.diagnosis.evidence.declared import Declared
from sysid_ros.diagnosis.evidence.finding import FindingKind
from sysid_ros.diagnosis.evidence.recorded import Recorded, Samples
from sysid_ros.diagnosis.evidence.repair import ExperimentLines
from sysid_ros.diagnosis.evidence.sampling_mistakes import is_slow, is_uneven, sampling_of
from sysid_ros.diagnosis.sampling_findings import sampling_findings
from sysid_ros.engine.parameters import ParameterDict
from sysid_ros.experiment import parse_experiment


def course(times: FloatArray, noise: float) -> FloatArray:
    wave = np.sin(2.0 * np.pi * 0.7 * times) + 0.4 * np.sin(2.0 * np.pi * 1.9 * times)
    return np.asarray(wave + noise * np.random.default_rng(1).standard_normal(len(times)))


def uneven(times: FloatArray, stamps: FloatArray, noise: float = 5e-5) -> bool:
    """Whether the stamps of a motion that was seen at some times count as uneven."""
    (sampled,) = sampling_of([Samples(stamps, course(times, noise))])
    return is_uneven(sampled)


def jittered(rate: float, share: float) -> FloatArray:
    random = np.random.default_rng(0)
    even = np.arange(0.0, 10.0, 1.0 / rate)
    return np.asarray(np.sort(even + share / rate * random.standard_normal(len(even))))


def test_true_stamps_may_vary_if_messages_are_many() -> None:
    times = jittered(1000.0, 0.2)
    assert not uneven(times, times)
    assert not uneven(times, times, noise=1e-3)


def test_wrong_stamps_are_uneven_at_any_rate() -> None:
    for rate in (100.0, 1000.0):
        even = np.arange(0.0, 10.0, 1.0 / rate)
        burst = even + 0.4 / rate * (np.arange(len(even)) % 2)  # of a machine that handles two
        assert uneven(even, burst)
        assert not uneven(even, even)


def test_gaps_are_uneven_where_motion_hides_in_them() -> None:
    times = np.arange(0.0, 10.0, 0.02)
    kept = times[np.random.default_rng(0).uniform(size=len(times)) > 0.3]
    assert uneven(kept, kept)


def test_each_recording_may_have_a_rate_of_its_own() -> None:
    def recordings(share: float) -> list[Samples]:
        courses = [jittered(rate, share) for rate in (1000.0, 200.0, 50.0)]
        return [Samples(times, course(times, 5e-5)) for times in courses]

    sampled = sampling_of(recordings(0.05))
    assert not any(map(is_uneven, sampled))
    assert [one.rate for one in sampled] == pytest.approx([50.0, 200.0, 1000.0], rel=0.01)
    assert any(map(is_uneven, sampling_of(recordings(0.8))))


def test_each_rate_is_held_against_its_own_stamps() -> None:
    def parts(*kinds: tuple[float, float]) -> list[Samples]:
        courses = [jittered(rate, share) for rate, share in kinds]
        return [Samples(times, course(times, 5e-5)) for times in courses]

    fine = sampling_of(parts((1000.0, 0.2), (50.0, 0.01)))
    assert not any(map(is_uneven, fine)), "the many may vary, and the few do not"
    slow, fast = sampling_of(parts((1000.0, 0.01), (50.0, 0.4)))
    assert is_uneven(slow) and not is_uneven(fast)


ARM = """<mujoco><worldbody><body><joint name="a"/><geom size=".1" mass="1"/></body><body>
  <joint name="b"/><geom size=".1" mass="1"/></body></worldbody><actuator>
  <motor name="push" joint="a"/><position name="servo" joint="b"/></actuator></mujoco>"""
TOLD = """model: robot.xml
sequences: [bag]
parameters: []
fit: {max_gap: 0.1}
signals:
  - {qpos: a, topic: /joint_states, field: "position[a]"}
  - {actuator: push, topic: /joint_states, field: "effort[a]"}
  - {actuator: servo, topic: /command, field: "data[0]"}
"""


def test_efforts_joined_with_commands_of_another_topic_say_nothing_of_stamps() -> None:
    """Inputs are joined on the instants of both topics, which lie close by each other."""
    even = np.arange(0.0, 10.0, 0.005)
    jagged = even + 0.002 * (np.arange(len(even)) % 2)
    experiment = ExperimentLines(parse_experiment(TOLD))
    model = mujoco.MjModel.from_xml_string(ARM)

    def kinds(states: FloatArray) -> list[FindingKind]:
        joined = np.sort(np.concatenate([states, even + 4e-5]))
        signals = {
            "a_qpos": Samples(states, course(even, 5e-5)),
            "push": Samples(joined, course(joined, 1e-2)),
            "servo": Samples(joined, course(joined, 0.0), "zoh"),
        }
        whole = Recorded(model, (signals,), ({},), {0: "a_qpos"}, {}, {0: "push"}, {1: "servo"})
        return [one.kind for one in sampling_findings(whole, experiment, Declared(ParameterDict()))]

    assert FindingKind.UNEVEN_RATE not in kinds(even)
    assert FindingKind.UNEVEN_RATE in kinds(np.sort(jagged))


def test_a_slow_recording_of_slow_motion_beside_a_fast_one_is_not_sampled_too_slowly() -> None:
    noise = 1e-5 * np.random.default_rng(0).standard_normal(10_000)
    parts = []
    for rate, fastest in ((20.0, 0.15), (500.0, 6.0)):
        times = np.arange(0.0, 20.0, 1.0 / rate)
        moved = np.sin(2.0 * np.pi * fastest * times) + noise[: len(times)]
        parts.append(Samples(times, moved))
    sampled = sampling_of(parts)
    assert sampled[0].rate == pytest.approx(20.0)
    assert not any(map(is_slow, sampled))
    one_of_fast_motion = Samples(parts[0].times, np.sin(2.0 * np.pi * 4.0 * parts[0].times))
    assert is_slow(sampling_of([one_of_fast_motion, parts[1]])[0])
