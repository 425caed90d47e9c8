# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Final output on a terminal: tables, verdict and warnings."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Mapping, Sequence
from typing import TextIO

from rich.console import Console
from rich.table import Table
from rich.text import Text

from sysid_ros.engine.estimation import BodyFinding
from sysid_ros.engine.uncertainty import ParameterEstimate
from sysid_ros.judgement import Evaluation, JointTorque, Outcome, Score, prediction_errors
from sysid_ros.printable import printable
from sysid_ros.trend import Level, ParameterTrend

# Where output is not a terminal, lines are as long as they need to be.
_WIDTH_WITHOUT_TERMINAL = 200
# Coordinates in which every body can exist, such as link_1_inertia[0]: nobody reads them.
_COORDINATE = re.compile(r".*_inertia(_\w+)?\[\d\]")
_STYLES = {Level.OK: "green", Level.WARN: "yellow", Level.ERROR: "bold red", Level.UNKNOWN: "dim"}


def console_for(stream: TextIO) -> Console:
    """A console that colours and wraps only on a terminal."""
    width = None if stream.isatty() else _WIDTH_WITHOUT_TERMINAL
    return Console(file=stream, width=width, highlight=False, soft_wrap=not stream.isatty())


def plain_text(text: str, style: str = "") -> Text:
    """A text for rich, neither its markup nor its control sequences obeyed."""
    return Text(printable(text), style=style)


def plain_number(value: float) -> str:
    """Return a parameter's value for a table: what is only rounding, as 1e-31 kg m, is 0."""
    return f"{round(value, 15) + 0.0:.4g}"  # + 0.0 makes -0 a 0


def print_outcome(outcome: Outcome) -> None:
    """Print the identified parameters, the scores, the verdict and the warnings."""
    console = console_for(sys.stdout)
    parameters, torque = outcome.fit.parameters, outcome.fit.torque
    if torque is not None and torque.bodies:
        own = [p for p in parameters if not _COORDINATE.fullmatch(p.name)]
        if own:
            console.print(parameter_table(own))
        console.print(body_table(torque.bodies))
        if left_out := len(parameters) - len(own):
            told = f"parameters.yaml has the {left_out} coordinates of these bodies' inertias."
            console.print(told)
    else:
        console.print(parameter_table(parameters))
    scores = [("training", outcome.training), ("held out", outcome.validation)]
    shown = [(title, score) for title, score in scores if score is not None]
    if shown:
        console.print(score_table(shown, outcome.fit.noise, outcome.torques))
    console.print(plain_text(outcome.fit.message))
    console.print(plain_text(outcome.verdict, style="bold"))
    if outcome.forecast is not None:
        console.print(plain_text(outcome.forecast.sentence))
    for warning in outcome.warnings:
        console.print(plain_text(f"warning: {warning}", style="yellow"))


def print_estimates(parameters: tuple[ParameterEstimate, ...], remarks: Sequence[str]) -> None:
    """Print estimated parameters, and sentences about them."""
    console = console_for(sys.stdout)
    console.print(parameter_table(parameters))
    for remark in remarks:
        console.print(plain_text(remark, style="yellow"))


def print_evaluations(evaluations: Mapping[str, Evaluation], *, untrained: str) -> None:
    """Print how well parameters predict, in all and by recording.

    Args:
      evaluations: Of the same recordings, by the name of their parameters.
      untrained: What the recordings are called that are no training.
    """
    console = console_for(sys.stdout)
    for name, found in evaluations.items():
        if len(evaluations) > 1:
            console.print(plain_text(name, style="bold"))
        scores = (("training", found.training), (untrained, found.validation))
        console.print(score_table([(role, score) for role, score in scores if score is not None]))
    table = plain_table("recording", "signal", *evaluations, "unit")
    predictions = [found.sequences for found in evaluations.values()]
    for sequences in zip(*predictions, strict=True):
        for signals in zip(*(sequence.signals for sequence in sequences), strict=True):
            names = plain_text(sequences[0].name), plain_text(signals[0].name)
            errors = (f"{signal.rmse:.4g}" for signal in signals)
            table.add_row(*names, *errors, plain_text(signals[0].unit))
    console.print(table)


def print_trends(trends: Sequence[ParameterTrend]) -> None:
    """Print one row per parameter: its judgement, latest value, drift, and the reason."""
    console = console_for(sys.stdout)
    table = plain_table("parameter", "", "latest", "unit", "drift per day", "")
    for trend in trends:
        low, high = trend.drift.interval() if trend.drift is not None else (0.0, 0.0)
        latest = trend.values[-1:] if trend.course is None else trend.course[-1:]
        table.add_row(
            plain_text(trend.name),
            plain_text(trend.level.value, style=_STYLES[trend.level]),
            "".join(f"{value:.4g}" for value in latest),
            plain_text(trend.unit),
            "-" if trend.drift is None else f"{low:+.2g} .. {high:+.2g}",
            plain_text(trend.sentence),
        )
    console.print(table)


def parameter_table(parameters: Sequence[ParameterEstimate]) -> Table:
    """One row per parameter: start, result, 95 % interval and flags; coordinates are the last."""
    table = plain_table("parameter", "initial", "identified", "95 % interval", "unit", "note")
    for parameter in sorted(parameters, key=lambda p: _COORDINATE.fullmatch(p.name) is not None):
        interval = parameter.interval()
        table.add_row(
            plain_text(parameter.name),
            plain_number(parameter.initial),
            plain_number(parameter.value),
            "-" if interval is None else f"{interval[0]:.4g} .. {interval[1]:.4g}",
            plain_text(parameter.unit),
            plain_text(", ".join(parameter.flags)),
        )
    return table


def body_table(bodies: Sequence[BodyFinding]) -> Table:
    """One row per identified body: mass, centre of mass in its frame, principal moments."""
    table = plain_table("body", "mass [kg]", "centre of mass [m]", "principal moments [kg m^2]")
    for body in bodies:
        centre = ", ".join(f"{round(value, 4) + 0.0:.4f}" for value in body.centre)
        moments = ", ".join(plain_number(value) for value in body.moments)
        table.add_row(plain_text(body.body), plain_number(body.mass), centre, moments)
    return table


def score_table(
    scores: list[tuple[str, Score]],
    noise: Mapping[str, float] | None = None,
    torques: Sequence[JointTorque] = (),
) -> Table:
    """One row per signal and set of recordings: error before and after, in the signal's unit.

    Args:
      scores: With what they are scores of.
      noise: Noise level by signal, for a row of all signals in units of noise.
      torques: What inverse dynamics says of the torque at each joint.
    """
    still_known = ("standing still",) if any(score.rmse_still for _, score in scores) else ()
    table = plain_table("RMSE of", "recordings", "initial", "identified", *still_known, "unit")

    for place, (title, score) in enumerate(scores, 1):
        last = place == len(scores)  # torques are of that
        for row in prediction_errors(score, noise or {}, torques if last else ()):
            errors = (row.initial, row.fitted, row.still)[: 2 + len(still_known)]
            shown = ("-" if math.isnan(error) else f"{error:.4g}" for error in errors)
            table.add_row(plain_text(row.name), title, *shown, plain_text(row.unit))
    return table


def plain_table(*columns: str) -> Table:
    """An empty table without lines; columns that hold numbers are set to the right."""
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    for column in columns:
        numeric = column in ("initial", "true", "identified", "standing still")
        table.add_column(
            plain_text(column), justify="right" if numeric else "left", overflow="fold"
        )
    return table
