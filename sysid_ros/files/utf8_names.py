# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Names of files in UTF-8, the only ones that MuJoCo takes."""

from __future__ import annotations

import os
from pathlib import Path


def check_utf8(path: Path) -> None:
    """Refuse a path that Python and MuJoCo would take for different ones.

    Python hands names in another encoding through as they are, in its locale's encoding.

    Raises:
      UnicodeError: Its absolute path is not in UTF-8, or the locale is another; says what to do.
    """
    absolute = path.absolute()
    name = os.fsencode(absolute)
    try:
        name.decode()
    except UnicodeDecodeError:
        raise UnicodeError("its path is not in UTF-8, as MuJoCo wants it; rename it") from None
    if name != str(absolute).encode(errors="replace"):
        raise UnicodeError("its path is in UTF-8, the locale is not; set PYTHONUTF8=1")
