# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""``sysid_ros init``: from a model and recordings to an experiment file."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import mujoco

from sysid_ros.dataset import without_contacts
from sysid_ros.diagnosis import Finding, FindingKind, mistaken_units, runaways
from sysid_ros.engine.elements import without_visuals
from sysid_ros.engine.windows import RESTING
from sysid_ros.errors import ExperimentError, SysidError
from sysid_ros.experiment import Experiment, Packages, parse_experiment
from sysid_ros.proposal import torque_proposal
from sysid_ros.proposal.candidate import Candidate, together, with_first
from sysid_ros.proposal.contact_windows import with_windows_for_contacts
from sysid_ros.proposal.experiment_text import Draft, SignalEntry
from sysid_ros.proposal.fit_cost import in_a_usual_time
from sysid_ros.proposal.held_by_priors import chosen
from sysid_ros.proposal.identifiability import determined
from sysid_ros.proposal.mapped_inputs import Inputs
from sysid_ros.proposal.masses import (
    borne_by,
    makes_up_for,
    masses_beside_gains,
    masses_that_gravity_names,
)
from sysid_ros.proposal.proposed_interpolation import with_interpolations
from sysid_ros.proposal.proposed_parameters import candidates, inputs_of_forces
from sysid_ros.proposal.recordings import (
    Loaded,
    divide,
    find_bags,
    load_some,
    longest_gap,
    proposed_window,
    relative,
)
from sysid_ros.proposal.repairs import tested
from sysid_ros.proposal.resting_joints import resting_joints, without_comparing
from sysid_ros.proposal.servo_starts import begun_at_motion
from sysid_ros.proposal.signals import (
    MOST_READ,
    SERVOS,
    Channel,
    Line,
    Mapping,
    RecordedSignals,
    as_drafted,
    at_commanded_speeds,
    recorded_signals,
    servo_sensors,
    signals_in,
    unread,
    unzeroed,
    without_efforts,
    without_mistaken,
)
from sysid_ros.proposal.thrust_laws import with_thrust_law
from sysid_ros.robots import build_parameters, description_in, load_model


@dataclass(frozen=True)
class ModelTopic:
    """The topic of a recording that has the robot's description."""

    topic: str


@dataclass(frozen=True)
class Proposal:
    """A proposed experiment file."""

    text: str  # its content
    experiment: Experiment  # the same, validated
    # what the test of the recordings found besides what the proposal repairs
    findings: tuple[Finding, ...]
    draft: Draft  # what the text is made of

    def to_dict(self) -> dict[str, Any]:
        """The signals with doubts and grounds, and the findings, as plain values for JSON."""
        return {
            "signals": [one.to_dict() for one in self.draft.signals],
            "possible": [one.to_dict() for one in self.draft.possible],
            "notes": list(self.draft.notes),
            "findings": [finding.to_dict() for finding in self.findings],
        }


def propose(
    model: Path | ModelTopic,
    bags: Sequence[Path],
    output: Path,
    *,
    package_path: Sequence[Path] = (),
    msg_path: Sequence[Path] = (),
    signals: Path | None = None,
    on_stage: Callable[[str], None] = lambda _: None,
    on_note: Callable[[str], None] = lambda _: None,
) -> Proposal:
    """Write the experiment file that a model and some recordings suggest.

    Args:
      model: MJCF or URDF, or the topic that has it in every recording.
      bags: Recordings, or folders of them.
      output: Where the file will be; paths in it are relative to its folder.
      package_path: Folders of ROS packages that the model names.
      msg_path: Definitions of message types that the bags lack.
      signals: An experiment file whose signals are taken as they are.
      on_stage: Told what is being done.
      on_note: Told the faults of recordings, such as that the end is missing.

    Returns:
      The proposal; nothing is written.

    Raises:
      SysidError: The model or a bag cannot be read, or no joint of the model was recorded.
    """
    found = find_bags(bags)
    packages = Packages.of(package_path, neighbours=[output.absolute().parent])
    if isinstance(model, ModelTopic):
        spec = description_in(found[0], model.topic, packages, msg_path).spec
    else:
        spec = load_model(model, packages).spec
    on_stage("mapping what was recorded")
    # Every question about the robot compiles a copy, in no time without meshes.
    spec = without_visuals(spec, int(mujoco.mjtDisableBit.mjDSBL_CONTACT), keep_wheels=True)
    given = () if signals is None else signals_in(signals)
    recorded = recorded_signals(spec, found, msg_path, on_note, given)
    folders = {"package_path": package_path, "msg_path": msg_path}
    draft = _drafted(model, recorded, folders, output)
    on_stage("testing the recordings against the model")
    if served := at_commanded_speeds(recorded):  # efforts are no torques, and may be currents
        experiment = parse_experiment(draft.text(), path=output)
        units = mistaken_units(experiment, load_some(experiment))
        recorded = without_efforts(spec, recorded, units) or served
        draft = _drafted(model, recorded, folders, output)
    draft, findings, loaded = tested(draft, output, recorded)
    while served := without_mistaken(spec, recorded, findings):
        recorded, draft = served, _drafted(model, served, folders, output)
        draft, findings, loaded = tested(draft, output, served)
    if torque_proposal.torque_is_measured(recorded.spec.copy().compile(), recorded.mapping):
        on_stage("looking for motors that turn with two joints")
        experiment = parse_experiment(draft.text(), path=output)
        dataset = load_some(experiment) if loaded is None else loaded.dataset
        fitted, findings = torque_proposal.fitted_to_torque(
            draft, dataset, recorded, _without_gravity(findings), output, on_stage
        )
        served = without_efforts(spec, recorded, findings)
        if served is None:
            return _proposal(fitted, findings, output)
        recorded, draft = served, _drafted(model, served, folders, output)
        draft, findings, loaded = tested(draft, output, served)
    on_stage("trying which parameters the recordings determine")
    return _determined(draft, recorded, findings, output, loaded)


def _determined(
    draft: Draft,
    recorded: RecordedSignals,
    findings: tuple[Finding, ...],
    output: Path,
    loaded: Loaded | None,
) -> Proposal:
    """The proposal with the parameters that the recordings determine, and what is left to say."""
    before = draft.signals
    draft, recorded = with_thrust_law(draft, recorded, output)
    loaded = loaded if draft.signals == before else None
    spec, mapping = recorded.spec, recorded.mapping
    guessed = any(line.kind in SERVOS and line.channel.command for line in mapping.lines)
    masses = masses_that_gravity_names(spec, findings)
    repaired = as_drafted(mapping, [entry.values for entry in draft.signals])
    scaled = Inputs.of(repaired, {}).scaled
    if borne := borne_by(spec.copy().compile(), scaled, masses):  # by factors of that weight
        masses = [one for one in masses if one not in borne]
        findings = _without_gravity(findings)
    kinds = {one.kind for one in findings}
    fitted: dict[str, float] = {}
    draft = _with_parameters(draft, spec, repaired, output, masses, loaded, kinds, fitted.update)
    if set(masses) & set(draft.parameters):
        findings = _without_gravity(findings)
    if guessed:  # recordings are read anew, as commands may be joined by lines by now
        experiment = parse_experiment(draft.text(), path=output)
        masses = masses_beside_gains(spec, experiment, load_some(experiment), findings, fitted)
        draft = replace(draft, parameters=with_first(masses, draft.parameters))
    return _proposal(draft, _without_free_delays(findings, draft, mapping), output)


def _proposal(draft: Draft, findings: tuple[Finding, ...], output: Path) -> Proposal:
    return Proposal(draft.text(), parse_experiment(draft.text(), path=output), findings, draft)


def _drafted(
    model: Path | ModelTopic,
    recorded: RecordedSignals,
    folders: dict[str, Sequence[Path]],
    output: Path,
) -> Draft:
    """The proposal without parameters."""
    mapping, masks = recorded.mapping, _masks(recorded.channels)
    return Draft(
        model=(
            {"robot_description": model.topic}
            if isinstance(model, ModelTopic)
            else relative(model, output)
        ),
        folders={
            key: [relative(path, output) for path in paths]
            for key, paths in folders.items()
            if paths
        },
        recordings=divide(recorded.usable, output, mapping),
        left_out=tuple((relative(bag, output), why) for bag, why in recorded.left_out),
        signals=tuple(_entry(line) for line in mapping.signals),
        possible=tuple(_entry(line) for line in mapping.possible),
        notes=mapping.unmapped,
        unused=unread(
            recorded.channels, mapping.signals, {str(one.values["topic"]) for one in masks}
        ),
        masks=masks,
        clocks=recorded.clocks,
        max_gap=longest_gap([o.channel.interval for o in mapping.signals if not o.input]),
        window=proposed_window(recorded.spec.copy().compile(), mapping),
        loss="huber" if len(recorded.usable) >= MOST_READ else "linear",
    )


def _without_gravity(findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
    """All but the finding that a fit of the masses answers."""
    return tuple(one for one in findings if one.kind is not FindingKind.GRAVITY)


def _without_free_delays(
    findings: tuple[Finding, ...], draft: Draft, mapping: Mapping
) -> tuple[Finding, ...]:
    """All but the delays of commands that the proposal frees, within their bounds."""
    most = {one.name: one.high for one in draft.parameters if one.attribute == "delay"}
    freed = {
        line.input: most[name]
        for line in mapping.lines
        for name in (line.input, line.channel.topic)
        if line.input and name in most
    }
    return tuple(
        one
        for one in findings
        if one.kind is not FindingKind.LAG
        or any(one.evidence["size"] > freed.get(label, 0.0) for label in one.signals)
    )


def _entry(line: Line) -> SignalEntry:
    return SignalEntry(dict(line.values), line.doubt, line.grounds)


def _masks(channels: Sequence[Channel]) -> tuple[SignalEntry, ...]:
    """A boolean that is false at times, which may mean that nothing counts then."""
    for channel in channels:
        if channel.msgtype == "std_msgs/msg/Bool" and channel.moves:
            doubt = f"does nothing count while {channel.topic} is false?"
            return (SignalEntry({"topic": channel.topic, "field": channel.field}, doubt),)
    return ()


def _with_parameters(
    draft: Draft,
    spec: mujoco.MjSpec,
    mapping: Mapping,
    output: Path,
    masses: Sequence[Candidate],
    loaded: Loaded | None,
    kinds: Collection[FindingKind],
    on_fit: Callable[[dict[str, float]], None],
) -> Draft:
    """Choose the parameters that the recordings determine, some masses before others.

    None that would make up for findings of some ``kinds``. Where a fit went, ``on_fit`` is told.
    """
    resting = resting_joints(spec.copy().compile(), mapping.lines)
    loaded = None if resting else loaded
    draft = without_comparing(draft, resting)
    inputs, floating = Inputs.of(mapping, unzeroed(spec, mapping)), mapping.posed
    moving = [*(joint for joint in mapping.joints if joint not in resting), *mapping.carried]
    usual = candidates(spec, moving, inputs, servo_sensors(spec, mapping), free=floating)
    doubted = [one for one in usual if makes_up_for(one, kinds)]
    offered: Sequence[Candidate] = with_first(masses, [one for one in usual if one not in doubted])

    def experiment_with(offered: Sequence[Candidate]) -> Experiment:
        # What is known beforehand is no evidence of what the recordings determine.
        plain = tuple(replace(one, std=None) for one in offered)
        return parse_experiment(replace(draft, parameters=plain).text(), path=output)

    try:
        loaded = loaded or Loaded.of(experiment_with(offered))
        dataset, seen = loaded.dataset, loaded.seen
        begun = begun_at_motion(offered, dataset, inputs)
        if begun != [*offered]:  # no start from which it runs away
            params = build_parameters(experiment_with(begun), dataset.training[0].spec)
            offered = offered if runaways(dataset.training, params)[0] else begun
        meshes = loaded.fixed_with_meshes
        forces = inputs_of_forces(spec.copy().compile(), inputs)
        pushed = bool(forces) and len(forces) == len(inputs.held)
        slowest = max((one.channel.interval for one in mapping.signals if not one.input), default=0)
        draft = with_windows_for_contacts(
            draft, seen, floating=floating, meshes=meshes, pushed=slowest if pushed else None
        )
        experiment = experiment_with(offered)
        if draft.contacts_left_out:
            dataset = replace(dataset, training=without_contacts(dataset.training)[0])
        least = RESTING if draft.contacts_left_out else 0.0
        touching = seen.rests or any(s > least for s in seen.touching.values())
        found = determined(experiment, dataset, offered, draft.window, touching=touching)
        kept, dropped = chosen(offered, found.answers)
        kept = together(kept, found.together)
        draft = replace(draft, notes=(*draft.notes, *found.notes))
        if not found.rolled:
            draft = with_interpolations(replace(draft, parameters=kept), dataset, output, on_fit)
        if found.rolled or (touching and floating):
            draft = in_a_usual_time(
                draft, experiment, dataset, len(kept), touching=touching, rolled=found.rolled
            )
    except ExperimentError:
        raise
    except SysidError:  # the nominal model cannot follow the recordings
        kept, dropped = chosen(offered, [not one.on_demand for one in offered])
    return replace(draft, parameters=kept, undetermined=(*dropped, *doubted))
