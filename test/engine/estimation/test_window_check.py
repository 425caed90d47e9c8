# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Estimates over windows and halves: those of a right model agree, those of a wrong one do not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import outcomes
import pendulum

from sysid_ros.engine.estimation import FitSettings, WindowCheck, fit, window_check
from sysid_ros.engine.estimation.fit_settings import NOTHING_KNOWN
from sysid_ros.engine.signals import TimeSeries

SETTINGS = FitSettings(window_length=1.0, threads=1, model_error=False)
CUTS = [
    "windows of 1 s",
    "windows of 0.5 s",
    "whole recordings",
    "the first halves",
    "the second halves",
]


def checked(measured: TimeSeries, control: TimeSeries) -> WindowCheck:
    data, params = [pendulum.sequences(control, measured)], pendulum.parameters()
    return window_check(data, params, fit(data, params, SETTINGS), SETTINGS, known=NOTHING_KNOWN)


def test_the_windows_of_a_right_model_agree_and_differ():
    control, measured = pendulum.recording(duration=6.0, noise=1e-2, seed=1)
    found = checked(measured, control)
    assert [each.cut for each in found.estimates] == CUTS
    own, *others = found.estimates
    assert not any(found.apart(own, each) for each in others)
    assert all(np.any(each.values != own.values) for each in others)
    both = 0.5 * (others[2].values + others[3].values)  # each half says half of it
    assert np.all((own.lower <= both) & (both <= own.upper))


def test_halves_that_differ_are_apart():
    """The robot carries more from the middle of the recording on."""
    control, light = pendulum.recording(duration=6.0, noise=1e-3, seed=1)
    _, heavy = pendulum.recording(
        duration=6.0, noise=1e-3, seed=1, values={**pendulum.TRUTH, "armature": 0.05}
    )
    data = np.where(light.times[:, None] > 0.5 * light.times[-1], heavy.data, light.data)
    found = checked(TimeSeries(light.times, data, light.signal_mapping), control)
    assert "armature" in found.apart(found.estimates[3], found.estimates[4])
    assert "halves of the recordings are apart (armature" in found.warnings()[0]


def test_what_is_not_possible_leaves_its_column_empty():
    control, measured = pendulum.recording(duration=1.2, noise=1e-2, seed=1)
    short = window_check(
        [pendulum.sequences(control, measured)],
        pendulum.parameters(),
        fit([pendulum.sequences(control, measured)], pendulum.parameters(), SETTINGS),
        replace(SETTINGS, loss="hubr"),
        known=NOTHING_KNOWN,
    )
    assert len(short.possible) == 1
    assert "There are none from the first halves: " in " ".join(short.sentences())


def test_the_error_on_what_is_held_out_tells_which_windows_can_be_trusted():
    check = outcomes.windows()
    own, half, whole, _ = check.estimates
    assert check.trusted == (own, whole)
    assert check.apart(own, half) == (outcomes.NAMES[0],)
    assert not check.warnings()  # the fit's own windows are among the best
    worse = replace(check, estimates=(half, own, whole))
    (warning,) = worse.warnings()
    assert "windows of 1 s (0.01 rad) and whole recordings (0.0105 rad) can be trusted" in warning
    unscored = replace(worse, scored_on="training")
    assert not unscored.trusted and "held out" in unscored.warnings()[0]


def test_sentences_name_every_cut():
    check = outcomes.windows()
    own, _, whole, half = check.estimates
    many = replace(
        check, estimates=(own, *(replace(whole, cut=f"cut {k}") for k in range(6)), half)
    )
    first = many.sentences()[0]
    assert all(f"cut {k}" in first for k in range(6))
