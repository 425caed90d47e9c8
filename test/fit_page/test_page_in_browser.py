# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The live page in a real browser: numbers move, the button cancels, everybody can use it."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import numpy as np
import pytest
from browser import Page, open_browser
from patience import PATIENCE

from sysid_ros.engine.least_squares.search_progress import Iteration
from sysid_ros.fit_page import LivePage, PageProgress


def step(number: int) -> Iteration:
    values = np.array([0.5 + 0.1 * number, 2.0 - 0.3 * number])
    names, units = ("mass", "<b>damping</b>"), ("kg", "N m s/rad")
    return Iteration(number, 10.0**-number, 0.5, names, values, number, units)


@pytest.fixture(scope="module")
def page() -> Iterator[Page]:
    with open_browser() as opened:
        yield opened


def text(page: Page, element: str) -> str:
    return page.run(f"document.getElementById('{element}').textContent")


def test_a_fit_is_followed_and_cancelled(page: Page) -> None:
    canceled = threading.Event()
    progress = PageProgress(canceled.set)
    with LivePage(0, progress) as served:
        page.visit(served.url)
        page.wait_for("document.getElementById('status').textContent == 'Waiting for a goal.'")
        assert page.run("document.getElementById('cancel').hidden")
        progress.begin("/path/experiment.yaml")
        progress.stage("fitting", 0.2)
        for number in range(5):
            progress.iteration(step(number), number / 10)
        page.wait_for("document.querySelectorAll('#parameters tr').length == 2")
        page.wait_for("document.getElementById('cost').textContent.startsWith('0.0001 ')")
        assert text(page, "status") == "Running: fitting."
        cells = "[...document.querySelectorAll('#parameters tr')].map(r => r.innerText)"
        assert page.run(cells)[0].split("\t")[:5] == ["mass", "0.5", "0.9", "kg", "80.0 %"]
        assert text(page, "cost-ends").startswith("Step 0 to 4; cost 0.0001 to 1,")
        assert "<b>damping</b>" in page.run(cells)[1]  # as text, not as an element
        points = "document.querySelector('#cost-chart polyline').getAttribute('points')"
        assert len(page.run(points).split()) == 5
        page.run("document.getElementById('cancel').focus()")
        page.press("Enter")
        page.wait_for("document.getElementById('status').textContent.startsWith('Cancelling')")
        assert canceled.wait(PATIENCE)
        progress.end("fit ended: CANCELED")
        page.wait_for("document.getElementById('status').textContent == 'fit ended: CANCELED'")
        assert page.errors == []
        assert all(request.startswith((served.url, "data:")) for request in page.requests)


@pytest.mark.parametrize(("width", "dark"), [(1200, False), (375, True)])
def test_axe_finds_no_serious_fault(page: Page, width: int, dark: bool) -> None:
    progress = PageProgress(lambda: None)
    progress.begin("fit")
    progress.iteration(step(0), 0.0)
    progress.iteration(step(1), 0.5)
    with LivePage(0, progress) as served:
        page.visit(served.url, width, dark=dark)
        page.wait_for("document.querySelectorAll('#parameters tr').length == 2")
        assert page.faults() == []
        assert page.run("document.documentElement.scrollWidth <= window.innerWidth")
