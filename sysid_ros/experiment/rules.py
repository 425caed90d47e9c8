# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Meaning and valid values of a key of the experiment file, kept beside its field.

Each field of :mod:`.experiment_schema` that is a YAML key carries a :class:`Rule` in its metadata.
Validation and the reference in ``docs/experiment.md`` both read it there, so that they cannot
disagree.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

_METADATA_KEY = "rule"


@dataclass(frozen=True)
class Rule:
    """The meaning and the limits of one key.

    ``above`` and ``below`` are exclusive limits, ``minimum`` and ``maximum`` inclusive ones.
    ``none_word`` is the word that a file may use for ``None``. ``choices`` that stand in a table of
    the engine are looked up when they are needed, as the engine takes a second to load.
    """

    doc: str
    above: float | None = None
    minimum: float | None = None
    below: float | None = None
    maximum: float | None = None
    nonzero: bool = False
    choices: tuple[str, ...] | Callable[[], tuple[str, ...]] = ()
    none_word: str | None = None

    def valid(self) -> tuple[str, ...]:
        """Return the words that the key takes; empty where it takes anything else."""
        return self.choices() if callable(self.choices) else self.choices

    def broken_by(self, number: float) -> str | None:
        """Say which limit ``number`` breaks, such as ``"above 0"``; ``None`` if it keeps all."""
        if self.above is not None and not number > self.above:
            return f"above {self.above:g}"
        if self.minimum is not None and not number >= self.minimum:
            return f"at least {self.minimum:g}"
        if self.below is not None and not number < self.below:
            return f"below {self.below:g}"
        if self.maximum is not None and not number <= self.maximum:
            return f"at most {self.maximum:g}"
        if self.nonzero and number == 0:
            return "other than 0"
        return None

    def limits(self) -> str:
        """The limits in words for the reference, such as ``"at least 0, below 1"``."""
        parts = []
        for word, limit in (
            ("above", self.above),
            ("at least", self.minimum),
            ("below", self.below),
            ("at most", self.maximum),
        ):
            if limit is not None:
                parts.append(f"{word} {limit:g}")
        if self.nonzero:
            parts.append("not 0")
        return ", ".join(parts)


def rule(doc: str, **limits: Any) -> dict[str, Rule]:
    """Metadata for :func:`dataclasses.field`; ``limits`` are the fields of :class:`Rule`."""
    return {_METADATA_KEY: Rule(doc, **limits)}


def key(default: Any, doc: str, **limits: Any) -> Any:
    """A field that is a YAML key with a default, or with a function that makes it, and a rule."""
    of = {"default_factory" if callable(default) else "default": default}
    return field(**of, metadata=rule(doc, **limits))


def rule_of(metadata: Any) -> Rule | None:
    """The rule in a field's metadata, or ``None`` for a field that is not a YAML key."""
    found = metadata.get(_METADATA_KEY)
    return found if isinstance(found, Rule) else None
