# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The report's text: complete, self-contained, and safe against whatever names contain."""

from __future__ import annotations

import html
import json
import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest
from outcomes import outcome as synthetic

from sysid_ros.engine.estimation.torque_findings import BodyFinding, TorqueFindings
from sysid_ros.engine.least_squares.search_progress import FitStatus
from sysid_ros.engine.uncertainty.parameter_estimate import ParameterEstimate
from sysid_ros.judgement.outcome import JointTorque, Outcome
from sysid_ros.report import render_comparison, render_report


class Elements(HTMLParser):
    """Every start tag with its attributes, and the text of the signals' data."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.data = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        if self.found and self.found[-1][1].get("id") == "signal-data" and not self.data:
            self.data = data


def text(page: str) -> str:
    """What a reader sees, roughly."""
    body = re.sub(r"<(script|style)\b.*?</\1>", "", page, flags=re.DOTALL)
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", body)).split())


def test_says_what_matters() -> None:
    made = synthetic()
    made = replace(made, warnings=(*made.warnings, "it moves by 0.1 kg m^2"))
    words = text(render_report(made))
    assert made.verdict in words
    assert made.warnings[0] in words
    for parameter in made.fit.parameters:
        assert parameter.name in words
    for part in ("0.002130", "kg m²", "0.1 kg m²", "0.002086 … 0.002174", "at lower bound",
                 "none claimed", "shoulder_armature rises while link2_mass falls", "trajectory_02",
                 "held out", "/joint_states", "500 Hz", "ab" * 32,
                 "clustered by window"):  # fmt: skip
        assert part in words, part
    order = [
        words.index(part)
        for part in (
            "Verdict",
            "Within bounds",
            "Autocorrelation",
            "Suggested next experiment",
            "Cost over iterations",
            "half the time step",
            "Jitter",
        )
    ]
    assert order == sorted(order)


def test_loads_nothing() -> None:
    page = render_report(synthetic())
    for tag, attributes in Elements(page).found:
        assert tag not in {"link", "iframe", "img", "object", "embed", "base"}
        for name in ("src", "href", "action", "data", "poster", "srcset"):
            assert (attributes.get(name) or "#").startswith("#"), (tag, attributes)
    assert not re.search(r"(fetch\s*\(|XMLHttpRequest|WebSocket|sendBeacon|import\s*\()", page)
    assert not re.search(r"(url\(|@import)", page)
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', page)
    assert policy is not None and "default-src 'none'" in policy[1]
    assert "unsafe-eval" not in policy[1] and "script-src 'sha256-" in html.unescape(policy[1])


@pytest.mark.parametrize("evil", ["</script><script>alert(1)</script>", '"><img src=x>', "a & <b>"])
def test_names_are_only_names(evil: str) -> None:
    made = synthetic()
    fit = made.fit
    signal = replace(made.sequences[0].signals[0], name=evil, unit=evil)
    page = render_report(
        replace(
            made,
            title=evil,
            verdict=evil,
            warnings=(evil,),
            provenance={evil: evil, "text": f"{evil}\n{evil}"},
            sequences=(replace(made.sequences[0], name=evil, signals=(signal,)),),
            quality=(replace(made.quality[0], topic=evil, sequence=evil),),
            fit=replace(
                fit,
                message=evil,
                unidentifiable=(evil,),
                noise={evil: 1.0},
                parameters=tuple(replace(p, name=evil, unit=evil) for p in fit.parameters),
                landscapes=(replace(fit.landscapes[0], x_name=evil, y_name=evil),),
            ),
        )
    )
    usual = Elements(render_report(made))
    elements = Elements(page)
    count = [tag for tag, _ in elements.found].count
    assert count("script") == [tag for tag, _ in usual.found].count("script") == 2
    assert count("img") == 0 and count("b") == 0
    assert json.loads(elements.data)[0]["signals"][0]["name"] == evil


def bare(made: Outcome) -> Outcome:
    """The least there can be: a cancelled fit."""
    fit = replace(
        made.fit,
        status=FitStatus.CANCELED,
        trace=(),
        singular_values=np.empty(0),
        unidentifiable=(),
        interval_method="none",
        covariance=np.full((4, 4), np.nan),
    )
    return replace(
        made, fit=fit, training=None, validation=None, sequences=(), quality=(), provenance={}
    )


def worst(made: Outcome) -> Outcome:
    """Every number that can be missing or endless is."""
    nan, inf = float("nan"), float("inf")
    parameter = ParameterEstimate("p", "", nan, nan, -inf, inf, None, inf, ())
    sequences = tuple(
        replace(
            sequence,
            window_starts=np.empty(0),
            signals=tuple(
                replace(
                    signal,
                    measured=np.full(signal.times.size, nan),
                    fitted=np.full(signal.times.size, inf),
                )
                for signal in sequence.signals
            ),
        )
        for sequence in made.sequences
    )
    empty = replace(
        sequences[0].signals[0],
        times=np.empty(0),
        measured=np.empty(0),
        initial=np.empty(0),
        fitted=np.empty(0),
    )
    assert made.validation is not None
    return replace(
        made,
        sequences=(*sequences, replace(sequences[0], signals=(empty,))),
        validation=replace(made.validation, rmse_all=nan, rmse_all_initial=inf, unit_all=""),
        fit=replace(
            made.fit,
            parameters=(parameter,),
            covariance=np.array([[nan]]),
            cost_initial=inf,
            cost_final=nan,
            trace=tuple(replace(step, cost=nan) for step in made.fit.trace),
            singular_values=np.zeros(2),
            landscapes=(),
        ),
    )


@pytest.mark.parametrize("change", [bare, worst])
def test_incomplete_outcomes(change: object) -> None:
    assert callable(change)
    page = render_report(change(synthetic()))
    assert page.rstrip().endswith("</html>")
    json.loads(Elements(page).data, parse_constant=pytest.fail)


def test_without_held_out_data_the_report_says_so() -> None:
    made = synthetic(sequences=1)
    assert "nothing was held out" in text(render_report(made))


def test_the_table_of_errors_has_torques_and_a_robot_that_stands_still() -> None:
    made = synthetic()
    assert made.validation is not None
    still = dict.fromkeys(made.validation.rmse, 0.987)
    made = replace(
        made,
        validation=replace(made.validation, rmse_still=still),
        torques=(JointTorque("wrist", "N m", 3.21, 0.25, 1.5),),
    )
    page = render_report(made)
    assert page.count("0.987") >= len(still)
    assert "torque asked for at wrist" in page
    assert "3.21" in page
    assert "times their noise level" in page
    assert "all together" in page


def test_bodies_are_told_in_numbers_of_bodies() -> None:
    body = BodyFinding(
        body="forearm",
        mass=2.0089,
        centre=np.array([-3.7e-44, 0.0174, 0.137]),
        moments=np.array([0.00956, 0.024, 0.0268]),
        axes=np.array([1.0, 0.0, 0.0, 0.0]),
        eigenvalues=np.ones(4),
        on_edge=False,
    )
    found = TorqueFindings(
        base=(), bodies=(body,), joints=(), row_cutoff=18.0, rows=100, masked=0.0, blocks=25,
        inflation=1.0, notes=(), advice=(),
    )  # fmt: skip
    made = synthetic()
    fit = replace(made.fit, torque=found, model_error=None, interval_method="blocks of time")
    page = text(render_report(replace(made, fit=fit, bias=None)))
    assert "Refits were not made" not in page  # such a fit takes no bias check
    assert "Intervals are clustered by blocks of time." in " ".join(page.split())
    assert "forearm 2.009 0.0000, 0.0174, 0.1370 0.00956, 0.024, 0.0268" in " ".join(page.split())
    assert "stand under Bodies" in page


def test_tone_follows_the_result() -> None:
    made = synthetic(warnings=())
    assert made.validation is not None
    assert 'class="verdict good"' in render_report(made)
    worse = replace(made.validation, rmse_all=2.0 * made.validation.rmse_all_initial)
    assert 'class="verdict bad"' in render_report(replace(made, validation=worse))
    assert 'class="verdict caution"' in render_report(synthetic())


def test_windows_stand_side_by_side_with_what_can_be_trusted() -> None:
    made = synthetic()
    page = text(render_report(made))
    assert "error, held out rad 0.01 0.02 0.0105" in page
    assert made.window_check is not None
    for sentence in made.window_check.sentences():
        assert sentence in page
    assert "error, held out" not in text(render_report(replace(made, window_check=None)))


def test_the_bias_check_says_what_moved() -> None:
    made = synthetic()
    words = text(render_report(made))
    assert "half the time step" in words and "windows of 0.5 s" in words
    assert "+0.0001 2.3 times" in words
    for sentence in made.bias.sentences() if made.bias else ():
        assert sentence in words
    assert "Refits were not made: they take three more fits" in text(
        render_report(replace(made, bias=None))
    )


def test_jitter_below_the_resolution_of_stamps_is_none() -> None:
    made = synthetic()
    words = text(render_report(replace(made, quality=(replace(made.quality[0], jitter=2e-15),))))
    assert " 0 ms " in words


def test_units_of_the_verdict_are_written_as_in_the_tables() -> None:
    made = replace(synthetic(), verdict="At a bound: armature ends at its lower bound (0 kg m^2).")
    for page in (render_report(made), render_comparison({"first": made, "second": made})):
        assert "its lower bound (0 kg m²)." in text(page)
