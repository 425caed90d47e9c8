# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Rows of the page's tables."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from outcomes import outcome, windows

from sysid_ros.report.table_rows import (
    clock_relation,
    first_shown,
    parameter_rows,
    sequence_rows,
    window_estimate,
)


def test_a_part_of_a_recording_is_as_long_as_the_part() -> None:
    (whole,) = outcome(sequences=1, duration=4.0, rate=100.0).sequences
    late = tuple(replace(signal, times=signal.times + 100.0) for signal in whole.signals)
    _, rows = sequence_rows([whole, replace(whole, signals=late)])
    assert [row.duration for row in rows] == ["4.0 s", "4.0 s"]


def test_the_longest_recording_that_was_held_out_is_shown_first() -> None:
    long, short = (
        outcome(sequences=1, duration=length, rate=100.0).sequences[0] for length in (9.0, 0.2)
    )
    held_out = [replace(one, role="validation") for one in (short, long)]
    assert first_shown([replace(long, role="training"), *held_out]) == 2
    assert first_shown([replace(one, role="training") for one in (short, long)]) == 1


def test_what_is_as_good_as_zero_reads_so() -> None:
    fit = outcome().fit
    beside_nothing = replace(fit.parameters[0], value=5e-18, standard_error=0.027)
    (row,) = parameter_rows(replace(fit, parameters=(beside_nothing,)))
    assert (row.value, row.relative) == ("0", "")


def test_coordinates_of_an_inertia_stand_behind_what_means_something_by_itself() -> None:
    fit = outcome().fit
    names = [("arm_inertia[0]", ""), ("arm_ipos[1]", "m"), ("motor_gain", "")]
    parameters = [replace(fit.parameters[0], name=name, unit=unit) for name, unit in names]
    rows = parameter_rows(replace(fit, parameters=tuple(parameters)))
    assert [row.name for row in rows] == ["arm_ipos[1]", "motor_gain", "arm_inertia[0]"]


def test_the_time_of_a_simulation_is_not_compared_with_the_recorders() -> None:
    topic = replace(outcome().quality[0], clock_offset=0.0025, clock_drift=4e-6)
    assert clock_relation(topic) == "2.5 ms, 4 ppm"
    assert clock_relation(replace(topic, clock_corrected=True)) == "2.5 ms, 4 ppm, corrected"
    simulated = replace(topic, clock_offset=1.8e9, clock_drift=0.26)
    assert clock_relation(simulated) == "not the recorder's time"
    assert clock_relation(replace(topic, clock_offset=None, clock_drift=None)) == ""


def test_what_is_apart_is_marked_and_what_failed_is_said() -> None:
    check = windows()
    rows = [[window_estimate(check, each, k) for each in check.estimates]
            for k in range(len(check.names))]  # fmt: skip
    assert [[apart for _, _, apart in row] for row in rows] == [
        [False, name in check.apart(*check.estimates[:2]), False, False] for name in check.names
    ]
    assert any(apart for row in rows for _, _, apart in row)
    assert {row[3][:2] for row in rows} == {("not possible", "")}
    claimed = np.isfinite(check.estimates[0].lower)
    assert [" to " in row[0][1] for row in rows] == claimed.tolist()
