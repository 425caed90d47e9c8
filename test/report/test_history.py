# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""What changed since earlier results, in words."""

from __future__ import annotations

from dataclasses import replace

from outcomes import outcome as synthetic

from sysid_ros.report import render_report
from sysid_ros.report.history import history_rows


def test_the_same_result_has_not_changed() -> None:
    made = synthetic()
    (row,) = history_rows(made, {"before": made})
    assert row.same_data and row.moved == ()
    assert row.change == "+0 %"
    assert row.summary == "no parameter moved by more than its uncertainty"


def test_moved_and_other_parameters_are_named() -> None:
    made = synthetic()
    first, *rest = made.fit.parameters
    earlier = replace(
        made, fit=replace(made.fit, parameters=(replace(first, value=0.0019), *rest[:-1]))
    )
    (row,) = history_rows(made, {"before": earlier})
    assert row.moved == ("shoulder_armature: 0.001900 → 0.002130 kg m²",)
    assert row.freed == (rest[-1].name,) and row.left == ()
    assert row.summary == "1 parameter moved, other parameters were free"


def test_errors_on_other_recordings_do_not_compare() -> None:
    made = synthetic()
    earlier = replace(made, provenance={**made.provenance, "sha256 trajectory_00": "cd" * 32})
    (row,) = history_rows(made, {"before": earlier})
    assert row.change == "" and not row.same_data
    assert "other recordings were used" in row.summary


def test_the_report_answers_what_changed_on_its_first_screen() -> None:
    made = synthetic()
    page = render_report(made, {"2026-01-01_double_pendulum": made})
    assert page.index("Since the result before") < page.index('id="parameters"')
    assert "2026-01-01_double_pendulum" in page
    assert "Since the result before" not in render_report(made)
