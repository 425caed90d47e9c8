# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""``sysid_ros apply``: write a result's values into another model file of the robot."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from sysid_ros.commands.common import AddParser, add_command, complain, load_mujoco
from sysid_ros.printable import print_text

if TYPE_CHECKING:
    from sysid_ros.exports import WrittenValue


def register(add_parser: AddParser) -> None:
    """Declare the command and its arguments."""
    parser = add_command(add_parser, _run)
    parser.option("result_dir", "RESULT_DIR", "a result", type=Path)
    parser.option("model", "MODEL", "an MJCF or URDF file", type=Path)
    parser.option("--output", "DIR", "a new folder for the model", type=Path, required=True)
    parser.option("--robot", "NAME", "whose values, where the result is of several robots")


def _run(options: argparse.Namespace) -> int:
    """Write a result's values into another MJCF or URDF file of the same robot, by name."""
    load_mujoco()
    from sysid_ros.errors import ModelError
    from sysid_ros.exports import apply_parameters, of_robot, write_applied
    from sysid_ros.results import read_results
    from sysid_ros.robots import load_model

    applied = of_robot(read_results(options.result_dir).applied, options.robot)
    if not applied:
        raise ModelError(f"{options.result_dir} does not say what its parameters are written into")
    model = load_model(options.model)
    changed, written, left_out = apply_parameters(model.spec, applied, urdf=model.text.is_urdf)
    if not written:
        raise ModelError(f"{options.model} has no place for any parameter: {'; '.join(left_out)}")
    path = write_applied(model.text, model.spec, changed, options.output)
    _print(written)
    for sentence in left_out:
        complain(f"left out: {sentence}")
    print_text(path)
    return 0


def _print(written: tuple[WrittenValue, ...]) -> None:
    """Print the values before and after."""
    from sysid_ros.terminal import console_for, plain_number, plain_table, plain_text

    table = plain_table("parameter", "written into", "initial", "identified")
    for value in written:
        target = plain_text(f"{value.attribute} of {value.element} {value.name}")
        before, after = (
            " ".join(map(plain_number, numbers)) for numbers in (value.before, value.after)
        )
        table.add_row(plain_text(value.parameter), target, before, after)
    console_for(sys.stdout).print(table)
