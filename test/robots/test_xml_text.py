# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""XML edited as text: what nobody asked to change stays, byte for byte."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sysid_ros.errors import ModelError
from sysid_ros.robots.xml_text import XmlText, number

TEXT = """<?xml version="1.0"?>
<!-- a < b, and "damping='9'" is not an attribute -->
<mujoco   model='it"s'>
\t<joint name="a"   damping =  '1'
         note="x > y: damping='2'" /><!-- behind -->
  <body name="über"><geom/></body>
  <empty/>
</mujoco>
"""


def element(document: XmlText, tag: str):
    return next(e for e in document.root.descendants() if e.tag == tag)


def test_one_value_is_one_difference() -> None:
    document = XmlText(TEXT.encode())
    document.set(element(document, "joint"), "damping", "0.25")
    assert document.edited().decode() == TEXT.replace("damping =  '1'", 'damping =  "0.25"')


def test_attributes_are_added_removed_and_escaped() -> None:
    document = XmlText(TEXT.encode())
    joint = element(document, "joint")
    document.set(joint, "armature", '"<&')
    document.set(joint, "note", None)
    parsed = element(XmlText(document.edited()), "joint")
    assert parsed.attributes == {"name": "a", "damping": "1", "armature": '"<&'}


def test_elements_are_renamed_with_their_end() -> None:
    document = XmlText(TEXT.encode())
    document.rename(element(document, "body"), "frame")
    document.rename(element(document, "empty"), "full")
    edited = document.edited().decode()
    assert '<frame name="über"><geom/></frame>' in edited
    assert "<full/>" in edited


def test_elements_are_put_in() -> None:
    document = XmlText(TEXT.encode())
    document.insert_first(element(document, "body"), "<first/>")
    document.insert_last(element(document, "body"), "<last/>")
    document.insert_last(element(document, "empty"), "<inner/>")
    edited = XmlText(document.edited())
    assert [e.tag for e in element(edited, "body").children] == ["first", "geom", "last"]
    assert [e.tag for e in element(edited, "empty").children] == ["inner"]


def test_what_is_no_xml_is_said() -> None:
    with pytest.raises(ModelError, match="no well-formed XML"):
        XmlText(b"<a><b></a>")


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_numbers_read_back_exactly(value: float) -> None:
    assert float(number(value)) == value


names = st.from_regex(r"[a-z][a-z0-9_]{0,8}", fullmatch=True)
texts = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), max_size=12)


@given(st.dictionaries(names, texts, max_size=4), names, texts, st.sampled_from("\"'"))
def test_any_attribute_can_be_set(written: dict[str, str], name: str, value: str, quote) -> None:
    """Whatever else stands in the tag, in whichever quotes."""
    escaped = {
        key: text.replace("&", "&amp;").replace("<", "&lt;").replace(quote, "&#34;&#39;"[:5])
        if quote == '"'
        else text.replace("&", "&amp;").replace("<", "&lt;").replace(quote, "&#39;")
        for key, text in written.items()
    }
    attributes = "".join(f"\n  {key}={quote}{text}{quote}" for key, text in escaped.items())
    text = f"<!-- > --><a{attributes}><b/>text > more</a>"
    document = XmlText(text.encode())
    before = dict(document.root.attributes)
    document.set(document.root, name, value)
    after = XmlText(document.edited())
    assert dict(after.root.attributes) == {**before, name: value}
    assert document.edited().endswith(b"><b/>text > more</a>")
