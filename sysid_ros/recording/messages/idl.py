# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""IDL as ROS writes it, reduced to what decides how a message is laid out.

Recorders and installations carry IDL with includes, comments and annotations (documentation,
defaults, units). None of it changes a message's layout.
"""

from __future__ import annotations

import re

from rosbags.interfaces.typing import Typesdict
from rosbags.typesys import get_types_from_idl

_NO_CODE = re.compile(
    r'(?P<text>"(?:\\.|[^"\\])*")'
    r"|//[^\n]*"  # comments
    r"|/\*.*?\*/"
    r"|^[ \t]*#[^\n]*",  # include, pragma
    re.DOTALL | re.MULTILINE,
)
_ANNOTATION = re.compile(r"@[A-Za-z_][\w:]*(?:\s*\((?:[^()]|\([^()]*\))*\))?")


def parse_idl(text: str) -> Typesdict:
    """Return the types that an IDL text defines.

    Raises:
      TypesysError: It is malformed.
    """
    code = _NO_CODE.sub(lambda match: '""' if match["text"] else " ", text)
    return get_types_from_idl(_ANNOTATION.sub(" ", code))
