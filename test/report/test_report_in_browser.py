# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The report in a real browser: it draws, sorts, zooms and asks nobody for anything."""

from __future__ import annotations

import io
import tracemalloc
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from browser import Page, open_browser
from outcomes import outcome as synthetic
from PIL import Image

from sysid_ros.engine.estimation.shifts import OTHER_INTERPOLATION, ModelError, Shift
from sysid_ros.report import render_report
from sysid_ros.video import Video

CANVASES = "document.querySelectorAll('#plots canvas').length"


@pytest.fixture(scope="module")
def page() -> Iterator[Page]:
    with open_browser() as opened:
        yield opened


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "report.html"
    path.write_text(render_report(synthetic(), {"2026-01-01_earlier": synthetic()}))
    return path


def show(page: Page, report: Path, **options: int | bool) -> None:
    """Open the report afresh and scroll to its drawn plots."""
    page.errors.clear()
    page.requests.clear()
    page.open(report, **options)
    page.run("document.getElementById('plots').scrollIntoView()")
    page.wait_for(f"{CANVASES} >= 4")


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [1200, 390])
def test_draws_without_an_error_or_a_request(
    page: Page, report: Path, width: int, dark: bool
) -> None:
    show(page, report, width=width, dark=dark)
    assert page.errors == []
    assert [url for url in page.requests if not url.startswith("file:")] == []
    assert len(page.requests) == 1
    assert page.run("document.documentElement.scrollWidth") <= width
    assert page.run(INK) > 200


def test_a_usual_screen_shows_tables_whole(page: Page, tmp_path: Path) -> None:
    """With a long type of messages, and all that estimates may move by."""
    plain = synthetic()
    some = np.full(len(plain.fit.parameters), 1.234e-5)
    changes = ("half the time step", "windows of 0.5 s", "another start", OTHER_INTERPOLATION)
    shifts = tuple(Shift(change, 1.0, some, some, some) for change in changes)
    fit = replace(plain.fit, model_error=ModelError(np.ones_like(some), some, shifts))
    kind = "control_msgs/msg/JointTrajectoryControllerState"
    quality = tuple(replace(one, msgtype=kind) for one in plain.quality)
    report = tmp_path / "report.html"
    report.write_text(render_report(replace(plain, fit=fit, quality=quality)))
    page.open(report, width=1200)
    cut = "[...document.querySelectorAll('.scroll')].filter((e) => e.scrollWidth > e.clientWidth)"
    assert page.run(f"{cut}.map((e) => e.ariaLabel)") == []


def test_a_narrow_screen_shows_what_a_verdict_rests_on(page: Page, report: Path) -> None:
    page.open(report, width=400)
    shown = ".verdict .scroll, #parameters .scroll, #data .scroll"
    tables = f"[...document.querySelectorAll('{shown}')]"
    assert page.run(f"{tables}.length") == 3
    assert page.run(f"{tables}.map((one) => one.scrollWidth - one.clientWidth)") == [0, 0, 0]


def test_a_narrow_screen_shows_every_error_of_a_sequence(page: Page, report: Path) -> None:
    page.open(report, width=400)
    table = "document.querySelector('#signals .scroll')"
    assert page.run(f"{table}.scrollWidth - {table}.clientWidth") == 0
    # What the hidden heading would tell stands beside the number, as "elbow_pos [rad]: ".
    last = f"getComputedStyle({table}.querySelector('tbody td:last-child'), '::before').content"
    heading = f"{table}.querySelector('thead th:last-child').textContent"
    assert page.run(last).strip('"') == f"{page.run(heading)}: "


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [1200, 390])
def test_axe_finds_no_serious_fault(page: Page, report: Path, width: int, dark: bool) -> None:
    show(page, report, width=width, dark=dark)
    page.run("document.querySelectorAll('details').forEach((part) => { part.open = true; })")
    assert page.faults() == []


def test_the_first_screen_answers_whether_to_trust_it_and_what_changed(
    page: Page, report: Path
) -> None:
    page.open(report, width=1200, height=900)
    for text in ("Trustworthy", "Held-out error", "Since the result before", "at its lower bound"):
        bottom = page.run(
            "[...document.querySelectorAll('.verdict p, .verdict span, .verdict li')]"
            f".find((e) => e.textContent.includes('{text}')).getBoundingClientRect().bottom"
        )
        assert bottom < 900, text


def test_tab_reaches_every_control(page: Page, report: Path) -> None:
    """In reading order, beginning with the link that skips to the verdict."""
    show(page, report)
    page.run("(document.activeElement?.blur(), scrollTo(0, 0))")
    reached: list[str] = []
    for _ in range(120):
        page.press("Tab")
        here = page.run(
            "document.activeElement.id || document.activeElement.dataset.curve || "
            "document.activeElement.className || document.activeElement.textContent.trim()"
        )
        reached.append(str(here))
    wanted = ["skip", "Parameters", "copy-yaml", "sequence", "zoom-in", "zoom-reset", "fitted"]
    places = [reached.index(name) for name in wanted]
    assert places == sorted(places)
    assert "signal" in reached  # a plot takes the focus, and then arrows and plus and minus


# Pixels of the fitted curve's colour in the first chart.
INK = """(() => {
  const canvas = document.querySelector('#plots canvas');
  const style = getComputedStyle(document.documentElement).getPropertyValue('--fitted');
  const wanted = style.match(/[0-9a-f]{2}/gi).map((part) => parseInt(part, 16));
  const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
  let count = 0;
  for (let i = 0; i < data.length; i += 4)
    if (data[i + 3] > 200 && wanted.every((v, k) => Math.abs(data[i + k] - v) < 12)) count++;
  return count;
})()"""


def test_sorts(page: Page, report: Path) -> None:
    show(page, report)
    names = (
        """[...document.querySelectorAll('#parameters tbody th')].map((cell) => cell.textContent)"""
    )
    click = "document.querySelectorAll('#parameters thead button')[%d].click()"
    page.run(click % 0)
    assert page.run(names) == sorted(page.run(names))
    page.run(click % 1)
    ascending = page.run(names)
    assert ascending == ["shoulder_damping", "shoulder_armature", "elbow_damping", "link2_mass"]
    page.run(click % 1)
    assert page.run(names) == ascending[::-1]
    assert page.run("document.querySelectorAll('#parameters [aria-sort=descending]').length") == 1


def snapshots(page: Page) -> list[str]:
    """What each canvas shows."""
    page.run("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    return page.run("[...document.querySelectorAll('#plots canvas')].map((c) => c.toDataURL())")


def test_zoom_is_shared_and_comes_back(page: Page, report: Path) -> None:
    show(page, report)
    whole = snapshots(page)
    box = page.run(
        "(({x, y, width, height}) => [x, y, width, height])"
        "(document.querySelector('#plots .u-over').getBoundingClientRect())"
    )
    left, top, width, height = box
    middle = top + 0.5 * height
    page.drag((left + 0.25 * width, middle), (left + 0.5 * width, middle))
    zoomed = snapshots(page)
    assert all(a != b for a, b in zip(whole, zoomed, strict=True))
    page.run("document.getElementById('zoom-reset').click()")
    page.run("document.querySelector('#plots .u-over').dispatchEvent(new MouseEvent('mouseleave'))")
    assert snapshots(page) == whole


def test_keyboard(page: Page, report: Path) -> None:
    show(page, report)
    whole = snapshots(page)
    page.run("document.querySelector('#plots .signal').focus()")
    seen = [whole]
    for key in ("+", "ArrowRight", "-"):
        page.press(key)
        seen.append(snapshots(page))
    assert len({shown[0] for shown in seen}) == 4
    page.press("0")
    assert snapshots(page) == whole


def test_sequences_and_curves_are_chosen(page: Page, report: Path) -> None:
    show(page, report)
    assert page.run("document.getElementById('sequence').value") == "2"  # the held-out one first
    before = snapshots(page)
    page.run("document.querySelector('[data-sequence=\"0\"]').click()")
    page.wait_for(f"{CANVASES} >= 4")
    assert page.run("document.getElementById('sequence').value") == "0"
    assert page.run("document.getElementById('signal-note').textContent").startswith("Used in")
    assert snapshots(page) != before
    ink = page.run(INK)
    page.run("document.querySelector('[data-curve=fitted]').click()")
    page.wait_for(f"{CANVASES} >= 4")
    assert page.run(INK) < 0.1 * ink


def test_copies_yaml(page: Page, report: Path) -> None:
    show(page, report)
    assert "link2_mass: 0.55  # kg" in page.run(
        "document.getElementById('parameters-yaml').textContent"
    )
    page.run("document.getElementById('copy-yaml').click()")
    page.wait_for("document.getElementById('copy-done').textContent !== ''")


def test_the_video_can_be_stopped(page: Page, tmp_path: Path) -> None:
    content = io.BytesIO()
    red, blue = (Image.new("RGB", (640, 240), colour) for colour in ("red", "blue"))
    red.save(content, format="WEBP", save_all=True, append_images=[blue], duration=100, loop=0)
    path = tmp_path / "report.html"
    path.write_text(render_report(synthetic(), video=Video(content.getvalue())))
    page.errors.clear()
    page.open(path)
    page.wait_for("document.getElementById('animation').complete")
    assert page.run("document.getElementById('animation').naturalWidth") == 640
    assert page.run("document.getElementById('still').hidden")
    page.run("document.getElementById('play').focus()")
    page.press("Enter")
    assert page.run("document.getElementById('play').textContent") == "Play"
    colour = "[...document.getElementById('still').getContext('2d').getImageData(9, 9, 1, 1).data]"
    assert page.run(colour)[0] > 200
    page.press("Enter")
    assert page.run("document.getElementById('still').hidden")
    assert page.errors == []
    assert page.faults() == []


def test_prints(page: Page, report: Path, tmp_path: Path) -> None:
    page.open(report, dark=True)  # nothing drawn yet: printing draws every signal, on white
    page.pdf(tmp_path / "report.pdf")
    assert (tmp_path / "report.pdf").read_bytes().startswith(b"%PDF")
    assert page.run(CANVASES) >= 0
    assert page.errors == []


def test_ten_minutes_of_fourteen_signals(page: Page, tmp_path: Path) -> None:
    long = synthetic(sequences=1, signals=14, duration=600.0, rate=1000.0)
    path = tmp_path / "long.html"
    path.write_text(render_report(long))
    assert path.stat().st_size < 15e6
    show(page, path)
    for _ in range(5):  # scroll through all signals, so that all are drawn
        page.run("scrollBy(0, 1200)")
    page.run("document.getElementById('zoom-reset').scrollIntoView()")
    zooms = [
        page.run(
            """new Promise((done) => {
              const began = performance.now();
              const end = () => done(performance.now() - began);
              document.getElementById('zoom-in').click();
              requestAnimationFrame(() => requestAnimationFrame(end));
            })"""
        )
        for _ in range(5)
    ]
    assert min(zooms) < 500.0  # ms; tens of them on an idle machine
    assert page.errors == []


def test_signals_out_of_sight_follow_when_they_come_back(page: Page, tmp_path: Path) -> None:
    path = tmp_path / "many.html"
    path.write_text(render_report(synthetic(sequences=1, signals=14)))
    show(page, path)
    last = "document.querySelector('#plots .signal:last-child')"
    page.run(f"{last}.scrollIntoView()")
    page.wait_for(f"{last}.querySelectorAll('canvas').length === 2")
    shown = f"{last}.plots[0].scales.x.max - {last}.plots[0].scales.x.min"
    whole = page.run(shown)
    page.run("document.getElementById('plots').scrollIntoView()")
    page.wait_for(f"!{last}.near")
    page.run("document.getElementById('zoom-in').click()")
    assert page.run(shown) == whole
    page.run(f"{last}.scrollIntoView()")
    page.wait_for(f"{shown} < 0.6 * {whole}")


def test_memory_for_a_long_recording_stays_near_the_data() -> None:
    long = synthetic(sequences=1, signals=14, duration=150.0, rate=1000.0)
    data = sum(4 * signal.times.nbytes for signal in long.sequences[0].signals)
    tracemalloc.start()
    render_report(long)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < data


def test_figures_stand_beside_the_correlation_matrix(page: Page, report: Path) -> None:
    show(page, report, width=1280)
    tops = page.run(
        "[...document.querySelectorAll('figure.free ~ figure')].slice(0, 4)"
        ".map((figure) => figure.getBoundingClientRect().top)"
    )
    assert len(tops) > 2
    matrix = "document.querySelector('figure.free').getBoundingClientRect().bottom"
    assert max(tops) < page.run(matrix)
