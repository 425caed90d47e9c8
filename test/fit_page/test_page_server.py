# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The live page answers this machine, and lets nobody else's page cancel a fit."""

from __future__ import annotations

import http.client
import json
import re
import resource
import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from patience import PATIENCE

from sysid_ros.engine.least_squares.search_progress import Iteration
from sysid_ros.fit_page import LivePage, PageProgress, page_server
from sysid_ros.fit_page.page_server import TOKEN_HEADER, FitPageError


def step(number: int, cost: float = 1.0, names: tuple[str, ...] = ("mass", "damping")) -> Iteration:
    return Iteration(number, cost, 0.5, names, np.arange(len(names)) + number, 0.1 * number)


class Served:
    """A page with a fit to cancel."""

    def __init__(self) -> None:
        self.canceled = threading.Event()
        self.progress = PageProgress(self.canceled.set)
        self.page = LivePage(0, self.progress)
        self.port = int(self.page.url.rstrip("/").rpartition(":")[2])

    def ask(self, method: str, path: str, **headers: str) -> tuple[int, bytes, dict[str, str]]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(method, path, headers=given)
        answer = connection.getresponse()
        content = answer.read()
        connection.close()
        return answer.status, content, dict(answer.getheaders())

    def token(self) -> str:
        found = re.search(rb'name="token" content="([^"]+)"', self.ask("GET", "/")[1])
        assert found is not None
        return found[1].decode()

    def json(self, path: str) -> Any:
        return json.loads(self.ask("GET", path)[1])


@pytest.fixture
def served() -> Iterator[Served]:
    made = Served()
    with made.page:
        yield made


def test_numbers_arrive_once(served: Served) -> None:
    served.progress.begin("experiment.yaml")
    served.progress.stage("fitting", 0.2)
    served.progress.iteration(step(0, np.inf), 0.0)
    first = served.json("/progress")
    assert (first["state"], first["stage"], first["names"]) == (
        "running", "fitting", ["mass", "damping"],
    )  # fmt: skip
    assert first["steps"] == [{"iteration": 0, "cost": None, "elapsed": 0.0, "values": [0.0, 1.0]}]
    served.progress.iteration(step(1), 0.5)
    news = served.json(f"/progress?series={first['series']}&count=1")
    assert (news["first"], [s["iteration"] for s in news["steps"]]) == (1, [1])
    served.progress.begin("another.yaml")
    assert served.json(f"/progress?series={first['series']}&count=2")["first"] == 0


def test_a_page_that_outlived_a_server_begins_anew(served: Served) -> None:
    restarted = Served()
    for one in (served, restarted):
        one.progress.begin("experiment.yaml")
        one.progress.iteration(step(0), 0.0)
    before = served.json("/progress")["series"]
    with restarted.page:
        assert restarted.json(f"/progress?series={before}&count=1")["first"] == 0
    assert served.json(f"/progress?series={before}&count=1")["first"] == 1


def test_the_page_itself_can_cancel(served: Served) -> None:
    served.progress.begin("fit")
    status, _, _ = served.ask("POST", "/cancel", **{TOKEN_HEADER: served.token()})
    assert status == 202
    assert served.canceled.is_set()
    assert served.json("/progress")["state"] == "canceling"


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {TOKEN_HEADER: "guess"},
        {"Origin": "http://evil.example"},
        {"Host": "evil.example"},
        {"Host": "evil.example:80", "Origin": "http://evil.example:80"},
    ],
)
def test_other_pages_cannot_cancel(headers: dict[str, str], served: Served) -> None:
    served.progress.begin("fit")
    given = {TOKEN_HEADER: served.token(), **headers} if headers else {}
    status, _, _ = served.ask("POST", "/cancel", **given)
    assert status == 403
    assert not served.canceled.is_set()


def test_other_names_get_nothing(served: Served) -> None:
    """As after a name of a foreign page was pointed at this machine."""
    assert served.ask("GET", "/", Host="evil.example")[0] == 403
    assert served.ask("GET", "/progress", Origin="http://evil.example")[0] == 403
    assert served.ask("GET", "/", Host=f"localhost:{served.port}")[0] == 200


def test_nothing_runs_nothing_is_cancelled(served: Served) -> None:
    assert served.ask("POST", "/cancel", **{TOKEN_HEADER: served.token()})[0] == 409
    assert not served.canceled.is_set()


def test_only_the_page_is_served(served: Served) -> None:
    for path in ("/../server.py", "/server.py", "/progress/", "//etc/passwd"):
        assert served.ask("GET", path)[0] == 404
    _, _, headers = served.ask("GET", "/")
    assert "default-src 'none'" in headers["Content-Security-Policy"]
    assert "Access-Control-Allow-Origin" not in headers


def test_it_listens_on_loopback_only(served: Served) -> None:
    assert served.page.url == f"http://127.0.0.1:{served.port}/"
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as other:
        other.settimeout(1.0)
        # Another of this machine's own addresses: would answer if all were listened on.
        assert other.connect_ex(("127.0.0.2", served.port)) != 0


def test_a_port_in_use_is_said(served: Served) -> None:
    with pytest.raises(FitPageError, match="choose another live_page_port"):
        LivePage(served.port, served.progress)
    with pytest.raises(FitPageError, match="from 0 to 65535"):
        LivePage(70000, served.progress)


def sent(port: int, request: bytes) -> bytes:
    """All that is answered to some bytes."""
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as connection:
        connection.sendall(request)
        return b"".join(iter(lambda: connection.recv(1 << 16), b""))


@pytest.mark.parametrize(
    "line",
    [
        b"nonsense",
        b"GET",
        b"\x16\x03\x01\x02\x00\x01",  # TLS
        b"GET / HTTP/one",
        b"GET / HTTP/1.1.1.1",
        b"GET http://[ HTTP/1.0",
        b"GET /progress?count=" + b"9" * 5000 + b" HTTP/1.0",
        b"GET /progress?series=%ff HTTP/1.0",
        b"GET /progress?" + b"a=1&" * 5000 + b" HTTP/1.0",
    ],
)
def test_malformed_requests_are_refused(line: bytes, served: Served) -> None:
    answer = sent(served.port, line + b"\r\n\r\n")
    assert answer.startswith(b"HTTP/1.0 400 ")
    assert b"Content-Security-Policy" in answer
    assert served.ask("GET", "/")[0] == 200


def test_a_thousand_half_open_connections_keep_nobody_out(served: Served) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 4096 if hard == resource.RLIM_INFINITY else min(4096, hard)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, wanted), hard))
    with ExitStack() as held:
        for number in range(1000):
            connection = held.enter_context(
                socket.create_connection(("127.0.0.1", served.port), timeout=PATIENCE)
            )
            connection.sendall(b"GET / HTTP/1.0\r\nHost:"[: number % 24])
        assert served.ask("GET", "/")[0] == 200
        assert threading.active_count() < 200
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_a_request_that_never_arrives_is_ended(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page_server, "_LONGEST", 0.1)
    assert sent(served.port, b"GET / HTT") == b""


@given(st.lists(st.integers(0, 30), max_size=8), st.integers(1, 3))
def test_a_reader_always_has_all_steps(batches: list[int], fits: int) -> None:
    """However the steps come between two questions."""
    progress = PageProgress(lambda: None)
    series, steps = "", []
    for fit in range(fits):
        progress.begin(f"fit {fit}")
        told = 0
        for batch in batches:
            for _ in range(batch):
                progress.iteration(step(told), 0.5)
                told += 1
            news = progress.snapshot(series, len(steps))
            steps = [*steps[: news["first"]], *news["steps"]]
            series = news["series"]
            assert [s["iteration"] for s in steps] == list(range(told))


def test_long_fits_are_thinned() -> None:
    progress = PageProgress(lambda: None)
    progress.begin("long")
    for number in range(12000):
        progress.iteration(step(number), 0.5)
    steps = progress.snapshot()["steps"]
    assert len(steps) <= 5001
    assert (steps[0]["iteration"], steps[-1]["iteration"]) == (0, 11999)
