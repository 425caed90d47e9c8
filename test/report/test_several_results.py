# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Results beside each other."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from browser import open_browser
from outcomes import outcome as synthetic

from sysid_ros.judgement.outcome import Outcome
from sysid_ros.report import render_comparison
from sysid_ros.report.several_results import cautions, compared_parameters


def with_value(made: Outcome, name: str, value: float) -> Outcome:
    parameters = tuple(
        replace(p, value=value) if p.name == name else p for p in made.fit.parameters
    )
    return replace(made, fit=replace(made.fit, parameters=parameters))


def test_difference_in_standard_errors() -> None:
    first = synthetic()
    second = with_value(first, "elbow_damping", 0.0231 + 4e-4 * 5 * 2**0.5)
    rows = {row.name: row for row in compared_parameters([first, second])}
    assert rows["elbow_damping"].difference == "5"
    assert rows["elbow_damping"].significant
    assert rows["link2_mass"].difference == "0"
    assert not rows["link2_mass"].significant
    assert rows["shoulder_damping"].difference == ""  # no error claimed, nothing to compare by


def test_parameters_that_only_one_result_has() -> None:
    first = synthetic()
    second = replace(first, fit=replace(first.fit, parameters=first.fit.parameters[2:]))
    rows = compared_parameters([second, first])
    assert [row.name for row in rows][:2] == ["elbow_damping", "link2_mass"]
    assert rows[2].values == ("", "0.002130")


def test_coordinates_of_an_inertia_stand_last() -> None:
    made = synthetic()
    first, *others = made.fit.parameters
    coordinate = replace(first, name="link_inertia[0]", unit="")
    fit = replace(made.fit, parameters=(coordinate, *others))
    assert compared_parameters([replace(made, fit=fit)])[-1].name == "link_inertia[0]"


def test_cautions() -> None:
    first = synthetic()
    assert cautions({"a": first, "b": first}) == []
    other_data = replace(first, sequences=first.sequences[:2], validation=None)
    other_hash = replace(first, provenance={"sha256 trajectory_00": "cd" * 32})
    found = cautions({"a": first, "b": other_data, "c": other_hash})
    assert any("different sequences" in sentence for sentence in found)
    assert any("without held-out data" in sentence for sentence in found)
    assert not any("other contents" in sentence for sentence in cautions({"a": first}))
    assert "sha256 trajectory_00" in cautions({"a": first, "c": other_hash})[0]


def test_page(tmp_path: Path) -> None:
    first = synthetic()
    page = tmp_path / "comparison.html"
    evil = "<b>new</b>"
    page.write_text(render_comparison({"old": first, evil: with_value(first, "link2_mass", 0.9)}))
    with open_browser() as browser:
        browser.open(page, width=1000)
        assert browser.errors == []
        assert len(browser.requests) == 1
        assert browser.run("document.querySelectorAll('b').length") == 0
        assert browser.run("document.querySelectorAll('tbody tr').length") == 6
        assert browser.faults() == []
        browser.run("document.querySelectorAll('thead button')[0].click()")
        assert browser.run("document.querySelector('tbody th').textContent") == evil


@pytest.mark.parametrize("count", [1, 5])
def test_any_number_of_results(count: int) -> None:
    assert f"Comparison of {count} results" in render_comparison(
        {str(number): synthetic() for number in range(count)}
    )
