# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A web server for one page, bound to this machine's loopback address.

Other pages in the same browser can reach it too. They cannot read what it answers; and so that they
cannot cancel a fit either, a request to do so must carry a secret that only the page itself knows.
A page without anything to cancel is for reading only. Requests under another name than this
machine's are refused, which ends tricks with DNS.
"""

from __future__ import annotations

import contextlib
import hmac
import json
import secrets
import socket
import threading
import time
from collections.abc import Callable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import resources
from typing import Any, Protocol
from urllib.parse import parse_qs, urlsplit

from sysid_ros.closing import Closing
from sysid_ros.errors import SysidError

HOST = "127.0.0.1"
TOKEN_HEADER = "X-Sysid-Ros-Token"  # noqa: S105
_NAMES = (HOST, "localhost")
_LONGEST = 10.0  # s that a request may take to arrive and be answered
_FIELDS = 10  # of a query
_MOST = 64  # connections at a time; of more, those that have waited longest are ended


_SHARED = ("shared.js", "page.css")  # of all pages


class FitPageError(SysidError):
    """The page cannot be served."""


class Shown(Protocol):
    """The subject of a page, which asks for it again and again, from several threads.

    Attributes:
      room: The package that holds ``page.html`` and ``page.js``.
    """

    room: str

    @property
    def cancel(self) -> Callable[[], bool] | None:
        """Cancels what is shown, in a thread of the server, and tells whether there was anything.

        ``None`` for a page without a button.
        """

    def snapshot(self, known: str, count: int) -> dict[str, Any]:
        """Everything, or what is new since the snapshot of series ``known`` with its steps."""


class LivePage(Closing):
    """Serves a page from a thread of its own until it is closed; also a context manager."""

    def __init__(self, port: int, shown: Shown) -> None:
        """Begin to serve.

        Args:
          port: TCP port on the loopback address; 0 for any free one.
          shown: What is shown.

        Raises:
          FitPageError: The port is no port or in use.
        """
        if not 0 <= port <= 65535:
            raise FitPageError(f"live_page_port must be from 0 to 65535, got {port}")
        try:
            self._server = _Server((HOST, port), shown)
        except OSError as error:
            raise FitPageError(
                f"the live page cannot be served on port {port}: {error.strerror}; choose another "
                "live_page_port"
            ) from error
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        """The page's address for a browser."""
        return f"http://{HOST}:{self._server.server_port}/"

    def close(self) -> None:
        """Stop serving."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _Server(ThreadingHTTPServer):
    """Serves each connection in a thread of its own.

    A browser's request is answered in milliseconds. Connections that send nothing, or a byte now
    and then, make room for others as soon as there are many, and end after a while in any case.
    """

    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = 128

    def __init__(self, address: tuple[str, int], shown: Shown) -> None:
        super().__init__(address, _Handler)
        self._since: dict[socket.socket, float] = {}  # when each connection began, in order
        self._lock = threading.Lock()
        self.shown, self.token = shown, secrets.token_urlsafe(32)
        self.run = f"{secrets.token_hex(4)}."
        own, shared = resources.files(shown.room), resources.files("sysid_ros.fit_page")
        page = own.joinpath("page.html").read_text(encoding="utf-8")
        self.files = {
            "/": ("text/html", page.replace("TOKEN", self.token).encode()),
            "/page.js": ("text/javascript", own.joinpath("page.js").read_bytes()),
        }
        for name in _SHARED:
            kind = "text/css" if name.endswith(".css") else "text/javascript"
            self.files[f"/{name}"] = (kind, shared.joinpath(name).read_bytes())

    def process_request(self, request: Any, client_address: Any) -> None:
        """Serve a connection, and end the oldest where there are too many."""
        with self._lock:
            self._since[request] = time.monotonic()
            surplus = list(self._since)[:-_MOST]
        self._end(surplus)
        super().process_request(request, client_address)

    def service_actions(self) -> None:
        """End the connections that have taken too long; called twice a second."""
        before = time.monotonic() - _LONGEST
        with self._lock:
            late = [connection for connection, began in self._since.items() if began < before]
        self._end(late)

    def shutdown_request(self, request: Any) -> None:
        """Called by a connection's thread at its end."""
        with self._lock:
            self._since.pop(request, None)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of connections that broke, which are the clients' affair."""

    def _end(self, connections: list[socket.socket]) -> None:
        """Wake the threads that wait for these connections; they close them."""
        for connection in connections:
            with self._lock:
                self._since.pop(connection, None)
            with contextlib.suppress(OSError):  # it has just ended by itself
                connection.shutdown(socket.SHUT_RDWR)


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    server_version = "sysid_ros"
    sys_version = ""
    default_request_version = "HTTP/1.0"  # or what is no request gets no status with its answer
    timeout = _LONGEST

    def do_GET(self) -> None:
        """The page, its parts, or its numbers as JSON."""
        try:
            address = urlsplit(self.path)
            query = parse_qs(address.query, errors="strict", max_num_fields=_FIELDS)
            series, count = query.get("series", [""])[-1], query.get("count", ["0"])[-1]
            number = int(count) if count.isdecimal() else 0
        except ValueError:
            self._answer(HTTPStatus.BAD_REQUEST, "text/plain", b"this is no request\n")
            return
        if not self._is_for_us():
            self._answer(HTTPStatus.FORBIDDEN, "text/plain", b"served to this machine only\n")
        elif address.path in self.server.files:
            self._answer(HTTPStatus.OK, *self.server.files[address.path])
        elif address.path == "/progress":
            run = self.server.run  # a page that outlived another server knows nothing of this one
            known = series.removeprefix(run) if series.startswith(run) else ""
            news = self.server.shown.snapshot(known, number)
            news["series"] = f"{run}{news['series']}"
            self._answer(HTTPStatus.OK, "application/json", json.dumps(news).encode())
        else:
            self._answer(HTTPStatus.NOT_FOUND, "text/plain", b"there is nothing here\n")

    def do_POST(self) -> None:
        """Cancel what runs."""
        given = self.headers.get(TOKEN_HEADER, "")
        genuine = hmac.compare_digest(given.encode(), self.server.token.encode())
        cancel = self.server.shown.cancel
        if cancel is None:
            self._answer(HTTPStatus.METHOD_NOT_ALLOWED, "text/plain", b"for reading only\n")
        elif not self._is_for_us() or not genuine:
            self._answer(HTTPStatus.FORBIDDEN, "text/plain", b"only the page itself may do that\n")
        elif self.path != "/cancel":
            self._answer(HTTPStatus.NOT_FOUND, "text/plain", b"there is nothing here\n")
        elif not cancel():
            self._answer(HTTPStatus.CONFLICT, "text/plain", b"no fit is running\n")
        else:
            self._answer(HTTPStatus.ACCEPTED, "text/plain", b"cancelling\n")

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Called for what is no request, or none of those above."""
        status = HTTPStatus(code)
        self._answer(status, "text/plain", f"{status.phrase}\n".encode())

    def log_message(self, format: str, *arguments: Any) -> None:  # noqa: A002
        """Nothing: a page that asks twice a second would fill the log."""

    def _is_for_us(self) -> bool:
        """Tell whether the request names this server and comes from its own page or from none."""
        names = {f"{name}:{self.server.server_port}" for name in _NAMES}
        origin = self.headers.get("Origin")
        return self.headers.get("Host") in names and (
            origin is None or origin in {f"http://{name}" for name in names}
        )

    def _answer(self, status: HTTPStatus, kind: str, content: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(content)))
        self.send_header("Cache-Control", "no-store")
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("X-Frame-Options", "DENY")
        self.send_header("Cross-Origin-Resource-Policy", "same-origin")
        self.send_header(
            "Content-Security-Policy",
            "default-src 'none'; img-src data:; script-src 'self'; style-src 'self'; "
            "connect-src 'self'; "
            "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
        )
        self.end_headers()
        self.wfile.write(content)
