# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A load that is taken up in or between recordings is told by motion alone."""

from __future__ import annotations

from pathlib import Path

import mujoco
import numpy as np
import pytest
from arm_recording import (
    ArmRecording,
    arm_model,
    simulate,
    write_bag,
    write_experiment,
    wrong_model,
)

from sysid_ros.dataset import load_dataset
from sysid_ros.diagnosis import FindingKind, changed_loads, check_experiment
from sysid_ros.diagnosis.fits import window_scores
from sysid_ros.experiment import load_experiment, with_overrides

MORE = 0.5  # kg at the last link


def loaded(xml: str) -> str:
    """The arm with something in its hand."""
    spec = mujoco.MjSpec.from_string(xml)
    spec.body("link1").mass += MORE
    text: str = spec.to_xml()
    return text


@pytest.mark.parametrize(("begin", "freed"), [(10.0, False), (16.0, False), (10.0, True)])
def test_a_load_is_told_with_its_mass_and_when(tmp_path: Path, begin: float, freed: bool) -> None:
    model = arm_model(1, 2, servos=True)
    without, with_it = (simulate(xml, 1, duration=24.0) for xml in (model, loaded(model)))
    later = (without.times >= begin)[:, None]
    recording = ArmRecording(
        without.times,
        np.where(later, with_it.position, without.position),
        np.where(later, with_it.velocity, without.velocity),
        np.where(later, with_it.command, without.command),
    )
    experiment = load_experiment(write_experiment(tmp_path, model, recording))
    if freed:
        experiment = with_overrides(experiment, ["parameters+=[{body: link1, mass: null}]"])
    (one,) = check_experiment(experiment, None)
    assert (one.kind, one.body) == (FindingKind.LOAD, "link1")
    assert one.evidence["mass"] == pytest.approx(MORE, rel=0.2)
    assert one.evidence["begin"] == pytest.approx(begin, abs=1.6)
    assert "the motion of" in one.sentence and "carried 0." in one.sentence
    assert one.sentence.endswith(" Gains that were changed then look alike.")


def test_a_recording_with_a_load_beside_one_without(tmp_path: Path) -> None:
    model = arm_model(1, 2, servos=True)
    path = write_experiment(tmp_path, model, simulate(model, 1, duration=12.0))
    write_bag(tmp_path / "loaded", simulate(loaded(model), 2, duration=12.0))
    experiment = with_overrides(load_experiment(path), ["sequences=[bag, loaded]"])
    (one,) = check_experiment(experiment, None)
    assert (one.kind, one.body) == (FindingKind.LOAD, "link1")
    assert abs(one.evidence["mass"]) == pytest.approx(MORE, rel=0.2)
    assert one.evidence.keys() == {"mass"}
    name, more = ("loaded", "more") if one.evidence["mass"] > 0.0 else ("bag", "less")
    assert one.sentence.startswith(f"The motion of '{name}' is as if 'link1' carried 0.")
    assert f" kg {more} than in the others, and no one model holds" in one.sentence


def elsewhere_halfway(xml: str) -> ArmRecording:
    """Servos that follow sines, about another posture from 10 s on."""
    model = mujoco.MjModel.from_xml_string(xml)
    data, times = mujoco.MjData(model), np.arange(0.0, 20.0, 0.005)
    random, pace = np.random.default_rng(0), np.pi * np.array([1.0, 1.7, 2.6])
    phase = random.uniform(0.0, 2.0 * np.pi, (3, model.nu))
    swings = np.sin(times[:, None, None] * pace[:, None] + phase).sum(axis=1)
    places = np.array([[-0.7, 0.3], [0.7, -0.4]])
    share = np.clip(times - 10.0, 0.0, 1.0)[:, None]
    asked = 0.29 * swings + (1.0 - share) * places[0] + share * places[1]
    asked *= np.minimum(times, 1.0)[:, None]
    told = []
    for command in asked:
        told.append(np.concatenate([data.qpos, data.qvel]))
        data.ctrl[:] = command
        mujoco.mj_step(model, data, nstep=5)
    noisy = np.array(told) + 2e-4 * random.standard_normal((len(told), 2 * model.nv))
    return ArmRecording(times, *np.split(noisy, 2, axis=1), asked)


def test_another_posture_under_a_mount_that_leans_is_no_load(tmp_path: Path) -> None:
    model = arm_model(5, 2, servos=True)
    leaning = model.replace("<option", '<option gravity="0.9 0 -9.75"')
    file = write_experiment(tmp_path, wrong_model(model, 3, 0.3), elsewhere_halfway(leaning))
    experiment = load_experiment(file)
    assert not changed_loads(experiment, load_dataset(experiment, None))


@pytest.mark.parametrize(("count", "asked"), [(6, False), (3, True)])
def test_recordings_too_short_for_a_change_are_not_fitted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, count: int, asked: bool
) -> None:
    """Four of the sixteen windows have to be of one recording, where there are several."""
    model = arm_model(1, 2, servos=True)
    path = write_experiment(tmp_path, model, simulate(model, 1, duration=12.5))
    for seed in range(1, count):
        write_bag(tmp_path / f"bag{seed}", simulate(model, 1 + seed, duration=12.5))
    bags = ", ".join(["bag", *(f"bag{seed}" for seed in range(1, count))])
    experiment = with_overrides(load_experiment(path), [f"sequences=[{bags}]"])
    fits, fitted = [], window_scores.fitted
    monkeypatch.setattr(window_scores, "fitted", lambda *a, **k: fits.append(1) or fitted(*a, **k))
    assert not changed_loads(experiment, load_dataset(experiment, None))
    assert bool(fits) is asked
