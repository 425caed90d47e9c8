# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Every mistake injected into good data is found, alone, and repaired by the line it names."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from arm_recording import ArmRecording, arm_model, simulate, write_experiment, wrong_model

from sysid_ros.diagnosis import Finding, FindingKind, check_experiment, checks
from sysid_ros.diagnosis.checks import _without_undone
from sysid_ros.errors import ExperimentError
from sysid_ros.experiment import load_experiment, parse_experiment, with_overrides

Change = Callable[[ArmRecording], ArmRecording]


def checked(
    folder: Path,
    seed: int,
    joints: int,
    change: Change,
    *,
    velocities: bool,
    lag: float = 0.0,
    servos: bool = False,
    duration: float = 4.0,
) -> tuple[Finding, ...]:
    """The findings for one mistake, whose repairs are shown to work."""
    truth = arm_model(seed, joints, servos=servos)
    recording = change(simulate(truth, seed, lag=lag, duration=duration))
    file = write_experiment(
        folder, wrong_model(truth, seed), recording, velocities=velocities, free_inertia=True
    )
    experiment = load_experiment(file)
    findings = check_experiment(experiment, None)
    if findings:
        overrides = [one for finding in findings for one in finding.overrides]
        assert check_experiment(with_overrides(experiment, overrides), None) == ()
    return findings


def unchanged(recording: ArmRecording) -> ArmRecording:
    return recording


@pytest.mark.parametrize(
    ("seed", "joints", "velocities"), [(0, 1, False), (1, 2, True), (2, 3, False), (2, 3, True)]
)
def test_clean_data_give_no_finding_though_the_model_is_half_off(
    tmp_path: Path, seed: int, joints: int, velocities: bool
) -> None:
    assert checked(tmp_path, seed, joints, unchanged, velocities=velocities) == ()


MISTAKES: dict[str, tuple[Change, FindingKind, set[str]]] = {
    "position sign": (
        lambda r: r.changed("position", 1, np.negative), FindingKind.SIGN, {"p1"}
    ),
    "torque sign": (lambda r: r.changed("command", 0, np.negative), FindingKind.SIGN, {"m0"}),
    "degrees": (lambda r: r.changed("position", 1, np.rad2deg), FindingKind.DEGREES, {"p1"}),
    "offset": (
        lambda r: r.changed("position", 0, lambda x: x + 0.2), FindingKind.OFFSET, {"p0"}
    ),
    "scale": (lambda r: r.changed("position", 0, lambda x: 2.0 * x), FindingKind.SCALE, {"p0"}),
    "exchanged positions": (
        lambda r: r.exchanged("position", 0, 1), FindingKind.SWAP, {"p0", "p1"}
    ),
    "exchanged torques": (lambda r: r.exchanged("command", 0, 1), FindingKind.SWAP, {"m0", "m1"}),
    "degrees everywhere": (
        lambda r: replace(r, position=np.rad2deg(r.position)), FindingKind.DEGREES, {"p0", "p1"}
    ),
    "signs of all torques": (
        lambda r: replace(r, command=-r.command), FindingKind.SIGN, {"m0", "m1"}
    ),
    "millinewton metres": (
        lambda r: replace(r, command=1e3 * r.command), FindingKind.SCALE, {"m0", "m1"}
    ),
    "cut off": (
        lambda r: r.changed("command", 0, lambda x: np.clip(x, *np.percentile(x, [5, 95]))),
        FindingKind.SATURATION, {"m0"},
    ),
    "quantised": (
        lambda r: r.changed("position", 0, lambda x: np.round(x / 0.02) * 0.02),
        FindingKind.QUANTISATION, {"p0"},
    ),
    "encoders of one make": (
        lambda r: replace(r, position=np.round(r.position / 0.04) * 0.04),
        FindingKind.QUANTISATION, {"p0", "p1"},
    ),
}  # fmt: skip


@pytest.mark.parametrize("mistake", MISTAKES)
def test_each_mistake_is_the_one_finding(tmp_path: Path, mistake: str) -> None:
    change, kind, signals = MISTAKES[mistake]
    findings = checked(tmp_path, 1, 2, change, velocities=False)
    assert [finding.kind for finding in findings] == [kind]
    assert signals <= set(findings[0].signals)
    assert findings[0].signals[0] in signals


def test_signs_of_some_torques_are_found_together(tmp_path: Path) -> None:
    """Reversing one alone helps little while the other is still wrong."""

    def two(recording: ArmRecording) -> ArmRecording:
        return recording.changed("command", 0, np.negative).changed("command", 2, np.negative)

    (finding,) = checked(tmp_path, 2, 3, two, velocities=False, duration=12.0)
    assert finding.kind is FindingKind.SIGN
    assert {"m0", "m2"} <= {*finding.signals} <= {"m0", "m2", "p0", "p2"}


def test_an_arm_that_is_not_mounted_as_its_model_is_said_to_be_so(tmp_path: Path) -> None:
    """Its gravity comes with the line of the file that gives the model the same."""
    truth, gravity = arm_model(2, 3), (0.0, 6.937, 6.937)
    option = '<option timestep="0.001"'
    mounted = truth.replace(option, f'{option} gravity="{" ".join(map(str, gravity))}"')
    recording = simulate(mounted, 2, duration=8.0)
    file = write_experiment(
        tmp_path, wrong_model(truth, 2), recording, velocities=False, free_inertia=True
    )
    experiment = load_experiment(file)
    (finding,) = check_experiment(experiment, None)
    assert finding.kind is FindingKind.MOUNTING
    assert [finding.evidence[axis] for axis in "xyz"] == pytest.approx(gravity, abs=0.7)
    assert check_experiment(with_overrides(experiment, list(finding.overrides)), None) == ()


def test_levels_that_noise_smears_hide_nothing(tmp_path: Path) -> None:
    def noisy(position: np.ndarray) -> np.ndarray:
        noise = 4e-3 * np.random.default_rng(0).standard_normal(len(position))
        return np.asarray(np.round((position + noise) / 5e-3) * 5e-3)

    findings = checked(tmp_path, 1, 2, lambda r: r.changed("position", 0, noisy), velocities=False)
    assert FindingKind.QUANTISATION not in [finding.kind for finding in findings]


VELOCITY_MISTAKES: dict[str, tuple[Change, FindingKind, str]] = {
    "velocity sign": (lambda r: r.changed("velocity", 1, np.negative), FindingKind.SIGN, "v1"),
    "position sign": (lambda r: r.changed("position", 0, np.negative), FindingKind.SIGN, "p0"),
    "velocity degrees": (
        lambda r: r.changed("velocity", 0, np.rad2deg), FindingKind.DEGREES, "v0"
    ),
    "position degrees": (
        lambda r: r.changed("position", 1, np.rad2deg), FindingKind.DEGREES, "p1"
    ),
    "velocity scale": (
        lambda r: r.changed("velocity", 1, lambda x: 1.5 * x), FindingKind.SCALE, "v1"
    ),
    "exchanged velocities": (lambda r: r.exchanged("velocity", 0, 1), FindingKind.SWAP, "v0"),
}  # fmt: skip


@pytest.mark.parametrize("mistake", VELOCITY_MISTAKES)
def test_positions_and_velocities_must_agree(tmp_path: Path, mistake: str) -> None:
    change, kind, label = VELOCITY_MISTAKES[mistake]
    findings = checked(tmp_path, 1, 2, change, velocities=True)
    assert [finding.kind for finding in findings] == [kind]
    assert findings[0].signals[0] == label


def test_a_lag_has_a_value_and_an_interval(tmp_path: Path) -> None:
    (finding,) = checked(tmp_path, 1, 2, unchanged, velocities=False, lag=0.03)
    assert finding.kind is FindingKind.LAG
    assert finding.evidence["size_low"] < 0.03 < finding.evidence["size_high"]
    assert finding.evidence["size"] == pytest.approx(0.03, abs=0.005)


SERVO_MISTAKES: dict[str, tuple[Change, FindingKind, set[str]]] = {
    "command sign": (lambda r: r.changed("command", 1, np.negative), FindingKind.SIGN, {"m1"}),
    "command in degrees": (
        lambda r: r.changed("command", 0, np.rad2deg), FindingKind.DEGREES, {"m0"}
    ),
    "position in degrees": (
        lambda r: r.changed("position", 0, np.rad2deg), FindingKind.DEGREES, {"p0"}
    ),
    "exchanged commands": (
        lambda r: r.exchanged("command", 0, 1), FindingKind.SWAP, {"m0", "m1"}
    ),
    "command scale": (
        lambda r: r.changed("command", 1, lambda x: 2.0 * x), FindingKind.SCALE, {"m1"}
    ),
    "command offset": (
        lambda r: r.changed("command", 0, lambda x: x + 0.2), FindingKind.OFFSET, {"m0"}
    ),
}  # fmt: skip


@pytest.mark.parametrize("mistake", SERVO_MISTAKES)
def test_servos_must_do_what_they_are_asked_for(tmp_path: Path, mistake: str) -> None:
    change, kind, signals = SERVO_MISTAKES[mistake]
    findings = checked(tmp_path, 1, 2, change, velocities=False, servos=True)
    assert [finding.kind for finding in findings] == [kind]
    assert signals <= set(findings[0].signals)


def test_servos_that_follow_late_give_no_finding_unless_the_command_is(tmp_path: Path) -> None:
    assert checked(tmp_path / "a", 1, 2, unchanged, velocities=False, servos=True) == ()
    (finding,) = checked(tmp_path / "b", 1, 2, unchanged, velocities=False, servos=True, lag=0.05)
    assert finding.kind is FindingKind.LAG
    assert finding.evidence["size"] == pytest.approx(0.05, abs=0.01)


def sign(*signals: str, ambiguous: bool = False) -> Finding:
    """A finding of a wrong sign."""
    return Finding(FindingKind.SIGN, signals, {}, "", "", (), ambiguous=ambiguous)


def test_a_sign_that_a_simulation_takes_back_is_not_told() -> None:
    """A command or a position, says the servo; the position, says what else the servo moves."""
    servo, back, other = sign("drive", "wheel", ambiguous=True), sign("drive"), sign("wheel")
    assert _without_undone([servo, back, other]) == [other]
    assert _without_undone([servo, other]) == [servo, other]
    assert _without_undone([servo, back]) == [servo, back]  # as nothing else would be told
    assert _without_undone([sign("drive"), back, other]) == [sign("drive"), back, other]


@pytest.mark.parametrize(
    ("stands", "kind", "label"),
    [("position", FindingKind.STANDSTILL, "p2"), ("command", FindingKind.NO_CONTROL, "m2")],
)
def test_what_stands_still_hides_nothing_of_other_joints(
    tmp_path: Path, stands: str, kind: FindingKind, label: str
) -> None:
    """The rest is tested as if it were not mapped; a command stands throughout."""
    truth = arm_model(5, 3, servos=True).replace('kp="30" kv="1.5"', 'kp="300" kv="15"')
    moved = simulate(truth, 5, duration=12.0)
    kept = len(moved.times) // 2 if stands == "position" else 0
    still = np.arange(len(moved.times)) >= kept
    stopped = moved.changed(stands, 2, lambda values: np.where(still, values[kept], values))
    turned = stopped.changed("velocity", 0, np.degrees).changed("velocity", 1, np.negative)
    file = write_experiment(tmp_path, wrong_model(truth, 5), turned, velocities=True)
    notes: list[str] = []
    found = check_experiment(load_experiment(file), None, on_note=notes.append)
    assert (found[0].kind, found[0].signals) == (kind, (label,))
    assert {(one.kind, one.signals[0]) for one in found[1:]} == {
        (FindingKind.DEGREES, "v0"),
        (FindingKind.SIGN, "v1"),
    }
    assert any(note.startswith("nothing is simulated") for note in notes)


def test_a_signal_that_is_dead_from_the_start_is_told_with_its_line(tmp_path: Path) -> None:
    truth = arm_model(1, 2, servos=True)
    recording = simulate(truth, 1, duration=5.0).changed("position", 1, np.zeros_like)
    (found,) = check_experiment(load_experiment(write_experiment(tmp_path, truth, recording)), None)
    assert (found.kind, found.signals) == (FindingKind.LITTLE_MOTION, ("p1",))
    assert found.repair.startswith("# - {sensor: p1, ")


def test_reversed_axes_hide_no_contradicting_messages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two nodes that publish in turn are told beside axes that end the check early."""
    reversed_axes, twice = sign("p1"), Finding(FindingKind.CONTRADICTION, (), {}, "", "", ())
    monkeypatch.setattr(checks, "downward_findings", lambda *_: [reversed_axes])
    monkeypatch.setattr(checks, "contradictions", lambda _: (twice,))
    truth = arm_model(1, 1)
    file = write_experiment(tmp_path, truth, simulate(truth, 1, duration=5.0))
    assert check_experiment(load_experiment(file), None) == (reversed_axes, twice)


@pytest.mark.parametrize("signals", ["[]", "[{actuator: a, topic: /t, field: data}]"])
def test_without_anything_measured_there_is_nothing_to_test(signals: str) -> None:
    text = f"model: a.xml\nsequences: [bag]\nsignals: {signals}\n"
    with pytest.raises(ExperimentError, match="nothing measured is mapped; 'signals' needs"):
        check_experiment(parse_experiment(text), None)
