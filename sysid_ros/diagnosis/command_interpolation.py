# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Commands between their messages, topic by topic, and their instants, as the motion tells them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

import mujoco
import numpy as np

from sysid_ros.dataset import Dataset, mapped_recordings, refers_to_geoms
from sysid_ros.diagnosis.evidence import Declared, ExperimentLines, Finding, FindingKind, joined
from sysid_ros.diagnosis.fits import (
    DearError,
    InterpolationScores,
    RecordedFit,
    delay_of,
    resistances,
)
from sysid_ros.diagnosis.simulated import contacts, without_geoms
from sysid_ros.engine.elements import is_effort, is_servo, is_velocity_servo
from sysid_ros.engine.parameters import ParameterDict, corrects
from sysid_ros.engine.signals import ModelSequences, control_column
from sysid_ros.engine.simulation import RolloutPool, single_blas_thread
from sysid_ros.errors import SysidError
from sysid_ros.experiment import Experiment
from sysid_ros.recording.mapping import (
    Interpolation,
    MappedRecording,
    MappedSignal,
    SignalKind,
    TopicQuality,
    at_even_rate,
    control_time_series,
)
from sysid_ros.recording.messages import Clock, is_played
from sysid_ros.robots import build_parameters

_HELD = "zoh"
_NAMES = {Interpolation.HOLD: _HELD, Interpolation.LINEAR: "linear", Interpolation.CUBIC: "cubic"}
_METHODS = {name: method for method, name in _NAMES.items()}
_JOINED = {
    _HELD: "held until the next", "linear": "joined by lines", "cubic": "joined by a cubic spline",
}  # fmt: skip
_OFTEN = 0.0075  # s, between commands, below which a doubt is not worth a sentence of its own
_SLOW = 2.0  # time steps between commands, beyond which it may matter what they do there
_EARLY = 1.0  # time steps by which commands may act before their stamps, as of plain simulations
_SCATTER = 1e-4  # s, of receipt about an even rate, less of which does not show
_RECORDINGS = 3  # of which windows are fitted
_TOPICS = 3  # that are tested


@dataclass(frozen=True)
class CommandSampling:
    """The interpolation of commands of one topic between its messages, as the motion tells it."""

    topic: str  # its name
    labels: tuple[str, ...]  # the commands that it carries
    interval: float  # s from one message to the next
    present: Interpolation  # the method that the experiment has
    # what each leaves of the motion, by its name in time series; none if not fitted
    methods: InterpolationScores | None = None
    # what dates by receipt and by an even rate leave, by the clock; none where messages do not
    # scatter, or another method than the experiment's is better
    dates: InterpolationScores | None = None

    @property
    def left_by_scatter(self) -> float:
        """Ratio of what dates by receipt leave to those by an even rate; one if these are worse."""
        received, even = Clock.RECEIVE.value, Clock.EVEN.value
        if self.dates is None or not self.dates.beats(even, received):
            return 1.0
        return self.dates.size(received)

    @property
    def sent_evenly(self) -> bool:
        """Return whether commands act at an even rate, and scatter only when they are received."""
        return self.left_by_scatter > 1.0

    @property
    def best(self) -> Interpolation:
        """The method that explains the motion best: the experiment's unless it is beaten."""
        if self.methods is None:
            return self.present
        best = self.methods.best
        return _METHODS[best] if self.methods.beats(best, _NAMES[self.present]) else self.present

    @property
    def figures(self) -> str:
        """The method, and what others leave beside it, in words; empty where none was fitted."""
        if self.methods is None:
            return ""
        others = [name for name in self.methods.left if _METHODS[name] is not self.best]
        least = self.methods.size(_NAMES[self.best])
        told = [f"{_JOINED[name]} {self.methods.size(name) / least:.3g}" for name in others]
        said = f"{_JOINED[_NAMES[self.best]]}; {', '.join(told)} times as much would be left"
        if not self.sent_evenly:
            return said
        return f"{said}; sent at an even rate; dated as received {self.left_by_scatter:.3g} times"

    @property
    def doubt(self) -> str:
        """A sentence on what the motion leaves open; empty where that changes little."""
        if self.interval < _OFTEN:
            return ""
        best = _NAMES[self.best]
        holds = self.best is Interpolation.HOLD
        why = "was not tested: fits of this model take too long"
        if self.methods is not None:
            rivals = [name for name in self.methods.left if (name == _HELD) is not holds]
            if all(self.methods.beats(best, name) for name in rivals):
                return ""
            sizes = {name: self.methods.size(name) for name in self.methods.left}
            told = ", ".join(f"{_JOINED[name]} {size:.3g}" for name, size in sizes.items())
            why = f"the motion does not tell (what is left of it: {told})"
        late = f"{500.0 * self.interval:.2g} ms {'longer' if holds else 'shorter'}"
        return (
            f"whether a command of {self.topic} is held until the next, or a sample of commands "
            f"that are sent more often, {why}; the delay may be {late} than is found"
        )

    def finding(self, lines: ExperimentLines) -> Finding | None:
        """The finding that another method or other dates than the experiment's explain more."""
        if self.sent_evenly:
            return self._of_scatter(lines)
        if self.methods is None or self.best is self.present:
            return None
        change = {"interpolation": self.best}
        repair = joined([lines.signal(label, change) for label in self.labels])
        now, best = _NAMES[self.present], _NAMES[self.best]
        sizes = {
            f"left {_METHODS[name].value}": self.methods.size(name) for name in self.methods.left
        }
        count = len(self.methods.left[now])
        return Finding(
            FindingKind.INTERPOLATION,
            self.labels,
            {"interval": self.interval, **sizes, "windows": float(count)},
            f"The motion tells that commands of {self.topic}, {1e3 * self.interval:.3g} ms apart, "
            f"are {_JOINED[best]}, not {_JOINED[now]}. Of {count} windows that are fitted with "
            f"each, {self.methods.size(now):.3g} times as much is left as the experiment has it "
            "(root mean square).",
            *repair,
        )

    def _of_scatter(self, lines: ExperimentLines) -> Finding:
        repair = joined([lines.signal(label, {"clock": Clock.EVEN}) for label in self.labels])
        return Finding(
            FindingKind.SCATTER,
            self.labels,
            {"interval": self.interval, "left receive": self.left_by_scatter},
            f"The motion tells that commands of {self.topic} act at an even rate, and scatter only "
            f"when they are received, by which they are dated: {self.left_by_scatter:.3g} times as "
            "much is left (root mean square). A fit takes that for damping.",
            *repair,
        )


def command_samplings(
    experiment: Experiment,
    dataset: Dataset,
    data_dir: Path | None,
    on_fit: Callable[[dict[str, float]], None] = lambda _: None,
) -> tuple[CommandSampling, ...]:
    """The interpolation between messages, topic by topic, of commands that the motion may tell.

    Commands that are measured, or sent too often for it to matter, have none; nor have any where
    derivatives are no exact ones, since fits are too dear then.

    Args:
      experiment: With parameters; delays, friction, damping and armature are found besides.
      dataset: Its recordings, of a few of which windows are fitted.
      data_dir: Where bags are found first.
      on_fit: Told where a fit with the commands as they are went, by parameter.
    """
    group = max(dataset.training, key=len)
    places = np.unique(np.linspace(0, len(group) - 1, min(len(group), _RECORDINGS)).round())
    few = group.select(places.astype(int).tolist())
    intervals = {row.topic: 1.0 / row.rate for row in dataset.quality if row.rate}
    topics = [
        CommandSampling(topic, labels, intervals[topic], present)
        for (topic, present), labels in _commands_by_topic(experiment, few).items()
        if intervals.get(topic, 0.0) > _SLOW * few.gt_model.opt.timestep
    ][:_TOPICS]
    if not topics:
        return ()
    if _stays_apart(few) and not refers_to_geoms(experiment):
        few = without_geoms(few)
    found: list[CommandSampling] = []
    with suppress(SysidError):  # the model cannot follow the recordings
        for one in _compared(experiment, few, data_dir, topics, on_fit):
            found.append(one)
    return tuple(found)


def _compared(
    experiment: Experiment, sequences: ModelSequences, data_dir: Path | None,
    topics: Sequence[CommandSampling], on_fit: Callable[[dict[str, float]], None],
) -> Iterator[CommandSampling]:  # fmt: skip
    """The topics with their methods, from one fit as recorded; without where that is too dear."""
    recordings = mapped_recordings(experiment, sequences.sequence_name, data_dir, sequences.spec)
    whole = _joined(sequences, recordings, {})
    params = _params(experiment, whole, topics)
    # What methods differ by grows with the square of the interval; errors of the model do not.
    worth = min((max(one.interval for one in topics) / _OFTEN) ** 4, 1.0)
    with RolloutPool(1) as pool, single_blas_thread():
        try:
            fit = RecordedFit.of(whole, params, pool, worth)
        except DearError:
            yield from topics
            return
        if fit is None:
            return
        for one in topics:
            others = _others(whole, one)
            joined = {
                _NAMES[method]: _joined(whole, recordings, dict.fromkeys(one.labels, method))
                for method in others
            }
            later = dict.fromkeys((_NAMES[one.present], *joined), 0.5 * one.interval)
            later |= {_HELD: 0.0}
            methods = fit.compared(joined, later, one.labels)
            if methods is None:
                continue
            told = replace(one, methods=methods)
            with suppress(SysidError):  # what methods leave is known all the same
                told = replace(told, dates=_dates(fit, whole, recordings, told))
            yield told
        on_fit(fit.values)


def _dates(
    fit: RecordedFit, whole: ModelSequences, recordings: Mapping[str, MappedRecording],
    topic: CommandSampling,
) -> InterpolationScores | None:  # fmt: skip
    """The commands of a topic as received and at an even rate, where they scatter."""
    rows = [row for one in recordings.values() for row in one.quality if row.topic == topic.topic]
    if topic.best is not topic.present or not (rows and all(map(_is_receipt, rows))):
        return None
    evenly, scattered = {}, False
    for name, mapped in recordings.items():
        controls = [_evened(c) if c.name in topic.labels else c for c in mapped.controls]
        scattered |= any(map(_scatter, mapped.controls, controls))
        evenly[name] = replace(mapped, controls=tuple(controls))
    if not scattered:
        return None
    received, even = Clock.RECEIVE.value, Clock.EVEN.value
    told = {even: _joined(whole, evenly, {})}
    return fit.compared(told, {received: 0.0, even: 0.0}, topic.labels)


def _is_receipt(row: TopicQuality) -> bool:
    """Return whether a topic's messages are dated by their receipt, under whatever name."""
    same = row.clock == Clock.PUBLISH.value and row.clock_offset == 0.0 == row.clock_drift
    return same or row.clock == Clock.RECEIVE.value


def _evened(control: MappedSignal) -> MappedSignal:
    """A command without its scatter about an even rate."""
    return replace(control, times=at_even_rate(np.rint(1e9 * control.times).astype(np.int64)) / 1e9)


def _scatter(received: MappedSignal, even: MappedSignal) -> bool:
    """Return whether commands are received so unevenly that the motion may tell."""
    return float(np.std(received.times - even.times)) > _SCATTER


def _stays_apart(sequences: ModelSequences) -> bool:
    """Return whether geoms that may touch never do as recorded."""
    model = sequences.gt_model
    if not (np.any(model.geom_contype) or np.any(model.geom_conaffinity)):
        return False  # and nothing is saved without them
    seen = contacts([sequences])
    return not (seen.touching or seen.overlaps or seen.drawn)


def _commands_by_topic(
    experiment: Experiment, sequences: ModelSequences
) -> dict[tuple[str, Interpolation], tuple[str, ...]]:
    """Labels of commands that are not measured, by topic and present method; of those that vary."""
    model, control = sequences.gt_model, sequences.control[0]
    found: dict[tuple[str, Interpolation], tuple[str, ...]] = {}
    for signal in experiment.signals:
        mapped = (control.signal_mapping or {}).get(signal.name)
        actuator = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_ACTUATOR, signal.name)
        if signal.kind is not SignalKind.ACTUATOR or mapped is None or signal.wrench:
            continue
        if actuator < 0:  # a further input of an actuator
            continue
        method = _METHODS[control.method_of(mapped[1][0])]
        told = is_servo(model, actuator) or is_velocity_servo(model, actuator)
        if is_played(signal.field) or (method is Interpolation.LINEAR and not told):
            continue
        key = signal.topic, method
        found[key] = (*found.get(key, ()), signal.name)
    return {key: own for key, own in found.items() if any(_varies(sequences, one) for one in own)}


def _varies(sequences: ModelSequences, name: str) -> bool:
    """Return whether an input ever changes, without which no way between its values shows."""
    columns = [(one, control_column(one, name)) for one in sequences.control]
    return any(np.ptp(one.data[:, column]) != 0.0 for one, column in columns if column is not None)


def _others(sequences: ModelSequences, topic: CommandSampling) -> list[Interpolation]:
    """The methods that commands may have instead; torques are held or curves, but no lines."""
    model = sequences.gt_model
    torques = topic.present is not Interpolation.LINEAR
    torques &= all(is_effort(model, model.actuator(name).id) for name in topic.labels)
    others = [method for method in Interpolation if method is not topic.present]
    return [method for method in others if not torques or method is not Interpolation.LINEAR]


def _params(
    experiment: Experiment, sequences: ModelSequences, topics: Sequence[CommandSampling]
) -> ParameterDict:
    """The experiment's parameters, with resistances of joints and a delay of each topic besides."""
    params = build_parameters(experiment, sequences.spec)
    concern = Declared(params).concern
    params = params.copy()
    for one in resistances(sequences, lambda name, row: concern("joint", name, row, "friction")):
        params.add(one)
    for topic in topics:
        late = tuple(one for one in topic.labels if not concern("signal", one, "delay"))
        if late:
            params.add(delay_of(f"{topic.topic}, {topic.present.value}", late, 0.0))
    early = -_EARLY * sequences.gt_model.opt.timestep
    labels = {label for topic in topics for label in topic.labels}
    for one in params.values():
        if not labels.isdisjoint(corrects(one, "delay")):
            one.min_value = np.minimum(one.min_value, early)
    return params


def _joined(
    sequences: ModelSequences,
    recordings: Mapping[str, MappedRecording],
    methods: Mapping[str, Interpolation],
) -> ModelSequences:
    """The sequences with commands of the whole recordings, some of them joined in other methods."""
    control = []
    for name in sequences.sequence_name:
        mapped = recordings[name]
        controls = tuple(
            replace(
                one,
                held=methods[one.name] is Interpolation.HOLD,
                smooth=methods[one.name] is Interpolation.CUBIC,
            )
            if one.name in methods
            else one
            for one in mapped.controls
        )
        control.append(control_time_series(replace(mapped, controls=controls)))
    return sequences.replaced(control=control)
