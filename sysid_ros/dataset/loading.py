# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""All recordings of an experiment as sequences of its models, training and held-out apart."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path

import mujoco

from sysid_ros.dataset.contact_free import without_contacts
from sysid_ros.dataset.kept_recordings import (
    KeptRecordings,
    kept_recordings,
    key_of,
    reading_of,
)
from sysid_ros.dataset.sequences import (
    Dataset,
    check_windows,
    declared_noise,
    model_sequences,
)
from sysid_ros.dataset.splits import split_by_time
from sysid_ros.dataset.steady_signals import check_steady_signals
from sysid_ros.dataset.turned_signals import (
    straight_signals,
    turned_columns,
    with_turned_commands,
    with_turned_positions,
)
from sysid_ros.dataset.unseen_bases import unseen_bases
from sysid_ros.engine.elements import without_visuals
from sysid_ros.engine.inverse_dynamics import with_coupling, with_payload
from sysid_ros.engine.signals import ModelSequences
from sysid_ros.errors import ExperimentError
from sysid_ros.experiment import (
    LEFT_OUT,
    Experiment,
    SequenceConfig,
    idle_settings,
    locate_bag,
    locate_model,
    message_paths_of,
    packages_of,
)
from sysid_ros.files import untaken
from sysid_ros.processes import return_freed_memory
from sysid_ros.recording.bags import Recording, open_recording
from sysid_ros.recording.mapping import MappedRecording, SignalKind, map_recording
from sysid_ros.robots import (
    LoadedModel,
    build_parameters,
    description_in,
    have_own_parameters,
    load_model,
    with_commanded_servos,
    with_free_base,
    with_namespace,
    with_state_sensors,
)

_POWER = ("kp", "gain")  # without which an actuator at rest gives nothing


@dataclass(frozen=True)
class _Read:
    """One sequence as read: its mapped recording and the model it was recorded on."""

    name: str
    held_out: bool
    model: str
    mapped: MappedRecording
    robot: str | None  # where robots have parameters of their own


def load_dataset(
    experiment: Experiment,
    data_dir: Path | None,
    on_reading: Callable[[float], None] | None = None,
    *,
    reading: str = "",
) -> Dataset:
    """Read all recordings of an experiment and attach them to their models.

    Args:
      experiment: The validated experiment.
      data_dir: Where bags are found first.
      on_reading: Told how much of the recordings has been read, 0 to 1.
      reading: A token that experiments of the same signals share; this process reads their
        recordings once.

    Raises:
      SysidError: A bag or model is missing, damaged, or does not fit the signals.
    """
    configs = _sequence_configs(experiment)
    models = _load_models(experiment, [config for _, config, _ in configs], data_dir)
    first = models[_model_name(experiment, configs[0][1])]
    # A wrong name is told now, and not after minutes of reading.
    build_parameters(experiment, first.with_sensors)
    reads = _read_all(experiment, configs, data_dir, on_reading, reading, models)
    training = _sequences(models, [read for read in reads if not read.held_out])
    validation = _sequences(models, [read for read in reads if read.held_out])
    check_windows(experiment, (*training, *validation))
    left_out: list[str] = []
    if experiment.windows.contacts == LEFT_OUT:
        training, said = without_contacts(training)
        validation, also = without_contacts(validation)
        left_out = [*said, *(f"Held out: {sentence}" for sentence in also)]
    if experiment.validation.fraction is not None:
        training, validation = split_by_time(training, experiment.validation.fraction)
    hashes = {name: model.given.text.digest for name, model in models.items()}
    hashes.update({read.name: read.mapped.input_hash for read in reads})
    undriven = _undriven(experiment, models)
    return Dataset(
        source=first.given,
        training=training,
        validation=validation,
        noise=declared_noise(experiment),
        quality=tuple(row for read in reads for row in read.mapped.quality),
        warnings=(
            *(warning for model in models.values() for warning in model.given.warnings),
            *(
                f"No signal drives actuator {name!r}; its control is taken as zero throughout."
                for name in undriven
            ),
            *_unseen(experiment, models),
            *(warning for read in reads for warning in read.mapped.warnings),
            *left_out,
            *idle_settings(experiment),
        ),
        hashes=hashes,
        undriven=undriven,
        recorded={read.name: read.mapped.start_ns for read in reads if not read.held_out},
        motions={name: config.motion for name, config, held_out in configs if not held_out},
        turned=turned_columns(read.mapped for read in reads),
    )


def _read_all(
    experiment: Experiment,
    configs: Sequence[tuple[str, SequenceConfig, bool]],
    data_dir: Path | None,
    on_reading: Callable[[float], None] | None,
    reading: str,
    models: Mapping[str, ExperimentModel],
) -> list[_Read]:
    """Read the recordings, those that another experiment of this token has read from memory."""
    apart = have_own_parameters(experiment)
    kept = kept_recordings(reading) if reading else KeptRecordings()
    reads = []
    for number, (name, config, held_out) in enumerate(configs):
        told = _part_of(on_reading, number, len(configs))
        spec = models[_model_name(experiment, config)].with_sensors
        mapped = kept.mapped(
            key_of(experiment, name, config, data_dir, spec),
            partial(_map, experiment, config, name, data_dir, told, spec),
        )
        robot = config.robot if apart else None
        reads.append(_Read(name, held_out, _model_name(experiment, config), mapped, robot))
    check_steady_signals(
        *([one.mapped for one in reads if one.held_out == part] for part in (False, True))
    )
    return reads


@dataclass(frozen=True)
class ExperimentModel:
    """One model of the experiment."""

    given: LoadedModel  # as it was given, with the experiment's payload and couplings
    with_sensors: mujoco.MjSpec  # the same with a sensor for every measured signal


def _sequence_configs(experiment: Experiment) -> list[tuple[str, SequenceConfig, bool]]:
    """(unique name, sequence, held out) for every recording used, training first."""
    condition = experiment.validation.condition
    pairs = [
        (config, condition is not None and config.meets(condition))
        for config in experiment.sequences
    ]
    pairs += [(config, True) for config in experiment.validation.bags]
    pairs.sort(key=lambda pair: (pair[1], not pair[0].loaded))  # parameters are of the first
    if all(held_out for _, held_out in pairs):
        raise ExperimentError("validation holds out every sequence; none is left to fit")
    taken: set[str] = set()
    own = {config.name for config, _ in pairs}
    named = []
    for config, held_out in pairs:
        name = untaken(config.name, own - {config.name} | taken)
        taken.add(name)
        named.append((name, config, held_out))
    return named


def _model_name(experiment: Experiment, config: SequenceConfig) -> str:
    """The model's path, or its topic and bag where it comes from a recording."""
    name = config.model or experiment.model or f"{experiment.model_topic} in {config.bag}"
    return name if config.loaded else f"{name} without payload"


def _load_models(
    experiment: Experiment, configs: Sequence[SequenceConfig], data_dir: Path | None
) -> dict[str, ExperimentModel]:
    models: dict[str, ExperimentModel] = {}
    for config in configs:
        name = _model_name(experiment, config)
        if name not in models:
            models[name] = model_of(experiment, config, data_dir)
    return_freed_memory()  # of meshes that were compiled as a check
    return models


def model_with_payload(experiment: Experiment, data_dir: Path | None) -> ExperimentModel:
    """The model of the first recording, with the payload even if that one was made without.

    Raises:
      SysidError: As of :func:`model_of`.
    """
    return model_of(experiment, replace(experiment.sequences[0], loaded=True), data_dir)


def model_of(
    experiment: Experiment, config: SequenceConfig, data_dir: Path | None
) -> ExperimentModel:
    """The model that one recording was made on.

    Raises:
      SysidError: The model is missing or does not load.
    """
    packages = packages_of(experiment, data_dir)
    path = config.model or experiment.model
    if path is not None:
        file = locate_model(
            path, experiment_file=experiment.path, data_dir=data_dir, packages=packages
        )
        loaded = load_model(file, packages)
    else:
        bag = locate_bag(config.bag, experiment_file=experiment.path, data_dir=data_dir)
        topic = experiment.model_topic or ""
        loaded = description_in(bag, topic, packages, message_paths_of(experiment))
    loaded = with_free_base(loaded, experiment.signals)
    loaded = with_commanded_servos(loaded, experiment.signals)
    spec = loaded.spec
    if experiment.payload is not None:
        mass = experiment.payload.mass if config.loaded else 0.0
        spec = with_payload(spec, experiment.payload.body, mass=mass)
    for coupling in experiment.couplings:
        spec = with_coupling(spec, coupling.joint, coupling.other, coupling.ratio)
    simulated = spec if refers_to_geoms(experiment) else without_visuals(spec)
    with_sensors = with_state_sensors(simulated, experiment.signals)
    return ExperimentModel(replace(loaded, spec=spec), with_sensors)


def refers_to_geoms(experiment: Experiment) -> bool:
    """Return whether parameters or a hook may need geoms that motion does not."""
    return experiment.modifiers is not None or any(
        config.element in ("geom", "pair") for config in experiment.parameters
    )


def _map(
    experiment: Experiment,
    config: SequenceConfig,
    name: str,
    data_dir: Path | None,
    on_reading: Callable[[float], None] | None,
    spec: mujoco.MjSpec,
) -> MappedRecording:
    path = locate_bag(config.bag, experiment_file=experiment.path, data_dir=data_dir)
    with open_recording(
        path, msg_paths=message_paths_of(experiment), on_progress=on_reading
    ) as recording:
        return mapped_sequence(
            experiment, recording, config.robot, name, spec, start=config.start, end=config.end
        )


def mapped_recordings(
    experiment: Experiment, names: Collection[str], data_dir: Path | None, spec: mujoco.MjSpec
) -> dict[str, MappedRecording]:
    """Some recordings' signals at their own instants by the recording's name, read if not known.

    Args:
      experiment: Says what in the recordings is what; its other settings do not count.
      names: Of the recordings, as :func:`load_dataset` calls them.
      data_dir: Where bags are found first.
      spec: The model with its sensors.

    Raises:
      SysidError: A recording is damaged or does not fit the signals.
    """
    known = kept_recordings(reading_of(experiment)).mapped
    read = partial(_map, experiment, data_dir=data_dir, on_reading=None, spec=spec)
    return {
        name: known(key_of(experiment, name, config, data_dir, spec), partial(read, config, name))
        for name, config, _ in _sequence_configs(experiment)
        if name in names
    }


def mapped_sequence(
    experiment: Experiment,
    recording: Recording,
    robot: str | None,
    name: str,
    spec: mujoco.MjSpec | None = None,
    *,
    start: float | None = None,
    end: float | None = None,
) -> MappedRecording:
    """Read the signals of an experiment from an open bag.

    Args:
      experiment: Says what in the recording is what.
      recording: The open bag.
      robot: Whose topics count, where they stand under its name.
      name: The sequence's name, for tables and messages.
      spec: The model with its sensors, which knows what is an angle.
      start: Samples before this instant [s] are left out.
      end: Samples at or after this instant [s] are left out.

    Raises:
      SysidError: As from :func:`~sysid_ros.recording.mapping.map_recording`.
    """
    own = with_namespace(experiment, robot, recording.topics)
    straight = frozenset() if spec is None else straight_signals(spec, own.signals)
    mapped = map_recording(recording, own, name=name, start=start, end=end, straight=straight)
    if spec is None:
        return mapped
    return with_turned_commands(with_turned_positions(mapped, spec), spec)


def _part_of(
    whole: Callable[[float], None] | None, number: int, parts: int
) -> Callable[[float], None] | None:
    """Return the progress listener of one of several equal parts."""
    return None if whole is None else lambda share: whole((number + share) / parts)


def _sequences(
    models: Mapping[str, ExperimentModel], reads: Sequence[_Read]
) -> tuple[ModelSequences, ...]:
    """One :class:`ModelSequences` per model, and per robot where that matters."""
    groups = []
    for name, robot in dict.fromkeys((read.model, read.robot) for read in reads):
        members = {r.name: r.mapped for r in reads if (r.model, r.robot) == (name, robot)}
        spec = models[name].with_sensors
        groups.append(model_sequences(Path(name).stem, spec, members, robot))
    return tuple(groups)


def _unseen(experiment: Experiment, models: Mapping[str, ExperimentModel]) -> list[str]:
    """Sentences about free bodies whose pose nothing measures, where they are simulated."""
    if not experiment.fit.simulates:
        return []
    compared = {s.name for s in experiment.signals if s.kind is SignalKind.SENSOR}
    said = [
        sentence
        for model in models.values()
        for sentence in unseen_bases(
            model.with_sensors, {s.name for s in model.given.spec.sensors} - compared
        )
    ]
    return list(dict.fromkeys(said))


def _undriven(experiment: Experiment, models: Mapping[str, ExperimentModel]) -> tuple[str, ...]:
    """The actuators that no signal drives; a fit to measured torque drives none.

    One whose gain is frozen at zero, as while there is no power, needs no signal.
    """
    if not experiment.fit.simulates:
        return ()
    driven = {s.name for s in experiment.signals if s.kind is SignalKind.ACTUATOR}
    powerless = [
        p.pattern
        for p in experiment.parameters
        if p.element == "actuator" and p.attribute in _POWER and p.frozen and p.initial == 0.0
    ]
    idle = {
        actuator.name
        for model in models.values()
        for actuator in model.given.spec.actuators
        if actuator.name not in driven
        and not any(fnmatchcase(actuator.name, pattern) for pattern in powerless)
    }
    return tuple(sorted(idle))
