# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Earlier results of the same model are found beside a new one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import mujoco
import pytest
from outcomes import outcome as synthetic

from sysid_ros.judgement.outcome import Outcome
from sysid_ros.pipeline.result_writing import write_results
from sysid_ros.results.previous import model_hashes, previous_results


@pytest.fixture
def made() -> Outcome:
    outcome = synthetic(sequences=1)
    return replace(outcome, provenance={**outcome.provenance, "sha256 arm.xml": "12" * 32})


def write(outcome: Outcome, folder: Path) -> str:
    spec = mujoco.MjSpec.from_string("<mujoco><worldbody><body/></worldbody></mujoco>")
    return write_results(outcome, spec, folder).folder.name


def test_a_model_is_known_by_its_contents(made: Outcome) -> None:
    assert model_hashes(made) == {"12" * 32}


def test_only_earlier_results_of_the_same_model_count(made: Outcome, tmp_path: Path) -> None:
    assert previous_results(made, tmp_path / "none") == {}
    first = write(made, tmp_path)
    other = replace(made, provenance={**made.provenance, "sha256 arm.xml": "34" * 32})
    write(other, tmp_path)
    broken = tmp_path / "2000-01-01_broken"
    broken.mkdir()
    (broken / "result.json").write_text("{")
    found = previous_results(made, tmp_path)
    assert list(found) == [first]
    assert found[first].fit.parameters == made.fit.parameters
    assert previous_results(made, tmp_path, before=first) == {}


def test_a_new_report_shows_the_result_before(made: Outcome, tmp_path: Path) -> None:
    first = write(made, tmp_path)
    second = write(made, tmp_path)
    assert first != second
    assert first in (tmp_path / second / "report.html").read_text()
