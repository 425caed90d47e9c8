# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Damaged bags: nothing is missing that is not named, and what cannot be checked is said."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from hostile.damaged_bags import WRITERS, Held, damaged, truth

from sysid_ros.errors import SysidError
from sysid_ros.recording.bags import describe, open_recording, recover

CASES, MANY = 100, 1000
ROS1 = ".bag"


def read(path: Path) -> tuple[Held, tuple[str, ...], tuple[str, ...]]:
    """What a bag holds as we read it, what we say is wrong, and what was checked."""
    with open_recording(path) as recording:
        held = Counter((m.topic, m.log_ns, m.data) for m in recording.messages())
    info = describe(path)
    assert info.messages == sum(held.values())
    return held, info.warnings, info.checks


def check_damaged(tmp_path: Path, form: str, count: int) -> None:
    whole = WRITERS[form](tmp_path / "whole")
    held = truth(whole)
    outcomes: Counter[str] = Counter()
    for number, (what, content) in enumerate(damaged(whole.read_bytes(), count, seed=20)):
        bag = tmp_path / f"damaged{whole.suffix}"
        bag.write_bytes(content)
        try:
            found, warnings, checks = read(bag)
        except SysidError:
            outcomes["refused"] += 1
        else:
            unseen = sum(found.values()) == sum(held.values()) and "no checksum" in " ".join(checks)
            assert found == held or warnings or unseen, what
            outcomes["same" if found == held else "named"] += 1
        if whole.suffix != ROS1:
            check_recovered(bag, tmp_path / f"recovered_{number}", held, what)
    assert len(outcomes) > 1, f"the damage of {form} always ends alike: {outcomes}"


def check_recovered(bag: Path, folder: Path, held: Held, what: str) -> None:
    """What recover saves is in the bag, and what it does not save is named."""
    try:
        recovery = recover(bag, output=folder)
    except SysidError:
        return
    with open_recording(folder) as recording:
        saved = Counter((m.topic, m.log_ns, m.data) for m in recording.messages())
    assert sum(saved.values()) == recovery.messages
    assert recovery.messages >= sum(held.values()) or recovery.warnings, what


@pytest.mark.parametrize("form", WRITERS)
def test_a_whole_bag_is_read_as_others_read_it(tmp_path, form) -> None:
    whole = WRITERS[form](tmp_path / "whole")
    found, warnings, checks = read(whole)
    assert found == truth(whole)
    assert not warnings
    assert checks


@pytest.mark.parametrize("form", WRITERS)
def test_nothing_is_missing_that_is_not_named(tmp_path, form) -> None:
    check_damaged(tmp_path, form, CASES)


@pytest.mark.slow
@pytest.mark.parametrize("form", WRITERS)
def test_nothing_is_missing_that_is_not_named_of_many(tmp_path, form) -> None:
    check_damaged(tmp_path, form, MANY)
