# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Installation of packages: uv, which is made for speed, and pip where uv does not get through.

uv knows nothing of pip's configuration. What pip was told about where packages come from and how
to reach them is therefore passed on in the variables that uv reads; not as arguments, because an
address may hold a password, and arguments are logged.
"""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import threading
from collections.abc import Mapping
from pathlib import Path

import machine
from work import Work

# uv's variable by the name of pip's setting, and what stands between several values.
_ONE, _BLANK, _COMMA = None, " ", ","
_VARIABLES = {
    "index-url": ("UV_DEFAULT_INDEX", _ONE),
    "extra-index-url": ("UV_INDEX", _BLANK),
    "find-links": ("UV_FIND_LINKS", _COMMA),
    "no-index": ("UV_NO_INDEX", _ONE),
    "trusted-host": ("UV_INSECURE_HOST", _BLANK),
    "cert": ("SSL_CERT_FILE", _ONE),
    "client-cert": ("SSL_CLIENT_CERT", _ONE),
    "proxy": ("ALL_PROXY", _ONE),
    "default-timeout": ("UV_HTTP_TIMEOUT", _ONE),
    "timeout": ("UV_HTTP_TIMEOUT", _ONE),
    "retries": ("UV_HTTP_RETRIES", _ONE),
    "keyring-provider": ("UV_KEYRING_PROVIDER", _ONE),
}
_SECTIONS = ("global", "install", ":env:")  # the later one wins, as in pip


class Installer:
    """Installs into one environment; fetches uv when it is first needed."""

    def __init__(self, python: Path, folder: Path, requirements: Path) -> None:
        """Keep where everything is.

        Args:
          python: The environment's interpreter; its pip fetches uv.
          folder: For uv and its cache; the caller removes it. On the environment's file system,
            so that files of the cache become those of the environment without a copy.
          requirements: The file that names uv.
        """
        self._python = python
        self._folder = folder
        self._requirements = requirements
        self._lock = threading.Lock()
        self._uv: Path | None = None
        self._has_tried = False
        self._present = 0

    @property
    def _cache(self) -> Path:
        return self._folder / "uv_cache"

    def count(self, log: str) -> tuple[int, int]:
        """How many packages are there, and of how many; those of pip are not known beforehand.

        Args:
          log: What the commands have said.
        """
        total = re.findall(r"^Resolved (\d+) packages", log, re.MULTILINE)
        if not total:
            return log.count("\nCollecting "), 0
        unpacked = self._cache / "archive-v0"
        fetched = len(list(unpacked.iterdir())) if unpacked.is_dir() else 0
        return min(self._present + fetched, int(total[-1])), int(total[-1])

    def install(self, work: Work, *arguments: str) -> None:
        """Install packages with bytecode.

        Args:
          work: Runs the commands.
          arguments: As pip and uv both understand them.

        Raises:
          SetupError: Neither uv nor pip could do it.
        """
        environment = self._python.parent.parent
        self._present = len(list(environment.glob("lib/python3*/site-packages/*.dist-info")))
        if not self._with_uv(work, arguments):
            self._pip(work, "install", *arguments)

    def _with_uv(self, work: Work, arguments: tuple[str, ...]) -> bool:
        uv = self._fetched(work)
        if uv is None:
            return False
        settings = {
            "UV_CACHE_DIR": str(self._cache),
            "UV_PYTHON_DOWNLOADS": "never",
            "UV_NO_PROGRESS": "1",
            "UV_INDEX_STRATEGY": "unsafe-best-match",  # all indexes count alike, as for pip
            "UV_SYSTEM_CERTS": "1",
            **uv_settings(pip_configuration(self._python)),
            **{name: value for name, value in os.environ.items() if name.startswith("UV_")},
        }
        python = ("--python", str(self._python), "--compile-bytecode")
        status = work.try_to_run(str(uv), "pip", "install", *python, *arguments, also=settings)
        return status == 0

    def _fetched(self, work: Work) -> Path | None:
        """The path of uv; None where it cannot be had, which is tried once."""
        with self._lock:
            if not self._has_tried:
                self._has_tried = True
                target = self._folder / "uv"
                shutil.rmtree(target, ignore_errors=True)
                wanted = ("--no-cache-dir", "--target", str(target), "-r", str(self._requirements))
                if self._try_pip(work, "install", "--no-deps", *wanted) == 0:
                    self._uv = target / "bin" / "uv"
            return self._uv

    def _pip(self, work: Work, *arguments: str) -> None:
        work.run(str(self._python), *_PIP, *arguments)

    def _try_pip(self, work: Work, *arguments: str) -> int:
        return work.try_to_run(str(self._python), *_PIP, *arguments)


_PIP = ("-m", "pip", "--disable-pip-version-check", "--no-input")


def pip_configuration(python: Path) -> Mapping[str, str]:
    """What files and variables tell pip's ``install``, by the long name of the option."""
    listed = subprocess.run(
        [str(python), *_PIP, "config", "list"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=machine.clean_environment(),
        text=True,
        check=False,
    )
    return effective(listed.stdout) if listed.returncode == 0 else {}


def effective(listed: str) -> Mapping[str, str]:
    """The settings in force, from what ``pip config list`` prints: ``section.name='value'``."""
    found: dict[tuple[int, str], str] = {}
    for line in listed.splitlines():
        key, _, value = line.partition("=")
        section, _, name = key.rpartition(".")
        if section in _SECTIONS and value:
            found[_SECTIONS.index(section), name] = str(ast.literal_eval(value))
    return {name: value for (_, name), value in sorted(found.items())}


def uv_settings(configuration: Mapping[str, str]) -> Mapping[str, str]:
    """The variables that tell uv what pip was told.

    Args:
      configuration: Values by option, of several values as pip writes them: between blanks or
        line ends.
    """
    settings = {}
    for option, text in configuration.items():
        variable, between = _VARIABLES.get(option, (None, None))
        values = text.split()
        if variable and values:
            settings[variable] = text.strip() if between is None else between.join(values)
    return settings
