# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""JSON that every parser accepts: no NaN, no infinity, keys in the order they were given."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from sysid_ros.files.writing import replace_file
from sysid_ros.printable import OBEYED

_NUMBERS = re.compile(r"\[\n((?:[-+.\deE,\s]|null)*?)\]")


def plain(value: object) -> Any:
    """Turn numpy values, mappings and sequences into what JSON knows.

    Args:
      value: Anything made of mappings, sequences, numpy arrays, numbers, strings and ``None``.

    Returns:
      The same structure of dict, list, str, int, float, bool and ``None``, with ``None`` for
      every number that is not finite: JSON has no NaN and no infinity.

    Raises:
      TypeError: For a type that has no JSON form.
    """
    if value is None or isinstance(value, (str, bool)):
        return value
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, (np.bool_, np.integer, np.floating)):
        return plain(value.item())
    if isinstance(value, int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, Sequence):
        return [plain(item) for item in value]
    raise TypeError(f"{type(value).__name__} has no JSON form")


def dumps(document: object, *, indent: int | None = 2) -> str:
    """Serialise ``document`` after :func:`plain`, readable by people when ``indent`` is given."""
    text = json.dumps(plain(document), indent=indent, ensure_ascii=False, allow_nan=False)
    # JSON leaves some control characters as they are, and a terminal would obey them.
    text = OBEYED.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
    # A list of numbers belongs on one line. No string is touched: none contains a line break,
    # which JSON writes as \\n.
    return _NUMBERS.sub(lambda match: "[" + " ".join(match[1].split()) + "]", text)


def write_json(path: Path, document: object) -> None:
    """Write ``document`` to ``path`` atomically."""
    replace_file(path, dumps(document) + "\n")
