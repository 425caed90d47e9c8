# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""What pip was told reaches uv, and pip stands in for uv."""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path

import pytest
from installer import Installer, effective, pip_configuration, uv_settings
from machine import SetupError
from work import Work

LISTED = """\
:env:.find-links='/wheels /more wheels'
:env:.default-timeout='180'
global.index-url='https://user:secret@one.example/simple'
global.extra-index-url='https://two.example/simple\\nhttps://three.example/simple'
global.find-links='/elsewhere'
install.index-url='https://four.example/simple'
install.trusted-host='four.example'
download.no-index='true'
"""


def test_pip_s_configuration_is_read_as_pip_reads_it() -> None:
    found = effective(LISTED)
    assert found["index-url"] == "https://four.example/simple"  # of the command, before global
    assert found["find-links"] == "/wheels /more wheels"  # of the environment, before all
    assert "no-index" not in found  # of another command


def test_uv_is_told_the_same() -> None:
    assert uv_settings(effective(LISTED)) == {
        "UV_DEFAULT_INDEX": "https://four.example/simple",
        "UV_INDEX": "https://two.example/simple https://three.example/simple",
        "UV_FIND_LINKS": "/wheels,/more,wheels",
        "UV_HTTP_TIMEOUT": "180",
        "UV_INSECURE_HOST": "four.example",
    }


def test_files_and_variables_of_this_machine_are_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "pip.conf"
    file.write_text("[global]\nindex-url = https://mirror.example/simple\n")
    monkeypatch.setenv("PIP_CONFIG_FILE", str(file))
    monkeypatch.setenv("PIP_EXTRA_INDEX_URL", "https://own.example/simple")
    monkeypatch.delenv("PIP_INDEX_URL", raising=False)
    found = pip_configuration(Path(sys.executable))
    assert found["index-url"] == "https://mirror.example/simple"
    assert found["extra-index-url"] == "https://own.example/simple"


@pytest.fixture
def python(tmp_path: Path) -> Path:
    """An interpreter whose pip fetches a uv that ends with the status in the file ``status``."""
    file = tmp_path / "python"
    file.write_text(
        f"""#!/bin/sh
echo "pip $*" >> {tmp_path}/calls
case "$*" in
  *--target*)
    mkdir -p {tmp_path}/folder/uv/bin
    printf '#!/bin/sh\\necho "uv $* $UV_INDEX_STRATEGY" >> {tmp_path}/calls\\n' > {tmp_path}/uv
    echo 'exit '$(cat {tmp_path}/status) >> {tmp_path}/uv
    chmod +x {tmp_path}/uv && mv {tmp_path}/uv {tmp_path}/folder/uv/bin/uv ;;
  *broken*) exit 1 ;;
esac
"""
    )
    file.chmod(file.stat().st_mode | stat.S_IXUSR)
    return file


def calls(tmp_path: Path) -> list[str]:
    """Who was called, and for what package in the end."""
    lines = (tmp_path / "calls").read_text().splitlines()
    return [line for line in lines if "config list" not in line and "--target" not in line]


@pytest.mark.parametrize(("status", "by"), [(0, ["uv"]), (2, ["uv", "pip"])])
def test_pip_stands_in_where_uv_fails(
    tmp_path: Path, python: Path, status: int, by: list[str]
) -> None:
    (tmp_path / "status").write_text(str(status))
    work = Work(tmp_path / "log", tmp_path)
    installer = Installer(python, tmp_path / "folder", tmp_path / "uv.txt")
    installer.install(work, "package")
    assert [line.split()[0] for line in calls(tmp_path)] == by
    assert "--compile-bytecode package unsafe-best-match" in calls(tmp_path)[0]


def test_what_neither_can_do_is_an_error_with_the_log(
    tmp_path: Path, python: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "status").write_text("2")
    work = Work(tmp_path / "log", tmp_path)
    installer = Installer(python, tmp_path / "folder", tmp_path / "uv.txt")
    with pytest.raises(SetupError, match=rf"status 1; .*{os.path.relpath(tmp_path / 'log')}"):
        installer.install(work, "broken")
    assert "--no-input install broken" in capsys.readouterr().err
