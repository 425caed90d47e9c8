# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""What of a comparison that was broken off stays for another to carry on with."""

from __future__ import annotations

from pathlib import Path

import pytest
from pendulum_experiment import EXPERIMENT

from sysid_ros.comparison.resume_states import COMPARED, fit_states
from sysid_ros.errors import ExperimentError, ModelError, OutputError, StopRequestedError
from sysid_ros.experiment import parse_experiment
from sysid_ros.processes.execution import WorkersError
from sysid_ros.results.state_file import STATE_FILE

COMPARISON = parse_experiment(EXPERIMENT)


def break_off(output: Path, error: BaseException, *, with_state: bool) -> list[Path]:
    """The folders that a comparison leaves that ends with an error."""
    with pytest.raises(type(error)), fit_states(COMPARISON, output, resume=False) as folder:
        if with_state:
            (folder / "m1_0").mkdir()
            (folder / "m1_0" / STATE_FILE).write_bytes(b"")
        raise error
    return list(output.iterdir())


@pytest.mark.parametrize(
    "error", [StopRequestedError(), OutputError("full"), WorkersError("died")], ids=repr
)
def test_what_was_stopped_or_failed_by_the_machine_is_taken_again(
    tmp_path: Path, error: BaseException
) -> None:
    (left,) = break_off(tmp_path, error, with_state=True)
    with fit_states(COMPARISON, tmp_path, resume=True) as folder:
        assert folder == left
        with (
            pytest.raises(ExperimentError, match="no interrupted comparison"),
            fit_states(COMPARISON, tmp_path, resume=True),
        ):
            pass  # it is in use
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("error", [ModelError("wrong"), KeyboardInterrupt()], ids=repr)
def test_mistakes_and_a_second_interrupt_leave_nothing(
    tmp_path: Path, error: BaseException
) -> None:
    assert not break_off(tmp_path, error, with_state=True)


def test_without_any_state_a_stop_leaves_nothing(tmp_path: Path) -> None:
    assert not break_off(tmp_path, StopRequestedError(), with_state=False)


@pytest.mark.parametrize("content", [b"{}", b"{", b"\xff"])
def test_folders_of_others_are_left_alone(tmp_path: Path, content: bytes) -> None:
    (left,) = break_off(tmp_path, OutputError("full"), with_state=True)
    (left / COMPARED).write_bytes(content)
    with (
        pytest.raises(ExperimentError, match="no interrupted comparison"),
        fit_states(COMPARISON, tmp_path, resume=True),
    ):
        pass
    assert (left / COMPARED).read_bytes() == content
