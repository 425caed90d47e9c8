# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Names by which people tell files and folders apart."""

from __future__ import annotations

import itertools
from collections.abc import Container, Sequence
from pathlib import Path


def labels_of(files: Sequence[Path]) -> dict[str, Path]:
    """Files by the shortest names that tell them from each other, such as m4 or m4/parameters."""
    short = [file.resolve().name if file.is_dir() else file.stem for file in files]
    longer = [
        name if file.is_dir() else f"{file.resolve().parent.name}/{name}"
        for name, file in zip(short, files, strict=True)
    ]
    whole = [str(file) for file in files]
    names = next(n for n in (short, longer, whole) if len(set(n)) == len(files) or n is whole)
    return dict(zip(names, files, strict=True))


def untaken(name: str, taken: Container[str]) -> str:
    """A name, with a number from two on where another has it already."""
    numbered = (f"{name}_{n}" for n in itertools.count(2))
    return next(each for each in itertools.chain([name], numbered) if each not in taken)
