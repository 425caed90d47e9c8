# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The page of estimates: bands and signals in a browser, for reading only, bounded memory."""

from __future__ import annotations

import http.client
import json

import numpy as np
import pytest
from browser import Page, open_browser
from hypothesis import given
from hypothesis import strategies as st
from patience import PATIENCE

from sysid_ros.engine.moving_horizon import HorizonEstimate, SignalTrace
from sysid_ros.engine.uncertainty import ParameterEstimate
from sysid_ros.estimate_page import EstimateHistory, estimate_history
from sysid_ros.fit_page import LivePage


def parameter(name: str, value: float, error: float | None) -> ParameterEstimate:
    return ParameterEstimate(
        name=name, unit="kg", initial=1.0, value=value, lower=0.0, upper=9.0,
        standard_error=error, dof=20.0,
    )  # fmt: skip


def estimate(number: int) -> HorizonEstimate:
    """Parameters that settle, the last at zero; the second has no interval before the fourth."""
    error = 1.0 / (1 + number)
    parameters = (
        parameter("mass", 2.0 + error, 0.5 * error),
        parameter("<b>damping</b>", 3.0, error if number > 2 else None),
        parameter("delay", 1.7e-21, 0.1),
    )
    return HorizonEstimate(
        time=0.1 * number, parameters=parameters, covariance=np.eye(3), scales=np.ones(3),
        settled=True, undetermined=(), unexplained=(), windows=number, noise={}, simulated=0,
    )  # fmt: skip


def trace() -> SignalTrace:
    times = np.linspace(3.0, 5.0, 2000)
    return SignalTrace("elbow_pos", "rad", times, np.sin(times), np.sin(times) + 0.01)


def ask(url: str, method: str, path: str) -> tuple[int, bytes]:
    connection = http.client.HTTPConnection(url.split("/")[2], timeout=PATIENCE)
    connection.request(method, path)
    answer = connection.getresponse()
    content = answer.read()
    connection.close()
    return answer.status, content


def test_a_browser_shows_bands_and_signals() -> None:
    history = EstimateHistory()
    with open_browser() as page, LivePage(0, history) as served:
        page.visit(served.url)
        page.wait_for("document.getElementById('status').textContent.startsWith('Nothing')")
        history.begin("/path/experiment.yaml")
        for number in range(8):
            history.add(estimate(number), "every parameter is determined")
        history.show([trace()])
        page.wait_for("document.querySelectorAll('#signals article').length == 1")
        cards = page.run(
            "[...document.querySelectorAll('#parameters article')].map(c => c.innerText)"
        )
        low, high = estimate(7).parameters[0].interval() or (0.0, 0.0)
        assert f"2.125 kg ({low:.5g} to {high:.5g})" in cards[0]
        assert "\n0 kg (0 to 0." in cards[2]
        assert "<b>damping</b>" in cards[1]  # as text, not as an element
        band = "document.querySelectorAll('path.band')[{}].getAttribute('d').split('L').length"
        assert page.run(band.format(0)) == 2 * (8 + 1)  # the last one comes twice
        assert page.run(band.format(1)) == 2 * (5 + 1)
        assert page.run("document.getElementById('signals').innerText.includes('0.01 rad (RMS)')")
        for width, dark in ((1200, False), (375, True)):
            _assert_all_can_use(page, served.url, width, dark=dark)
        assert page.errors == []
        assert all(request.startswith((served.url, "data:")) for request in page.requests)


def _assert_all_can_use(page: Page, url: str, width: int, *, dark: bool) -> None:
    page.visit(url, width, dark=dark)
    page.wait_for("document.querySelectorAll('#signals article').length == 1")
    assert page.faults() == []
    assert page.run("document.documentElement.scrollWidth <= window.innerWidth")


def test_it_is_for_reading_only() -> None:
    history = EstimateHistory()
    history.add(estimate(0), "")
    with LivePage(0, history) as served:
        assert ask(served.url, "POST", "/cancel")[0] == 405
        assert ask(served.url, "GET", "/progress?series=%ff")[0] == 400
        status, content = ask(served.url, "GET", "/progress")
        assert status == 200
        assert json.loads(content)["steps"][0]["lower"][1] is None


def test_signals_are_made_while_somebody_looks() -> None:
    history = EstimateHistory()
    assert not history.is_looked_at
    history.snapshot()
    assert history.is_looked_at


def test_memory_is_bounded_and_the_whole_time_is_shown() -> None:
    history, many = EstimateHistory(), 5_000
    made = estimate(5)
    for _ in range(many):
        history.add(made, "")
    assert 250 <= len(history.snapshot()["steps"]) <= 601
    history.show([trace()])
    assert len(history.snapshot()["signals"][0]["times"]) <= 300


def test_estimates_of_an_earlier_time_begin_another_course() -> None:
    """A clock was set back, or the node was activated again."""
    history = EstimateHistory()
    for number in (30, 31, 0, 1):
        history.add(estimate(number), "")
    assert [step["time"] for step in history.snapshot()["steps"]] == [0.0, 0.1]


def test_an_estimate_without_the_latest_rows_belongs_to_the_same_course() -> None:
    """Rows that are not explained are set apart, and what is left is a little older."""
    history = EstimateHistory()
    for number in (30, 31, 28, 32):
        history.add(estimate(number), "")
    times = [step["time"] for step in history.snapshot()["steps"]]
    assert times == pytest.approx([3.0, 3.1, 3.1, 3.2])


@given(st.lists(st.integers(0, 60), max_size=4), st.integers(1, 2))
def test_a_reader_always_has_what_is_kept(batches: list[int], begins: int) -> None:
    history, estimates = EstimateHistory(), [estimate(k) for k in range(4)]
    series, steps = "", []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(estimate_history, "_MOST", 20)
        for _ in range(begins):
            history.begin("again")
            for number in range(sum(batches)):
                history.add(estimates[number % 4], "")
                if number + 1 in np.cumsum(batches):
                    news = history.snapshot(series, len(steps))
                    steps = [*steps[: news["first"]], *news["steps"]]
                    series = news["series"]
                    assert steps == history.snapshot()["steps"]
