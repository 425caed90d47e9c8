# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Rows of the page's tables."""

from __future__ import annotations

from dataclasses import replace

from outcomes import outcome

from sysid_ros.report.table_rows import parameter_rows, sequence_rows


def test_a_part_of_a_recording_is_as_long_as_the_part() -> None:
    (whole,) = outcome(sequences=1, duration=4.0, rate=100.0).sequences
    late = tuple(replace(signal, times=signal.times + 100.0) for signal in whole.signals)
    _, rows = sequence_rows([whole, replace(whole, signals=late)])
    assert [row.duration for row in rows] == ["4.0 s", "4.0 s"]


def test_what_is_as_good_as_zero_reads_so() -> None:
    fit = outcome().fit
    beside_nothing = replace(fit.parameters[0], value=5e-18, standard_error=0.027)
    (row,) = parameter_rows(replace(fit, parameters=(beside_nothing,)))
    assert (row.value, row.relative) == ("0", "")
