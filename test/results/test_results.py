# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Result folders: complete, readable by any parser, never in the way of another."""

from __future__ import annotations

import json
import os
import threading
from dataclasses import replace
from pathlib import Path

import mujoco
import numpy as np
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from outcomes import outcome as synthetic

from sysid_ros.engine.estimation import FitState
from sysid_ros.engine.least_squares import FitStatus, Iteration, Point
from sysid_ros.engine.parameters.modifiers import AttributeModifier
from sysid_ros.engine.uncertainty import ParameterEstimate
from sysid_ros.errors import ErrorCode, OutputError
from sysid_ros.files import dumps, plain
from sysid_ros.judgement.outcome import AppliedParameter, Outcome
from sysid_ros.pipeline.result_writing import write_results
from sysid_ros.report import render_report
from sysid_ros.results import (
    STATE_FILE,
    Checkpoint,
    ResultError,
    check_writable,
    finalize_checkpoint,
    open_work_folder,
    read_results,
)
from sysid_ros.results.targets_file import write_targets
from sysid_ros.video import Video

SPEC = "<mujoco><worldbody><body><joint name='j'/><geom size='.1'/></body></worldbody></mujoco>"


@pytest.fixture
def spec() -> mujoco.MjSpec:
    return mujoco.MjSpec.from_string(SPEC)


def strict(text: str) -> dict:
    """Parse JSON and refuse what is only Python's: NaN and Infinity."""

    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is not JSON")

    return json.loads(text, parse_constant=refuse)


def assert_same(first: Outcome, second: Outcome) -> None:
    """Equal number for number; NaN equals NaN."""
    np.testing.assert_equal(_comparable(second), _comparable(first))


def _comparable(item: object) -> object:
    if hasattr(item, "__dataclass_fields__"):
        return {name: _comparable(getattr(item, name)) for name in item.__dataclass_fields__}
    if isinstance(item, (tuple, list)):
        return [_comparable(part) for part in item]
    return dict(item) if isinstance(item, dict) else item


def test_round_trip(tmp_path: Path, spec: mujoco.MjSpec) -> None:
    made = synthetic()
    result = write_results(made, spec, tmp_path)
    assert_same(made, read_results(result.folder))


def test_folder_is_complete(
    tmp_path: Path, spec: mujoco.MjSpec, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MUJOCO_GL", "disabled")
    result = write_results(synthetic(title="My arm / test"), spec, tmp_path / "new" / "results")
    assert result.folder.name.endswith("_my-arm-test")
    names = {path.name for path in result.folder.iterdir()}
    assert names == {
        "result.json", "parameters.yaml", "model.xml", "residuals.npz", "report.html",
        "ros2_control.yaml", "domain_randomization.yaml",
    }  # fmt: skip
    assert result.report is not None and result.report.read_text() == render_report(
        synthetic(title="My arm / test"), video=Video(None, "MUJOCO_GL switches drawing off")
    )
    assert [path.name for path in result.folder.parent.iterdir()] == [result.folder.name]


def test_result_json_is_strict_and_has_the_promised_keys(
    tmp_path: Path, spec: mujoco.MjSpec
) -> None:
    made = synthetic()
    document = strict(write_results(made, spec, tmp_path).result.read_text())
    assert document["status"] == "CONVERGED"
    assert document["cost_initial"] == made.fit.cost_initial
    assert document["parameters"]["link2_mass"]["value"] == 0.55
    low, high = document["parameters"]["link2_mass"]["interval"]
    assert low < 0.55 < high
    assert document["parameters"]["shoulder_damping"]["standard_error"] is None
    assert document["parameters"]["shoulder_damping"]["interval"] is None
    assert document["parameters"]["elbow_damping"]["upper"] is None  # unbounded
    assert made.validation is not None
    assert document["validation"]["rmse"] == made.validation.rmse
    assert document["validation"]["rmse_all"] == made.validation.rmse_all
    assert document["validation"]["rmse_all_initial"] == made.validation.rmse_all_initial
    assert document["versions"]["mujoco"] == "4.0.0"
    assert document["hashes"]["trajectory_00"] == "ab" * 32


def test_parameters_yaml(tmp_path: Path, spec: mujoco.MjSpec) -> None:
    made = replace(synthetic(), verdict="two\nlines: yes", title="a\r- b: c\x85d: [")
    text = write_results(made, spec, tmp_path).parameters.read_text()
    entry = yaml.safe_load(text)["parameters"]["elbow_damping"]
    assert entry["value"] == 0.0231
    assert entry["bounds"] == [0.0, None]
    assert entry["unit"] == "N m s/rad"
    assert entry["interval"][0] < 0.0231 < entry["interval"][1]


def test_residuals_open_without_pickle(tmp_path: Path, spec: mujoco.MjSpec) -> None:
    made = synthetic()
    result = write_results(made, spec, tmp_path)
    with np.load(result.residuals, allow_pickle=False) as data:
        signal = made.sequences[1].signals[0]
        np.testing.assert_array_equal(data["1/0/fitted"], signal.fitted)
        assert "1/1/times" not in data  # shared with signal 0
        assert json.loads(str(data["index"]))[1]["name"] == made.sequences[1].name


def test_never_overwrites(tmp_path: Path, spec: mujoco.MjSpec) -> None:
    folders: list[Path] = []

    def write() -> None:
        folders.append(write_results(synthetic(), spec, tmp_path).folder)

    threads = [threading.Thread(target=write) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(folders)) == 4
    assert sorted(tmp_path.iterdir()) == sorted(folders)
    for folder in folders:
        assert_same(read_results(folder), synthetic())


def test_leaves_nothing_behind_when_it_fails(
    tmp_path: Path, spec: mujoco.MjSpec, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("sysid_ros.pipeline.result_writing.write_signals", full)
    with pytest.raises(OutputError, match="No space left on device"):
        write_results(synthetic(), spec, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_model_that_cannot_be_written_becomes_a_warning(tmp_path: Path) -> None:
    spec = mujoco.MjSpec.from_string(SPEC)
    spec.worldbody.add_body(name="massless").add_joint(name="free")  # does not compile
    result = write_results(synthetic(), spec, tmp_path)
    assert result.model is None
    assert "There is no model.xml" in read_results(result.folder).warnings[-1]


@pytest.mark.parametrize("below", ["file", "file/results", "/proc/sysid_ros", "/proc/a/b"])
def test_unwritable_output(below: str, tmp_path: Path, spec: mujoco.MjSpec) -> None:
    (tmp_path / "file").write_text("")
    for attempt in (
        lambda: check_writable(tmp_path / below),
        lambda: write_results(synthetic(), spec, tmp_path / below),
    ):
        with pytest.raises(OutputError, match="cannot write results to") as caught:
            attempt()
        assert caught.value.code == ErrorCode.OUTPUT_UNWRITABLE
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may write anywhere")
def test_unwritable_by_permission(tmp_path: Path) -> None:
    tmp_path.chmod(0o555)
    with pytest.raises(OutputError, match="Permission denied"):
        check_writable(tmp_path / "results")
    tmp_path.chmod(0o755)


def test_check_writable_creates_nothing(tmp_path: Path) -> None:
    check_writable(tmp_path / "a" / "b")
    assert list(tmp_path.iterdir()) == []


def step(number: int, cost: float, value: float) -> Iteration:
    return Iteration(number, cost, 1.0, ("mass", "damping"), np.array([value, 0.1]), 0.5 * number)


def test_empty_work_folders_of_killed_processes_go_with_the_next(tmp_path: Path) -> None:
    empty, kept, new = (open_work_folder(tmp_path, title) for title in ("empty", "kept", "new"))
    (kept / "state.npz").write_bytes(b"to carry on with")
    for folder in (empty, kept):
        os.utime(folder, (0.0, 0.0))
    last = open_work_folder(tmp_path, "last")
    assert set(tmp_path.iterdir()) == {kept, new, last}


def test_checkpoint_becomes_a_result(tmp_path: Path) -> None:
    work = open_work_folder(tmp_path, "arm")
    checkpoint = Checkpoint(work)
    for number, (cost, value) in enumerate([(9.0, 1.0), (4.0, 1.2), (2.0, 1.3)]):
        checkpoint.add(step(number, cost, value))
    result = finalize_checkpoint(work, title="arm")
    assert not work.exists() and not result.folder.name.startswith(".")
    assert {path.name for path in result.folder.iterdir()} == {"result.json", "parameters.yaml"}
    document = strict(result.result.read_text())
    assert document["status"] == "CANCELED"
    assert (document["cost_initial"], document["cost_final"]) == (9.0, 2.0)
    assert document["parameters"]["mass"]["value"] == 1.3
    assert document["parameters"]["mass"]["initial"] == 1.0
    assert document["parameters"]["mass"]["interval"] is None
    again = read_results(result.folder)
    assert again.fit.status is FitStatus.CANCELED
    assert "mass" in render_report(again)


def test_steps_are_in_the_state_alone_once_there_is_one(tmp_path: Path) -> None:
    checkpoint = Checkpoint(tmp_path)
    checkpoint.add(step(0, 50.0, 9.0))  # the best candidate of a search
    steps = step(0, 9.0, 1.0), step(1, 4.0, 1.2)
    for count in (1, 2):
        trace = steps[:count]
        point = Point(trace[-1].values, (np.array([0.1, 0.2]),))
        state = FitState(point, 0.1, count - 1, False, 3, {"angle": 0.01}, trace, 0.5)
        checkpoint.save(state, {})
        checkpoint.add(trace[-1])
        assert [path.name for path in tmp_path.iterdir()] == [STATE_FILE]
    result = finalize_checkpoint(tmp_path)
    assert (result.folder / STATE_FILE).is_file()  # the fit can still be carried on
    again = read_results(result.folder).fit
    assert (again["mass"].initial, again["mass"].value) == (1.0, 1.2)
    assert (again.cost_initial, again.cost_final) == (9.0, 4.0)


def test_checkpoint_keeps_the_last_good_step(tmp_path: Path) -> None:
    # The third step starts a new round with other noise levels: its cost is on another scale.
    steps = [(0, 9.0, 1.0), (1, 2.0, 1.1), (1, 800.0, 1.1), (2, 700.0, 1.2), (3, np.nan, 5.0)]
    checkpoint = Checkpoint(tmp_path)
    for number, cost, value in steps:
        checkpoint.add(step(number, cost, value))
    result = finalize_checkpoint(tmp_path)
    assert result.folder == tmp_path  # not a work folder: stays where it is
    document = strict(result.result.read_text())
    assert document["parameters"]["mass"]["value"] == 1.2
    assert (document["cost_initial"], document["cost_final"]) == (None, 700.0)


def test_a_killed_fit_says_what_its_values_stand_for(tmp_path: Path) -> None:
    work = open_work_folder(tmp_path, "arm")
    elbow = AttributeModifier("joint", "elbow", "damping").to_dict()
    write_targets(
        work,
        [
            AppliedParameter("mass", (0.5,), elbow),
            AppliedParameter("frozen", (2.0, 3.0), elbow, "r"),
        ],
        [ParameterEstimate("mass", "kg", 0.5, 0.5, 0.1, np.inf, None, np.inf)],
    )
    checkpoint = Checkpoint(work)
    for number, value in enumerate((1.0, 2.0)):
        checkpoint.add(step(number, 9.0 - number, value))
    folder = finalize_checkpoint(work).folder
    assert {path.name for path in folder.iterdir()} == {"result.json", "parameters.yaml"}
    again = read_results(folder)
    mass = again.fit["mass"]
    assert (mass.unit, mass.initial, mass.value, mass.lower) == ("kg", 0.5, 2.0, 0.1)
    assert again.fit["damping"].lower == -np.inf  # of which nothing was written beforehand
    entry = yaml.safe_load((folder / "parameters.yaml").read_text())["parameters"]["mass"]
    assert (entry["unit"], entry["bounds"]) == ("kg", [0.1, None])
    applied = again.applied
    assert [(p.name, p.values, p.robot) for p in applied] == [
        ("mass", (2.0,), None), ("frozen", (2.0, 3.0), "r"),
    ]  # fmt: skip
    assert applied[0].modifier == elbow


def test_finished_fit_replaces_its_checkpoint(tmp_path: Path, spec: mujoco.MjSpec) -> None:
    work = open_work_folder(tmp_path, "arm")
    Checkpoint(work).add(step(0, 9.0, 1.0))
    result = write_results(synthetic(), spec, tmp_path, partial=work)
    assert list(tmp_path.iterdir()) == [result.folder]
    assert not (result.folder / "checkpoint.json").exists()


def test_failed_writing_keeps_the_checkpoint(
    tmp_path: Path, spec: mujoco.MjSpec, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    work = open_work_folder(tmp_path, "arm")
    Checkpoint(work).add(step(0, 9.0, 1.0))
    monkeypatch.setattr("sysid_ros.pipeline.result_writing.write_signals", full)
    with pytest.raises(OutputError, match="No space left"):
        write_results(synthetic(), spec, tmp_path, partial=work)
    assert [path.name for path in work.iterdir()] == ["checkpoint.json"]


def test_killed_while_writing_results(tmp_path: Path) -> None:
    work = open_work_folder(tmp_path, "arm")
    Checkpoint(work).add(step(0, 9.0, 1.0))
    (work / "residuals.npz").write_bytes(b"half")
    (work / "assets").mkdir()
    folder = finalize_checkpoint(work).folder
    assert {path.name for path in folder.iterdir()} == {"result.json", "parameters.yaml"}


def test_no_checkpoint(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="no iteration was finished"):
        finalize_checkpoint(tmp_path)


def test_reading_what_is_not_a_result(tmp_path: Path, spec: mujoco.MjSpec) -> None:
    with pytest.raises(ResultError, match=r"has no result\.json"):
        read_results(tmp_path)
    with pytest.raises(ResultError, match="there is no such folder"):
        read_results(tmp_path / "absent")
    (tmp_path / "result.json").write_text("[1")
    with pytest.raises(ResultError, match="it is a file; give the folder"):
        read_results(tmp_path / "result.json")
    with pytest.raises(ResultError, match="cannot read"):
        read_results(tmp_path)
    (tmp_path / "result.json").write_text('{"format": 99}')
    with pytest.raises(ResultError, match="format 99; this version reads 1"):
        read_results(tmp_path)
    result = write_results(synthetic(), spec, tmp_path)
    assert result.residuals is not None
    result.residuals.write_bytes(result.residuals.read_bytes()[:1000])
    with pytest.raises(ResultError, match="not a complete result folder"):
        read_results(result.folder)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    )
)
def test_every_document_is_strict_json(document: object) -> None:
    text = dumps(document)
    assert strict(f'{{"any": {text}}}')["any"] == plain(document)
