# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Mistakes in the sampling of signals, with the lines that repair them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from sysid_ros.diagnosis.evidence import (
    PLAYED,
    Declared,
    ExperimentLines,
    Finding,
    FindingKind,
    Rate,
    Recorded,
    Repair,
    by_topic,
    coarse_step,
    is_slow,
    is_uneven,
    joined,
    motion_range,
    sampling_of,
    setting,
    signal_kinds,
    stuck_limit,
)
from sysid_ros.engine.signals import place_unit
from sysid_ros.errors import as_sentence, listed
from sysid_ros.recording.mapping import TopicQuality, doubts_of
from sysid_ros.recording.messages import Clock


def sampling_findings(
    recorded: Recorded, lines: ExperimentLines, declared: Declared
) -> list[Finding]:
    """Rates, levels, limits and too little motion.

    Args:
      recorded: What was recorded, wrong values repaired.
      lines: The experiment's entries.
      declared: The experiment's parameters.
    """
    kinds = signal_kinds(recorded)
    measured = {label: kind for label, kind in kinds.items() if kind != PLAYED}
    found = _rates(recorded, lines, measured)
    coarse: dict[tuple[str, str], dict[str, float]] = {}
    for label, kind in kinds.items():
        stuck = stuck_limit(recorded, label)
        if stuck is not None and not lines.robust:
            found.append(_saturated(label, stuck.limit, stuck.share, stuck.times))
        step = coarse_step(recorded, label, kind)
        if step is not None and not _noise_says_so(lines, label, step):
            coarse.setdefault((lines.topic(label), f"{step:.3g}"), {})[label] = step
    found += [_coarse(steps, lines) for steps in coarse.values()]
    return found + _still(recorded, lines, declared)


def contradictions(quality: Iterable[TopicQuality]) -> tuple[Finding, ...]:
    """Topics whose messages contradict each other, as those of two nodes do."""
    return tuple(
        Finding(
            FindingKind.CONTRADICTION,
            (),
            {},
            f"{as_sentence(said)}. {_remedy(one)}",
        )
        for one in quality
        for said in doubts_of([one])
    )


def _remedy(topic: TopicQuality) -> str:
    if topic.rounded:
        return f"Date its signals by when they were published: clock: {Clock.PUBLISH.value}."
    if topic.was_set:
        return "Take what was recorded before or after it, by start and end, or record again."
    return "End the other node and record again, or leave the recording out."


def _rates(recorded: Recorded, lines: ExperimentLines, kinds: dict[str, str]) -> list[Finding]:
    found = []
    inputs = {*recorded.efforts.values(), *recorded.commands.values()}
    several = len({lines.topic(label) for label in inputs}) > 1
    for topic, labels in by_topic({label: lines.topic(label) for label in kinds}).items():
        # Inputs of actuators are joined on the instants of the topics of all of them.
        own = [label for label in labels if label not in inputs] if several else labels
        sampled = [(label, rate) for label in own for rate in sampling_of(recorded.pooled(label))]
        slow = _first_of_each((label, rate) for label, rate in sampled if is_slow(rate))
        if slow and any(kinds[label] == "position" for label, _ in slow):
            found.append(_slow(topic, slow))
        uneven = _first_of_each((label, rate) for label, rate in sampled if is_uneven(rate))
        if uneven and lines.max_gap > 5.0 / uneven[0][1].rate:
            found.append(_uneven(topic, uneven))
    return found


def _first_of_each(sampled: Iterable[tuple[str, Rate]]) -> list[tuple[str, Rate]]:
    """Signals with the slowest of the rates that are told of each."""
    found: dict[str, Rate] = {}
    for label, rate in sampled:
        found.setdefault(label, rate)
    return [*found.items()]


def _slow(topic: str, sampled: list[tuple[str, Rate]]) -> Finding:
    rate = sampled[0][1].rate
    top = max(one.bandwidth for _, one in sampled)
    repair = setting("initial_state.velocity_filter", float(f"{0.2 * rate:.3g}"))
    return Finding(
        FindingKind.LOW_RATE,
        tuple(label for label, _ in sampled),
        {"rate": rate, "motion_bandwidth": top},
        f"{topic} was recorded at {rate:.3g} Hz, while the motion reaches {top:.3g} Hz: what "
        f"happens between samples is a guess. Record at {max(100.0, 5.0 * top):.2g} Hz or more; "
        "until then keep the velocity filter below the Nyquist frequency.",
        *repair,
    )


def _uneven(topic: str, sampled: list[tuple[str, Rate]]) -> Finding:
    rate = sampled[0][1]
    labels = tuple(label for label, _ in sampled)
    repair = setting("fit.max_gap", float(f"{3.0 / rate.rate:.3g}"))
    return Finding(
        FindingKind.UNEVEN_RATE,
        labels,
        {"rate": rate.rate, "interval_deviation": rate.deviation},
        f"The stamps of {topic} are uneven: one interval in twenty is more than "
        f"{100.0 * rate.deviation:.3g} % off the usual {1e3 / rate.rate:.3g} ms. Messages were "
        "lost, or stamped by a busy machine. With a smaller max_gap nothing is bridged.",
        *repair,
    )


def _saturated(label: str, limit: float, share: float, times: int) -> Finding:
    repair = setting("fit.loss", "huber")
    return Finding(
        FindingKind.SATURATION,
        (label,),
        {"limit": limit, "share": share, "times": float(times)},
        f"{label!r} is cut off at {limit:.4g}, {times} times and for {100.0 * share:.3g} % of the "
        "samples, in the midst of a motion.",
        *repair,
    )


def _coarse(steps: Mapping[str, float], lines: ExperimentLines) -> Finding:
    """Signals of a topic with steps of one size, as encoders of one make have."""
    step = min(steps.values())
    noise = step / 12.0**0.5
    repair = joined([lines.signal(label, {"noise": float(f"{noise:.3g}")}) for label in steps])
    verb, good = ("takes", "it is") if len(steps) == 1 else ("take", "they are")
    return Finding(
        FindingKind.QUANTISATION,
        tuple(steps),
        {"step": step, "noise": noise},
        f"{listed(map(repr, steps))} {verb} steps of {step:.3g}, which is coarse for this motion; "
        f"{good} at best as good as a sensor with noise of {noise:.3g} (a step over the square "
        "root of 12).",
        *repair,
    )


def _noise_says_so(lines: ExperimentLines, label: str, step: float) -> bool:
    noise = lines.config(label).noise
    return noise is not None and noise > 0.8 * step / 12.0**0.5


def _still(recorded: Recorded, lines: ExperimentLines, declared: Declared) -> list[Finding]:
    found = []
    names = [recorded.joint_name(joint) for joint in range(recorded.model.njnt)]
    for joint, label in recorded.positions.items():
        name = recorded.joint_name(joint)
        reach, least = motion_range(recorded, joint)
        # Torque's offset is free where nobody asked for it.
        named = declared.names("joint", name)
        parameters = [one for one in named if not one.endswith("_torque_offset")]
        if reach >= least or not parameters:
            continue
        repair: Repair = lines.frozen("joint", name, names)
        unit = place_unit(recorded.model, joint)
        found.append(
            Finding(
                FindingKind.LITTLE_MOTION,
                (label,),
                {"range": reach, "least": least},
                f"Joint {name!r} moved by {reach:.2g} {unit} in all recordings, too little for "
                f"{', '.join(parameters)}. Record it moving by more than {least:.2g} {unit}, or "
                "keep its parameters.",
                *repair,
            )
        )
    return found
