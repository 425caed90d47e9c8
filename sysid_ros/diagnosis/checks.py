# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Every test of ``sysid_ros check`` on recordings that are read already."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence

from sysid_ros.choices import FIT_METHODS
from sysid_ros.dataset import Dataset, refers_to_geoms
from sysid_ros.diagnosis.body_sensors import body_sensor_findings, downward_findings
from sysid_ros.diagnosis.checked_state import CheckedState
from sysid_ros.diagnosis.effort_mistakes import MISREAD, are_masses, with_contradictions
from sysid_ros.diagnosis.evidence import (
    ROUGH,
    Explanation,
    Finding,
    FindingKind,
    leaning_grounds,
    percent,
    push_findings,
    together,
    with_topics_degrees,
)
from sysid_ros.diagnosis.integral_parts import drive_findings
from sysid_ros.diagnosis.range_violations import beyond_ranges, clipped_commands
from sysid_ros.diagnosis.sampling_findings import contradictions, sampling_findings
from sysid_ros.diagnosis.servo_exchanges import reversed_joints
from sysid_ros.diagnosis.servo_lags import servo_lags
from sysid_ros.diagnosis.servo_mistakes import servo_explanations
from sysid_ros.diagnosis.signal_findings import (
    at_rest,
    consistency_findings,
    held_out_at_rest,
    percent_findings,
    unit_findings,
)
from sysid_ros.diagnosis.simulated import (
    Contacts,
    WindowTest,
    apart,
    contact_findings,
    contacts,
    may_show_loads,
    rolling_explanations,
    runaways,
    running_away,
    simulated_explanations,
    standing_explanations,
    swinging_steps,
    without_geoms,
)
from sysid_ros.diagnosis.torque_checks import (
    factor_for_masses,
    torque_findings,
    unit_of_torques,
)
from sysid_ros.diagnosis.tracking import Tracking
from sysid_ros.engine.signals import ModelSequences
from sysid_ros.engine.simulation import single_blas_thread
from sysid_ros.errors import listed
from sysid_ros.experiment import Experiment

_ROUNDS = 3  # in which servos' mistakes are looked for, each with those before repaired
_WINDOW_GROUNDS = "Simulated windows, with whatever friction, armature and masses, ask for it."
_AGAIN = "repair it and check again"


def check_dataset(
    experiment: Experiment,
    dataset: Dataset,
    *,
    simulated: bool | None = None,
    seen: Contacts | None = None,
    on_note: Callable[[str], None] = lambda _: None,
) -> tuple[Finding, ...]:
    """Test recordings against the model before any fit.

    What a repair would change is changed before the next test, so that one mistake is one finding.

    Args:
      experiment: The experiment.
      dataset: Its recordings.
      simulated: Whether robots will be simulated; by default as the experiment's fit does.
      seen: The contacts in all of it, where they are known.
      on_note: Told which masses cannot be tested.

    Returns:
      The mistakes found, those of values first.
    """
    if simulated is None:
        simulated = FIT_METHODS[experiment.fit.method].simulates
    state, length = CheckedState.of(experiment, dataset), experiment.windows.length
    with single_blas_thread():
        if stood := at_rest(state):
            on_note(f"nothing is simulated, as {_kinds(stood)} may look like anything: {_AGAIN}")
            findings = [*stood, *_of_values(state, simulated=False), *_of_limits(state)]
            findings += sampling_findings(state.recorded, state.lines, state.declared)
            return (*findings, *contradictions(dataset.quality))
        if reversed_axes := downward_findings(state.recorded, state.lines):
            # All else would look like other mistakes.
            return (*reversed_axes, *contradictions(dataset.quality))
        findings = [*held_out_at_rest(state), *_of_values(state, simulated=simulated)]
        seen = seen or contacts(dataset.whole)
        if simulated:
            findings += _simulated(state, apart(dataset.whole, seen), length, on_note)
            findings = _without_undone(findings)
        findings += _of_limits(state)
        findings += body_sensor_findings(state.recorded, state.lines, state.declared)
        findings += sampling_findings(state.recorded, state.lines, state.declared)
        findings += push_findings(state.recorded)
        if simulated:  # a fit to torque masks contacts, and takes lasting ones for a drawing
            # Nor can a simulation with guessed gains and no damping be expected to hold.
            well_known = not (findings or state.recorded.guessed)
            findings += contact_findings(seen)
            if well_known:
                findings += running_away(*runaways(dataset.whole, state.declared.params), seen)
            findings += [] if state.recorded.guessed else swinging_steps(state.recorded)
        # What is repaired roughly, or pressed against stops, shows no masses; nor do sums of
        # torques, which are as they were recorded, what is read otherwise.
        by_torque = experiment.fit.method == "inverse_dynamics"
        hiding = {*ROUGH, *MISREAD} if by_torque else {*ROUGH}
        masses = hiding.isdisjoint(one.kind for one in findings)
        if not by_torque:
            if masses:
                # Behind the name of another joint a mass looks like another.
                doubtful = [one for one in findings if one.ambiguous]
                findings += _in_windows(state, experiment, dataset, on_note, doubtful, seen)
            else:
                findings = _mounted(state, experiment, dataset, findings, seen)
    if left := [one for one in findings if one.kind in hiding]:
        on_note(f"masses are not tested, as {_kinds(left)} may look like them: {_AGAIN}")
    told = with_contradictions(experiment, dataset, findings, masses=masses)
    if not findings and by_torque and all(are_masses(one) for one in told):
        told = tuple(factor_for_masses(state, told))
    return (*told, *contradictions(dataset.quality))


def _of_limits(state: CheckedState) -> list[Finding]:
    return [*beyond_ranges(state.recorded), *clipped_commands(state.recorded)]


def _mounted(
    state: CheckedState,
    experiment: Experiment,
    dataset: Dataset,
    findings: list[Finding],
    seen: Contacts,
) -> list[Finding]:
    """The findings, with gravity from elsewhere in place of scales and zeros that it explains.

    Sags under it look like these.
    """
    rough = [one for one in findings if one.kind in ROUGH]
    alone = not (seen.touching or seen.overlaps)
    if not (alone and all(_is_of_servo(state, one) for one in rough)):
        return findings
    turned = _window_test(state, experiment, dataset, seen, rough).turned()
    if not turned:
        return findings
    left = [one for one in findings if one not in rough]
    return [*left, state.mounting(turned, leaning_grounds(turned))]


def masses_off(
    experiment: Experiment, dataset: Dataset, begun: Mapping[str, float] | None = None
) -> tuple[Finding, ...]:
    """Test only whether masses are not the model's, beside all parameters of the experiment.

    Args:
      experiment: The experiment, signs, units and exchanges repaired.
      dataset: Its recordings.
      begun: Values of parameters that another fit of the recordings went to, to begin at.
    """
    with single_blas_thread():
        state = CheckedState.of(experiment, dataset, begun)
        if not state.declared.frees_gains(state.recorded):
            return ()
        return tuple(_window_test(state, experiment, dataset, contacts(dataset.whole)).masses_off())


def _kinds(findings: Sequence[Finding]) -> str:
    """Name the kinds of findings, as they are told."""
    return listed(dict.fromkeys(repr(one.kind.value) for one in findings))


def mistaken_values(experiment: Experiment, dataset: Dataset) -> tuple[Finding, ...]:
    """Test only whether signals have wrong signs, units, scales, offsets, times or names."""
    with single_blas_thread():
        state = CheckedState.of(experiment, dataset)
        return (*at_rest(state), *held_out_at_rest(state), *_of_values(state, simulated=False))


def joints_beyond_ranges(experiment: Experiment, dataset: Dataset) -> tuple[Finding, ...]:
    """Test only whether joints were, or motors told, what a simulation does not let them."""
    recorded = CheckedState.of(experiment, dataset).recorded
    motors = recorded.without(recorded.commands.values())  # drivers of servos clip as models do
    return (*beyond_ranges(recorded), *clipped_commands(motors))


def changed_loads(experiment: Experiment, dataset: Dataset) -> tuple[Finding, ...]:
    """Test only whether something is taken up or put down in the midst of a simulated recording."""
    if not may_show_loads(max(dataset.whole, key=len)):
        return ()
    with single_blas_thread():
        state = CheckedState.of(experiment, dataset)
        return tuple(_window_test(state, experiment, dataset, contacts(dataset.whole)).loads())


def mistaken_units(experiment: Experiment, dataset: Dataset) -> tuple[Finding, ...]:
    """Test only whether all measured torques are in another unit than the model's."""
    with single_blas_thread():
        return tuple(unit_of_torques(CheckedState.of(experiment, dataset)))


def _of_values(state: CheckedState, *, simulated: bool) -> list[Finding]:
    found = [
        *consistency_findings(state),
        *unit_findings(state),
        *_rolling(state),
        *_standing(state),
    ]
    found += [*_tracking(state, simulated=simulated), *torque_findings(state)]
    return [*found, *percent_findings(state, found)]


def _rolling(state: CheckedState) -> list[Finding]:
    """Wheels that turn otherwise than the base moves which rolls on them."""
    return [
        state.finding(
            one,
            f"As recorded, wheels slip with {percent(one.before**2)} of the power with which "
            f"the base's pose has them roll; with this repaired, {percent(one.after**2)}.",
        )
        for one in state.undeclared(rolling_explanations(state.recorded))
    ]


def _standing(state: CheckedState) -> list[Finding]:
    """Legs whose feet are elsewhere than on the floor that the other feet stand on."""
    return [
        state.finding(
            one,
            f"As recorded, its foot is above or within the floor in {percent(one.before**2)} of "
            f"the time, while the other feet stand on it; with this repaired, "
            f"{percent(one.after**2)}.",
        )
        for one in state.undeclared(standing_explanations(state.recorded))
    ]


def _simulated(
    state: CheckedState,
    sequences: ModelSequences,
    length: float | None,
    on_note: Callable[[str], None],
) -> list[Finding]:
    """Find what simulated windows say of robots that no equation of single joints covers."""
    found = simulated_explanations(
        state.recorded, sequences, state.declared.params, length, state.repairs,
        state.lines.topics, on_note,
    )  # fmt: skip
    return [
        state.finding(
            one,
            f"As recorded, {percent(one.before**2)} of the power of what shows it is something "
            "that the model does not do, simulated from the recorded postures; with this repaired, "
            f"{percent(one.after**2)}.",
        )
        for one in state.undeclared(found)
    ]


def _without_undone(findings: Sequence[Finding]) -> list[Finding]:
    """Findings less the signs of a signal that a simulation reverses back with another instead.

    A servo tells that its command or its position is reversed; what it moves besides, which.
    """
    signs = [one for one in findings if one.kind is FindingKind.SIGN]
    undone = [
        pair
        for pair in itertools.combinations(signs, 2)
        if pair[0].ambiguous
        and pair[1].signals == pair[0].signals[:1]
        and any({*one.signals} & {*pair[0].signals[1:]} for one in signs if one not in pair)
    ]
    return [one for one in findings if not any(one in pair for pair in undone)]


def _tracking(state: CheckedState, *, simulated: bool) -> list[Finding]:
    """Servos that do something else than they are asked for."""
    found: list[Explanation] = []
    test = Tracking.of(state.recorded)
    for _ in range(_ROUNDS):
        explanations = servo_explanations(state.recorded, single=simulated, known=test)
        found += state.undeclared(explanations)
        if not explanations:
            break
        test = Tracking.of(state.recorded)
    if rest := with_topics_degrees(state.recorded, found, state.lines.topics):
        found += state.undeclared(rest)
        test = Tracking.of(state.recorded)
    found += state.undeclared(reversed_joints(state.recorded, test))
    drives = drive_findings(state, test)
    told = {label for one in drives for label in one.signals}
    lags = [
        one
        for one in servo_lags(state.recorded, state.lines.topic, known=test)
        if told.isdisjoint(one.change.delay)
    ]
    found = [*together(found), *state.undeclared(lags)]
    return drives + [
        state.finding(
            one,
            f"As recorded, {percent(one.before**2)} of the commands' power is something that "
            "no such servo would make of them, whatever its gains and loads; with this "
            f"repaired, {percent(one.after**2)}.",
        )
        for one in found
    ]


def _in_windows(
    state: CheckedState,
    experiment: Experiment,
    dataset: Dataset,
    on_note: Callable[[str], None],
    doubtful: Sequence[Finding],
    seen: Contacts,
) -> list[Finding]:
    """Inputs that are late and forces that are others, or else a mass, that no fit finds."""
    test = _window_test(state, experiment, dataset, seen)
    asked = state.undeclared([*test.late_inputs(), *test.mistaken_forces()])
    found = [state.finding(one, _WINDOW_GROUNDS) for one in asked]
    if found or doubtful:
        open_ = f"{_kinds(doubtful)} leaves open which signal is wrong"
        why = open_ if doubtful else f"{_kinds(found)} comes first"
        on_note(f"masses are not tested, nor how the robot is mounted, as {why}: {_AGAIN}")
        return found
    if turned := test.turned():
        return [state.mounting(turned, leaning_grounds(turned))]
    if not (found := test.loads() or test.masses_off()) and (note := test.note()):
        on_note(note)
    return found


def _is_of_servo(state: CheckedState, finding: Finding) -> bool:
    """Return whether a scale or an offset is a servo's; torques tell a zero from a mount."""
    seen, ranged = state.recorded, finding.kind in (FindingKind.RANGE, FindingKind.INTEGRAL)
    labels = {*seen.commands.values(), *seen.positions.values()}
    return not ranged and not seen.efforts and labels.issuperset(finding.signals)


def _window_test(
    state: CheckedState,
    experiment: Experiment,
    dataset: Dataset,
    seen: Contacts,
    doubted: Sequence[Finding] = (),
) -> WindowTest:
    """Simulated windows, without the repairs of findings that are doubted."""
    group = apart(dataset.whole, seen)
    needed = seen.touching or seen.overlaps or refers_to_geoms(experiment)
    group = group if needed else without_geoms(group)
    spec = group.spec.copy()
    spec.option.gravity = state.recorded.model.opt.gravity  # another, where torques told a mount
    group = group.replaced(spec=spec)
    kinds = {one.kind for one in doubted}
    repairs = [one for one in state.repairs if one.kind not in kinds]
    return WindowTest.of(
        state.recorded, group, state.declared, repairs, seen.window(experiment.windows.length),
        state.lines.topics,
    )  # fmt: skip
