# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""YAML written is read back as it was."""

from __future__ import annotations

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from sysid_ros.files import yaml_line, yaml_text

AWKWARD = st.text(st.sampled_from("a0 \n\r\t\x85\u2028\u2029\ufeff\xa0'\":#-[]{},&*?|>!%@`é\\"))


@pytest.mark.parametrize("written", [yaml_line, yaml_text])
@given(text=AWKWARD | st.text())
@example(text="0\x85")
@example(text="a\u2028b")
@example(text="\xa0")
def test_any_text_reads_back(written: object, text: str) -> None:
    assert callable(written)
    for document in (text, [text], {"key": text}, {text: 1}):
        assert yaml.safe_load(written(document)) == document
