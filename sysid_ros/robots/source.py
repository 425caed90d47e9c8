# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The experiment's model as an MjSpec that has a sensor for every measured signal."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

import mujoco

from sysid_ros.engine.elements import add_unit_motor, discard_visuals
from sysid_ros.engine.signals import control_names, with_wrenches
from sysid_ros.engine.simulation import collected_warnings
from sysid_ros.errors import ModelError, listed, unknown_name
from sysid_ros.experiment import Packages, SignalConfig
from sysid_ros.files import untaken
from sysid_ros.recording.bags import open_recording, read_text
from sysid_ros.recording.mapping import SignalKind
from sysid_ros.robots.declared_sensors import add_declared_sensor
from sysid_ros.robots.missing_meshes import without_missing_meshes
from sysid_ros.robots.model_text import ModelText
from sysid_ros.robots.refused_models import check_sizes
from sysid_ros.robots.state_sensors import add_state_sensors, state_joints
from sysid_ros.robots.urdf import prepare_urdf
from sysid_ros.robots.urdf_contacts import without_drawn_overlaps

_SHORTEST_STEP, _LONGEST_STEP = 1e-6, 1.0  # s
_SHOWN = 3  # names in a warning
_FLAT_MESH = re.compile(r"mesh volume is too small: (.+?) \.")  # of MuJoCo

_Compiled: TypeAlias = tuple[mujoco.MjSpec, mujoco.MjModel]  # of one text


@dataclass(frozen=True)
class LoadedModel:
    """A model as given."""

    text: ModelText  # as its author wrote it
    spec: mujoco.MjSpec  # the model; it compiles
    warnings: tuple[str, ...] = ()  # what of it had to be left out, one sentence each


def load_model(path: Path, packages: Packages | None = None) -> LoadedModel:
    """Load an MJCF or URDF file and make sure that it compiles.

    Args:
      path: The file.
      packages: Where ``package://`` in a URDF is looked for, besides beside the file.

    Raises:
      ModelError: The file does not load or compile; the message has MuJoCo's reason.
    """
    text = ModelText.from_file(path)
    check_sizes(text.text, f"file {path}", [path.absolute().parent])
    if text.is_urdf:
        return _load_text(text, f"file {path}", packages or Packages.of())
    warnings: tuple[str, ...] = ()
    with collected_warnings() as said:
        try:
            # As it was written: copies lose elements that refer to what is not there.
            original, spec = (mujoco.MjSpec.from_file(str(path)) for _ in range(2))
            for one in (original, spec):
                warnings = (*without_missing_meshes(one, f"file {path}"), *_name_actuators(one))
            discard_visuals(original)  # reading what is drawn takes longest
            _check_timestep(original.compile(), f"file {path}")
        except (ValueError, OSError) as error:
            raise ModelError(f"model {path} does not compile: {_one_line(error)}") from error
    return LoadedModel(text, spec, (*warnings, *_of_mujoco(said)))


def model_from_description(text: str, source: str, packages: Packages | None = None) -> LoadedModel:
    """Compile a robot description, MJCF or URDF, that came as text.

    Raises:
      ModelError: It does not compile.
    """
    return _load_text(ModelText.from_topic(source, text), source, packages or Packages.of())


def _load_text(text: ModelText, source: str, packages: Packages) -> LoadedModel:
    xml = text.text.decode(errors="replace")
    own = [] if text.folder is None else [text.folder]
    check_sizes(text.text, source, [*own, *packages.neighbours, *packages.given.values()])
    folders = (*packages.neighbours, *packages.given.values())
    warnings: tuple[str, ...] = ()
    if text.is_urdf:
        xml, warnings = prepare_urdf(xml, source, text.folder, packages)
    with collected_warnings() as said:
        try:
            if text.is_urdf:
                spec, model = _checked_urdf(xml)
                warnings += without_drawn_overlaps(spec, model, source)
            else:
                spec, _ = _compiling(xml, folders)
                warnings += _name_actuators(spec)
        except ValueError as error:
            raise ModelError(
                f"the model from {source} does not compile: {_one_line(error)}"
            ) from error
    return LoadedModel(text, spec, (*warnings, *_of_mujoco(said)))


def _of_mujoco(said: Iterable[str]) -> tuple[str, ...]:
    """MuJoCo's own warnings, each once, as it says them again for every copy."""
    return tuple(f"MuJoCo: {' '.join(one.split())}." for one in dict.fromkeys(said))


def _compiling(xml: str, folders: Iterable[Path]) -> _Compiled:
    """The spec of a text whose files are in one of some folders, if it names any; compiled too."""
    try:
        return _checked(xml)
    except ValueError:
        for folder in folders:
            with suppress(ValueError):
                return _checked(xml, folder)
        raise


def _checked(xml: str, folder: Path | None = None, flat: Iterable[str] = ()) -> _Compiled:
    """The spec of a text that compiles as it was written: copies lose what refers to nothing."""
    original, spec = (mujoco.MjSpec.from_string(xml) for _ in range(2))
    for one in (original, spec):
        if folder is not None:
            one.modelfiledir = str(folder)
        for name in flat:
            one.mesh(name).inertia = mujoco.mjtMeshInertia.mjMESH_INERTIA_SHELL
    model = original.compile()
    _check_timestep(model, "the description")
    return spec, model


def _checked_urdf(xml: str) -> _Compiled:
    """The spec of a URDF, whose meshes may enclose no volume: they collide all the same."""
    flat: list[str] = []
    while True:
        try:
            return _checked(xml, flat=flat)
        except ValueError as error:
            mesh = _FLAT_MESH.search(str(error))
            if mesh is None or mesh[1] in flat:
                raise
            flat.append(mesh[1])


def _check_timestep(model: mujoco.MjModel, source: str) -> None:
    """Refuse time steps with which no recording can be simulated.

    Raises:
      ModelError: It is zero, not a number, or takes millions of steps a second.
    """
    step = float(model.opt.timestep)
    if not _SHORTEST_STEP <= step <= _LONGEST_STEP:
        raise ModelError(
            f"the timestep of the model from {source} is {step:g} s; it must lie between "
            f"{_SHORTEST_STEP:g} and {_LONGEST_STEP:g} s"
        )


def description_in(
    bag: Path, topic: str, packages: Packages, msg_paths: Sequence[Path]
) -> LoadedModel:
    """Compile the robot description that a bag carries on a topic, its last one.

    Raises:
      BagError: The bag is damaged or has no such text.
      ModelError: It does not compile.
    """
    with open_recording(bag, msg_paths=msg_paths) as recording:
        text = read_text(recording, topic)
    return model_from_description(text, f"{topic} in {bag.name}", packages)


def with_free_base(model: LoadedModel, signals: Sequence[SignalConfig]) -> LoadedModel:
    """Let the root link of a URDF float where its pose or twist is measured.

    URDF has no way to say so that MuJoCo reads; other models are returned as they are.
    """
    measured = {s.name for s in signals if s.kind in (SignalKind.QPOS, SignalKind.QVEL)}
    roots = [body for body in model.spec.worldbody.bodies if not body.joints]
    floating = [body.name for body in roots if body.name in measured]
    if not floating or not model.text.is_urdf:
        return model
    spec = model.spec.copy()
    for name in floating:
        spec.body(name).add_freejoint(name=name)
    said = tuple(f"Link {name!r} floats, since its pose or twist is mapped." for name in floating)
    return replace(model, spec=spec, warnings=(*model.warnings, *said))


def _one_line(error: Exception) -> str:
    reason = " ".join(str(error).split())
    other = "XML Error: Unrecognized XML model type:"
    return reason.replace(other, "it is neither MJCF (<mujoco>) nor URDF (<robot>) but")


def with_state_sensors(spec: mujoco.MjSpec, signals: Sequence[SignalConfig]) -> mujoco.MjSpec:
    """A copy of the spec with a sensor for every measured ``qpos`` and ``qvel``.

    Measured wrenches, and efforts on joints without an actuator, get the inputs that apply them.

    Raises:
      ModelError: A signal names a joint, sensor, actuator or site that the model lacks.
    """
    sites = dict.fromkeys(signal.wrench for signal in signals if signal.wrench is not None)
    try:
        spec = with_wrenches(_with_sites_at_links(spec, sites), sites)
    except ModelError as error:
        raise ModelError(f"signals: {error}") from error
    for signal in signals:
        if signal.effort is not None:
            _add_motor(spec, signal)
        if signal.type is not None:
            add_declared_sensor(spec, signal)
    _check_names(spec, signals)
    for signal in signals:
        if signal.kind in (SignalKind.QPOS, SignalKind.QVEL):
            add_state_sensors(spec, signal)
    return spec


def _name_actuators(spec: mujoco.MjSpec) -> tuple[str, ...]:
    """Call every actuator without a name as what it acts on, as signals need names.

    A second one there has a number.

    Returns:
      What was named, in a sentence; nothing where all have names.
    """
    taken = {actuator.name for actuator in spec.actuators}
    named = []
    for actuator in spec.actuators:
        if not actuator.name:
            actuator.name = untaken(actuator.target, taken)
            taken.add(actuator.name)
            named.append(actuator.name)
    if not named:
        return ()
    some = "1 actuator has" if len(named) == 1 else f"{len(named)} actuators have"
    return (
        f"{some} no name in the model and the name of what they act on here: "
        f"{listed(named, _SHOWN)}.",
    )


def _with_sites_at_links(spec: mujoco.MjSpec, names: Iterable[str]) -> mujoco.MjSpec:
    """A copy with a site in the frame of each named body that has none of its name."""
    spec = spec.copy()
    sites, bodies = ({one.name for one in parts} for parts in (spec.sites, spec.bodies))
    for name in names:
        if name not in sites and name in bodies:
            spec.body(name).add_site(name=name)
    return spec


def _add_motor(spec: mujoco.MjSpec, signal: SignalConfig) -> None:
    """A motor of gain one on the joint that a signal is the effort of."""
    joints = [joint.name for joint in spec.joints]
    if signal.effort not in joints:
        raise ModelError(f"{signal.place}: {unknown_name('joint', signal.effort or '', joints)}")
    if signal.name in [actuator.name for actuator in spec.actuators]:
        raise ModelError(
            f"{signal.place}: the model has an actuator {signal.name!r}; map that instead"
        )
    joint = mujoco.mjtTrn.mjTRN_JOINT
    add_unit_motor(spec, signal.name, joint, str(signal.effort), [1.0, *[0.0] * 5])


def _check_names(spec: mujoco.MjSpec, signals: Sequence[SignalConfig]) -> None:
    valid = {
        SignalKind.ACTUATOR: ("actuator", [a.name for a in spec.actuators]),
        SignalKind.SENSOR: ("sensor", [s.name for s in spec.sensors]),
        SignalKind.QPOS: ("joint", list(state_joints(spec))),
        SignalKind.QVEL: ("joint", list(state_joints(spec))),
    }
    hints = {
        "actuator": "; servo, velocity_servo or effort with a joint's name add one",
        "sensor": "; type and at add one",
    }
    for signal in signals:
        what, names = valid[signal.kind]
        if what == "actuator" and "." in signal.name:  # perhaps a further input of one
            names = [*control_names(spec.copy().compile())]
        if signal.name not in names:
            unknown = unknown_name(what, signal.name, names)
            raise ModelError(f"{signal.place}: {unknown}{hints.get(what, '')}")
