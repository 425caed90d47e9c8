# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A real Chromium for tests of pages, driven by Playwright, with axe for their accessibility."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_SERIOUS = ("serious", "critical")


class Page:
    """One open page. ``errors`` has its console errors, ``requests`` every address it asked for."""

    def __init__(self, page: Any) -> None:
        self._page = page
        self.errors: list[str] = []
        self.requests: list[str] = []
        page.on("request", lambda request: self.requests.append(request.url))
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("console", self._listen)

    def _listen(self, message: Any) -> None:
        if message.type == "error":
            self.errors.append(message.text)

    def open(self, path: Path, width: int = 1200, height: int = 900, *, dark: bool = False) -> None:
        """Load a file at a window size."""
        self.visit(path.absolute().as_uri(), width, height, dark=dark)

    def visit(self, address: str, width: int = 1200, height: int = 900, *, dark: bool = False):
        """Load an address at a window size."""
        self.resize(width, height)
        self._page.emulate_media(color_scheme="dark" if dark else "light")
        self._page.goto(address)

    def resize(self, width: int, height: int) -> None:
        """Change the size of the window."""
        self._page.set_viewport_size({"width": width, "height": height})

    def run(self, script: str) -> Any:
        """The value of a JavaScript expression; promises are awaited."""
        return self._page.evaluate(script)

    def wait_for(self, condition: str, timeout: float = 15.0) -> None:
        """Wait until a JavaScript expression is true, or fail after ``timeout`` s."""
        # Not Playwright's own waiting, which evaluates strings and meets the page's policy.
        for _ in range(round(timeout / 0.05)):
            if self.run(condition):
                return
            self._page.wait_for_timeout(50)
        raise TimeoutError(condition)

    def press(self, key: str) -> None:
        """Press and release a key where the focus is."""
        self._page.keyboard.press(key)

    def drag(self, start: tuple[float, float], end: tuple[float, float]) -> None:
        """Drag the mouse with its left button."""
        self._page.mouse.move(*start)
        self._page.mouse.down()
        self._page.mouse.move(*end)
        self._page.mouse.up()

    def faults(self) -> list[str]:
        """Serious and critical accessibility faults that axe finds, with where."""
        pytest.importorskip("axe_playwright_python", reason="axe-playwright-python is missing")
        from axe_playwright_python.sync_playwright import Axe

        found = Axe().run(self._page).response["violations"]
        return [
            f"{fault['id']} ({fault['impact']}): {fault['help']}: {node['html'][:200]}"
            for fault in found
            if fault["impact"] in _SERIOUS
            for node in fault["nodes"]
        ]

    def screenshot(self, path: Path) -> None:
        """Save what the window shows as PNG."""
        self._page.screenshot(path=path)

    def pdf(self, path: Path) -> None:
        """Print the page."""
        self._page.pdf(path=path, print_background=True)


@contextmanager
def open_browser() -> Iterator[Page]:
    """A headless browser with one page; skips the test where there is no browser."""
    pytest.importorskip("playwright", reason="playwright is not installed (make develop)")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        own = Path(playwright.chromium.executable_path)
        installed = next(filter(None, map(shutil.which, _NAMES)), None)
        program = own if own.exists() else installed
        if program is None:
            pytest.skip("no Chromium (apt install chromium, or playwright install chromium)")
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        try:
            yield Page(browser.new_page())
        finally:
            browser.close()
