# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""YAML with lines: the accepted subset, and an answer to what lies beyond."""

from __future__ import annotations

import pytest
from counted_work import calls_of

from sysid_ros.errors import ExperimentError
from sysid_ros.experiment.yaml_tree import Value, parse_yaml


def plain(value: Value) -> object:
    """A tree without its places."""
    if isinstance(value.content, dict):
        return {key: plain(entry) for key, entry in value.content.items()}
    if isinstance(value.content, list):
        return [plain(item) for item in value.content]
    return value.content


def error_of(text: str) -> str:
    with pytest.raises(ExperimentError) as caught:
        parse_yaml(text, "e.yaml")
    return str(caught.value)


def test_values_know_the_line_of_their_key() -> None:
    tree = parse_yaml("a:\n  b: 1\n  c:\n    - 2\n    - 3\n", "e.yaml")
    assert isinstance(tree.content, dict)
    inner = tree.content["a"]
    assert str(inner.place) == "e.yaml:1"
    assert isinstance(inner.content, dict)
    assert inner.content["c"].place.line == 3
    assert isinstance(inner.content["c"].content, list)
    assert inner.content["c"].content[1].place.line == 5


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("0.5", 0.5),
        ("7", 7),
        ("true", True),
        ("~", None),
        ("", None),
        ("2024-05-01", "2024-05-01"),
        ("bags/a", "bags/a"),
    ],
)
def test_scalars(written: str, value: object) -> None:
    found = plain(parse_yaml(f"a: {written}", "e.yaml"))
    assert found == {"a": value}
    assert isinstance(found, dict) and type(found["a"]) is type(value)


@pytest.mark.parametrize(
    ("written", "number"),
    [("1e-3", 0.001), ("2E6", 2e6), ("1.5e3", 1500.0), ("-7", -7), ("0x10", 16), ("007", 7)]
    + [(text, None) for text in ('"1e-3"', "e3", "1e", "true", "~", '"5"', "[1]")],
)
def test_numbers_may_have_an_exponent_without_a_dot(written: str, number: float | None) -> None:
    tree = parse_yaml(f"a: {written}", "e.yaml")
    assert isinstance(tree.content, dict)
    assert tree.content["a"].number() == number


def test_aliases_are_expanded() -> None:
    assert plain(parse_yaml("a: &x {b: 1}\nc: *x", "e")) == {"a": {"b": 1}, "c": {"b": 1}}


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "e.yaml:1: the file is empty"),
        ("a: 1\nb: 2\na: 3", "e.yaml:3: the key 'a' is there already, in line 1"),
        ("a:\n\tb: 1", "e.yaml:2: not valid YAML: a tab indents this line; YAML allows spaces"),
        ("a:\t1", "e.yaml:1: not valid YAML: a tab indents this line"),  # libyaml would read it
        ("a: [1", "e.yaml:1: not valid YAML: "),
        ("a: b: c", "e.yaml:1: not valid YAML: mapping values are not allowed here"),
        ("a: 1\n---\nb: 2", "e.yaml:2: not valid YAML: a second document starts here"),
        ("a: *nobody", "e.yaml:1: not valid YAML: found undefined alias"),
        ("a: 1\nb: \x07", "e.yaml:2: not valid YAML: the character '\\x07' is not allowed"),
        ("a: 1\nb: '\ud800'", "e.yaml:2: not valid YAML: the character '\\ud800' is not allowed"),
        ("a: 1\n5: 2", "e.yaml:2: the key 5 is not text; put it in quotes"),
        ("[a, b]: 2", "the key a collection is not text"),
        ("a: {<<: {b: 1}}", "the key << is not text; merging is not read, write the keys out"),
        ("a: !!python/object/apply:os.system [ls]", "the tag !!python/object/apply:os.system"),
        ("a: !!python/name:os.system ''", "is not allowed here"),
        ("a: !!binary aGk=", "the tag !!binary is not allowed here"),
        ("a: !!set {b, c}", "the tag !!set is not allowed here"),
        ("a: !!int word", "e.yaml:1: 'word' is not a valid int"),
        ("a: !!bool word", "e.yaml:1: 'word' is not a valid bool"),
        ("a: " + "9" * 5000, "is not a valid int"),
        ("a: -010", "YAML reads -010 as -8; write a number without leading zeros, text in quotes"),
        ("a: 1:30", "YAML reads 1:30 as 90; write a number without a colon, text in quotes"),
        ("a: 1:30.5", "YAML reads 1:30.5 as 90.5; write a number without a colon"),
        ("a: " + 500 * "[", "nested too deeply"),
        ("a: " + 40 * "[" + 40 * "]", "nested more than 20 levels deep"),
        ("&x a: *x\nb: &y [*y]", "nested more than 20 levels deep"),
        ("#" * 150_001, "an experiment file has at most 150000"),
    ],
)
def test_what_is_refused(text: str, sentence: str) -> None:
    message = error_of(text)
    assert sentence in message
    assert message.startswith("e.yaml")


def test_a_bomb_of_aliases_is_refused_before_it_goes_off() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{i}: &a{i} [{', '.join(10 * [f'*a{i - 1}'])}]" for i in range(1, 12)]
    refused: list[str] = []
    assert calls_of(lambda: refused.append(error_of("\n".join(lines)))) < 2_000_000  # ten times
    assert "more than 20000 values (aliases expanded)" in refused[0]
