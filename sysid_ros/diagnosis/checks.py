# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Every test of ``sysid_ros check`` on recordings that are read already."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from sysid_ros.choices import FIT_METHODS
from sysid_ros.dataset import Dataset
from sysid_ros.diagnosis.body_sensor_findings import body_sensor_findings
from sysid_ros.diagnosis.contacts import apart, contact_findings, contacts, swinging_steps
from sysid_ros.diagnosis.declared import Declared
from sysid_ros.diagnosis.dynamics import Dynamics
from sysid_ros.diagnosis.explanation import (
    DECISIVE,
    Explanation,
    Turned,
    leaning_grounds,
    percent,
    together,
    torque_grounds,
)
from sysid_ros.diagnosis.finding import Change, Finding, FindingKind
from sysid_ros.diagnosis.fits import other_gravity
from sysid_ros.diagnosis.odd_efforts import with_contradictions
from sysid_ros.diagnosis.position_consistency import beyond_ranges, disagreement, other_units
from sysid_ros.diagnosis.pushes import push_findings
from sysid_ros.diagnosis.recorded import Recorded, recorded, repaired, under_gravity
from sysid_ros.diagnosis.repair import ExperimentLines, finding_of
from sysid_ros.diagnosis.sampling_findings import contradictions, sampling_findings
from sysid_ros.diagnosis.sampling_mistakes import moves
from sysid_ros.diagnosis.servo_lags import servo_lags
from sysid_ros.diagnosis.servo_mistakes import counterparts, servo_explanations
from sysid_ros.diagnosis.simulated_mistakes import simulated_explanations
from sysid_ros.diagnosis.torque_mistakes import (
    rival_of_mounting,
    torque_explanations,
    torque_unit,
)
from sysid_ros.diagnosis.window_mistakes import WindowTest
from sysid_ros.engine.signals import ModelSequences
from sysid_ros.engine.simulation import single_blas_thread
from sysid_ros.experiment import Experiment
from sysid_ros.robots import build_parameters

_MOST = 8  # mistakes of one kind of test; beyond that, something else is wrong
_ROUNDS = 3  # in which servos' mistakes are looked for, each with those before repaired
_VISIBLE = 0.1  # share of the torques that is unexplained where another gravity is looked for
_SETTLED = 0.05  # of the power, that another gravity leaves if it is all
_WINDOW_GROUNDS = "Simulated windows, with whatever friction, armature and masses, ask for it."
_ROUGH = (FindingKind.SCALE, FindingKind.OFFSET, FindingKind.RANGE)


def check_dataset(
    experiment: Experiment,
    dataset: Dataset,
    *,
    simulated: bool | None = None,
    on_note: Callable[[str], None] = lambda _: None,
) -> tuple[Finding, ...]:
    """Test recordings against the model before any fit.

    What a repair would change is changed before the next test, so that one mistake is one finding.

    Args:
      experiment: The experiment.
      dataset: Its recordings.
      simulated: Whether robots will be simulated; by default as the experiment's fit does.
      on_note: Told which masses cannot be tested.

    Returns:
      The mistakes found, those of values first.
    """
    if simulated is None:
        simulated = FIT_METHODS[experiment.fit.method].simulates
    state, length = _state(experiment, dataset), experiment.windows.length
    with single_blas_thread():
        findings = _of_values(state, simulated=simulated)
        seen = contacts(dataset.training.groups, state.declared.params, simulated=simulated)
        if simulated:
            findings += _simulated(state, apart(dataset.training.groups, seen), length)
        findings += beyond_ranges(state.recorded)
        findings += body_sensor_findings(state.recorded, state.lines, state.declared)
        findings += sampling_findings(state.recorded, state.lines, state.declared)
        findings += push_findings(state.recorded)
        if simulated:  # a fit to torque masks contacts, and takes lasting ones for a drawing
            # Nor can a simulation with guessed gains and no damping be expected to hold.
            findings += contact_findings(seen, mistaken=bool(findings or state.recorded.guessed))
            findings += [] if state.recorded.guessed else swinging_steps(state.recorded)
        # What is repaired roughly, or pressed against stops, shows no masses.
        rough = [one for one in findings if one.kind in _ROUGH]
        alone = not (seen.touching or seen.overlaps)
        masses = alone and not rough
        if experiment.fit.method != "inverse_dynamics":
            if masses:
                findings += _in_windows(state, dataset, length, on_note)
            elif (
                alone
                and all(_is_of_servo(state, one) for one in rough)
                and (turned := _window_test(state, dataset, length, rough).turned())
            ):  # sags under gravity from elsewhere look like scales and zeros of commands
                findings = [one for one in findings if one not in rough]
                findings.append(_mounting(state, turned, leaning_grounds(turned)))
            if not alone:
                on_note("masses are not tested: bodies touch each other, nobody knows how hard")
    told = with_contradictions(experiment, dataset, findings, masses=masses)
    return (*told, *contradictions(dataset.quality))


def mistaken_values(experiment: Experiment, dataset: Dataset) -> tuple[Finding, ...]:
    """Test only whether signals have wrong signs, units, scales, offsets, times or names.

    Args:
      experiment: The experiment.
      dataset: Its recordings.
    """
    with single_blas_thread():
        return tuple(_of_values(_state(experiment, dataset), simulated=False))


def mistaken_units(experiment: Experiment, dataset: Dataset) -> tuple[Finding, ...]:
    """Test only whether all measured torques are in another unit than the model's.

    Args:
      experiment: The experiment.
      dataset: Its recordings.
    """
    with single_blas_thread():
        return tuple(_unit_of_torques(_state(experiment, dataset)))


@dataclass
class _State:
    """The recordings, repaired as far as mistakes are known."""

    recorded: Recorded
    lines: ExperimentLines
    declared: Declared
    repairs: list[Change] = field(default_factory=list)

    def repair(self, change: Change) -> None:
        """Repair the recordings."""
        self.recorded = repaired(self.recorded, change)
        self.repairs.append(change)


def _state(experiment: Experiment, dataset: Dataset) -> _State:
    declared = Declared(build_parameters(experiment, dataset.training.groups[0].spec))
    guessed = [one.name for one in experiment.signals if one.servo or one.velocity_servo]
    whole, gravity = recorded(dataset.training.groups, guessed), declared.gravity()
    whole = whole if gravity is None else under_gravity(whole, gravity)
    return _State(whole, ExperimentLines(experiment), declared)


def _of_values(state: _State, *, simulated: bool) -> list[Finding]:
    found = [*_consistency(state), *_units(state)]
    return [*found, *_tracking(state, simulated=simulated), *_dynamics(state)]


def _units(state: _State) -> list[Finding]:
    """Signals far beyond the ranges of their joints, which another unit explains."""
    found = other_units(state.recorded, state.lines.topics)
    for change, _ in found:
        state.repair(change)
    return [finding_of(change, state.lines, {}, why) for change, why in found]


def _simulated(state: _State, sequences: ModelSequences, length: float | None) -> list[Finding]:
    """Find what simulated windows say of robots that no equation of single joints covers."""
    found = simulated_explanations(
        state.recorded, sequences, state.declared.params, length, state.repairs, state.lines.topics
    )
    return [
        _finding(
            state,
            one,
            f"As recorded, {percent(one.before**2)} of the power of what shows it is something "
            "that the model does not do, simulated from the recorded postures; with this repaired, "
            f"{percent(one.after**2)}.",
        )
        for one in _undeclared(state, found)
    ]


def _consistency(state: _State) -> list[Finding]:
    """Contradictions between measured positions and velocities."""
    found: list[Finding] = []
    while len(found) < _MOST:
        contradiction = disagreement(state.recorded)
        if contradiction is None:
            break
        change, others = _decided(state.recorded, contradiction.candidates)
        found.append(
            finding_of(
                change,
                state.lines,
                {
                    "correlation": contradiction.correlation,
                    "velocity_per_derivative": contradiction.slope,
                },
                contradiction.sentence(change),
                alternatives=others,
            )
        )
        state.repair(change)
    return found


def _decided(
    recorded: Recorded, candidates: tuple[Change, ...]
) -> tuple[Change, tuple[Change, ...]]:
    """The candidate that inverse dynamics prefers, and those it cannot rule out."""
    dynamics = Dynamics.of(recorded) if len(candidates) > 1 else None
    if dynamics is not None:
        misfits = [dynamics.misfit(candidate) for candidate in candidates]
        order = sorted(range(len(candidates)), key=lambda i: misfits[i].share)
        best, second = order[0], order[1]
        if misfits[best].ratio(misfits[second]) < DECISIVE:
            return candidates[best], ()
    return candidates[0], candidates[1:]


def _tracking(state: _State, *, simulated: bool) -> list[Finding]:
    """Servos that do something else than they are asked for."""
    found: list[Explanation] = []
    for _ in range(_ROUNDS):
        explanations = servo_explanations(state.recorded, single=simulated)
        found += _undeclared(state, explanations)
        if not explanations:
            break
    lags = servo_lags(state.recorded, state.lines.topic)
    found = [*together(found), *_undeclared(state, lags)]
    return [
        _finding(
            state,
            one,
            f"As recorded, {percent(one.before**2)} of the commands' power is something that "
            "no such servo would make of them, whatever its gains and loads; with this "
            f"repaired, {percent(one.after**2)}.",
        )
        for one in found
    ]


def _undeclared(state: _State, explanations: Sequence[Explanation]) -> list[Explanation]:
    """Repair what was recorded, and keep of the repairs those that the fit would not find."""
    found = []
    for one in explanations:
        state.repair(one.change)
        others = counterparts(state.recorded, one.change.signals)
        if not state.declared.explains(one.change, one.size, others):
            found.append(one)
    return found


def _dynamics(state: _State) -> list[Finding]:
    """Find motion that no robot with the model's kinematics could have done."""
    found: list[Finding] = []
    while len(found) < _MOST:
        test = Dynamics.of(state.recorded)
        if test is None:
            break
        mounted = state.recorded.is_open_chain  # what is free shows how it is turned
        turned = _other_gravity(state, test) if mounted and not found else None
        rival = 1.0 if turned is None else rival_of_mounting(state.recorded, test)
        # What another gravity leaves no room for is not looked for, as that takes long.
        settled = turned is not None and turned.after**2 <= _SETTLED and turned.beats(rival)
        explanations = [] if settled else torque_explanations(state.recorded, test)
        if turned is not None and turned.beats(
            min(rival, *(one.after for one in explanations), 1.0)
        ):
            found.append(_mounting(state, turned, torque_grounds(turned)))
            continue
        if not explanations:
            break
        for best in explanations:
            state.repair(best.change)
            if not state.declared.explains(best.change, best.size):
                found.append(_beside(_finding(state, best, torque_grounds(best)), best, turned))
    return found + _unit_of_torques(state)


def _other_gravity(state: _State, test: Dynamics) -> Turned | None:
    """Gravity with which some robot explains the torques, where none does with the model's."""
    before = test.misfit()
    if before.share < _VISIBLE:
        return None
    own = np.array(state.recorded.model.opt.gravity)
    seen = other_gravity(
        lambda one: test.under(one).glance(), lambda one: test.under(one).misfit(), own
    )
    return None if seen is None else Turned(seen[0], before.share, seen[1].share)


def _mounting(state: _State, turned: Turned, grounds: str) -> Finding:
    """Repair the recordings under another gravity, as nothing else explains them as well."""
    state.recorded = under_gravity(state.recorded, turned.gravity)
    repair = state.lines.gravity(turned.gravity.tolist())
    return Finding(
        FindingKind.MOUNTING,
        (),
        {"unexplained_before": turned.before, "unexplained_after": turned.after,
         **dict(zip(("x", "y", "z"), turned.gravity.tolist(), strict=True))},
        f"The robot is not mounted as the model is: {turned.words}. {grounds}",
        repair.text,
        repair.overrides,
    )  # fmt: skip


def _beside(finding: Finding, best: Explanation, turned: Turned | None) -> Finding:
    """Name the mounting beside an offset that explains as much.

    A zero of a joint's sensor turns what hangs on it, which can look alike.
    """
    if turned is None or best.change.kind is not FindingKind.OFFSET:
        return finding
    if DECISIVE * turned.after**2 > best.after**2:
        return finding
    claim, _, grounds = finding.sentence.partition(". ")
    told = f"{claim}, or the robot is not mounted as the model is: {turned.words}. {grounds}"
    return replace(finding, sentence=told)


def _unit_of_torques(state: _State) -> list[Finding]:
    """Torques that are all much too large or too small for the model."""
    moving = state.recorded.is_open_chain and all(
        moves(state.recorded, joint) for joint in state.recorded.positions
    )
    test = Dynamics.of(state.recorded) if moving else None
    unit = None if test is None else torque_unit(state.recorded, test)
    if unit is None or state.declared.explains(unit.change, unit.size):
        return []
    currents = (
        " Motor currents look like that. The factors are then estimates, by the model's masses, of "
        "newton metres per ampere; the maker's are better, as masses are found in proportion."
        if len({*unit.change.scale.values()}) > 1
        else ""
    )
    return [
        _finding(
            state,
            unit,
            "Masses six times the model's, or a sixth of them, with whatever friction, leave "
            f"{percent(unit.before**2)} of the torques' power unexplained; in another unit it is "
            f"{percent(unit.after**2)}.{currents}",
        )
    ]


def _in_windows(
    state: _State, dataset: Dataset, length: float | None, on_note: Callable[[str], None]
) -> list[Finding]:
    """Inputs that are late and forces that are others, or else a mass, that no fit finds."""
    test = _window_test(state, dataset, length)
    asked = _undeclared(state, [*test.late_inputs(), *test.factors_off()])
    found = [_finding(state, one, _WINDOW_GROUNDS) for one in asked]
    if not found and (turned := test.turned()):
        return [_mounting(state, turned, leaning_grounds(turned))]
    found += [] if found else test.masses_off()
    if not found and (note := test.note()):
        on_note(note)
    return found


def _is_of_servo(state: _State, finding: Finding) -> bool:
    """Return whether a scale or an offset is a servo's; torques tell a zero from a mount."""
    seen, ranged = state.recorded, finding.kind is FindingKind.RANGE
    labels = {*seen.commands.values(), *seen.positions.values()}
    return not ranged and not seen.efforts and labels.issuperset(finding.signals)


def _window_test(
    state: _State, dataset: Dataset, length: float | None, doubted: Sequence[Finding] = ()
) -> WindowTest:
    """Simulated windows, without the repairs of findings that are doubted."""
    group = max(dataset.training.groups, key=len)  # of the model that most was recorded with
    kinds = {one.kind for one in doubted}
    repairs = [one for one in state.repairs if one.kind not in kinds]
    return WindowTest.of(state.recorded, group, state.declared, repairs, length, state.lines.topics)


def _finding(state: _State, best: Explanation, why: str) -> Finding:
    evidence = {"unexplained_before": best.before, "unexplained_after": best.after}
    if best.size:
        evidence["size"] = best.size
    if best.interval is not None:
        evidence["size_low"], evidence["size_high"] = best.interval
    return finding_of(
        best.change,
        state.lines,
        evidence,
        why,
        alternatives=best.alternatives,
        interval=best.interval,
    )
