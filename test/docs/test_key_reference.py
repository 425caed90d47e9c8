# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The key reference in the documentation is generated, and current."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from sysid_ros.experiment import parse_experiment
from sysid_ros.experiment.experiment_schema import Experiment
from sysid_ros.experiment.section import keys_of
from tools.key_reference import main, reference, with_reference

PAGE = Path(__file__).resolve().parents[2] / "docs" / "experiment.md"


def test_the_documentation_is_current() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert with_reference(page) == page, "run: python -m tools.key_reference docs/experiment.md"


def test_the_reference_has_every_key_and_attribute() -> None:
    text = reference()
    for key in keys_of(Experiment):
        assert f"| `{key}` |" in text
    assert "| `length` | number, above 0, at least 0.001 | `1.0` |" in text
    assert "| joint | `armature` | kg m^2 | 1 |" in text


def test_the_experiment_on_the_page_is_valid() -> None:
    _, _, rest = PAGE.read_text(encoding="utf-8").partition("```yaml\n")
    experiment = parse_experiment(rest.partition("```")[0])
    assert len(experiment.signals) == 2
    assert yaml.safe_load(experiment.text)["model"] == experiment.model


def test_the_command_updates_a_page(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(PAGE.read_text(encoding="utf-8").replace("| `bag` |", "| `bug` |"))
    assert main([str(page)]) == 0
    assert page.read_text(encoding="utf-8") == PAGE.read_text(encoding="utf-8")


def test_a_page_without_markers_is_refused() -> None:
    with pytest.raises(ValueError, match="lacks the markers"):
        with_reference("# Another page")
