# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""``parameters.yaml``: the numbers a person copies into a model or a controller."""

from __future__ import annotations

from pathlib import Path

import yaml

from sysid_ros.files import plain, replace_file
from sysid_ros.outcome import Outcome
from sysid_ros.results.document import parameter_entry


def parameters_yaml(outcome: Outcome) -> str:
    """The parameters of ``outcome`` as YAML text.

    Returns:
      A comment with the verdict, then one entry per parameter with ``value``, ``unit``,
      ``initial``, ``bounds`` (null: unbounded), ``standard_error``, ``interval`` (95 %, null
      where none can be claimed) and ``flags``.
    """
    entries = {}
    for parameter in outcome.fit.parameters:
        entry = plain(parameter_entry(parameter))
        entry["bounds"] = [entry.pop("lower"), entry.pop("upper")]
        order = ("value", "unit", "initial", "bounds", "standard_error", "interval", "flags")
        entries[parameter.name] = {key: entry[key] for key in order}
    comment = f"{outcome.title}: {outcome.fit.status.value}. {outcome.verdict}"
    head = "# " + " ".join(comment.split())  # one line, whatever the texts contain
    body = yaml.safe_dump(
        {"parameters": entries}, sort_keys=False, allow_unicode=True, default_flow_style=None
    )
    return f"{head}\n# interval: 95 %\n{body}"


def write_parameters(path: Path, outcome: Outcome) -> None:
    """Write :func:`parameters_yaml` to ``path`` atomically."""
    replace_file(path, parameters_yaml(outcome))
