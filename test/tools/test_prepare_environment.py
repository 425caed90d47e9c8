# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""What the set-up compiles ahead."""

from __future__ import annotations

import prepare_environment

from sysid_ros.engine.derivatives.compilation import hashed_files


def test_every_file_whose_change_compiles_anew_is_seen_by_the_set_up() -> None:
    seen = {file.resolve() for room in prepare_environment.COMPILED for file in room.glob("*.py")}
    assert {file.resolve() for file in hashed_files()} <= seen
