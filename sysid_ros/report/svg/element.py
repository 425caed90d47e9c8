# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""SVG elements, with everything that comes from outside escaped."""

from __future__ import annotations

from collections.abc import Iterable

from markupsafe import Markup, escape


def element(name: str, *content: str, **attributes: str | float) -> Markup:
    """One SVG element.

    Args:
      name: The element's name.
      content: Child elements, as :class:`~markupsafe.Markup`, or text, which is escaped.
      attributes: ``css`` becomes ``class``; underscores become dashes, except in ``viewBox``
        and the like. Numbers get one decimal, a tenth of a pixel.

    Returns:
      The element, to be nested in others or put into a template.
    """
    parts = [f"<{name}"]
    for key, value in attributes.items():
        attribute = "class" if key == "css" else key.replace("_", "-")
        text = value if isinstance(value, str) else f"{value:.1f}".removesuffix(".0")
        parts.append(f' {attribute}="{escape(text)}"')
    parts.append(">")
    parts.extend(escape(item) for item in content)
    parts.append(f"</{name}>")
    return Markup("".join(parts))  # noqa: S704  (every outside text above went through escape)


def picture(
    content: Iterable[Markup], width: float, height: float, label: str, *, css: str
) -> Markup:
    """A whole drawing; ``label`` is what a screen reader says."""
    size = f"0 0 {width:g} {height:g}"
    return element("svg", *content, css=css, viewBox=size, role="img", aria_label=label)


def group(elements: Iterable[Markup], **attributes: str | float) -> Markup:
    """Several elements as one."""
    return element("g", *elements, **attributes)


def text(
    content: str, x: float, y: float, *, css: str, anchor: str = "middle", **attributes: str | float
) -> Markup:
    """A text whose ``anchor`` (start, middle, end) lies at ``x``."""
    return element("text", content, css=css, x=x, y=y, text_anchor=anchor, **attributes)


def turned_text(
    content: str, x: float, y: float, *, css: str, anchor: str = "middle", **attributes: str | float
) -> Markup:
    """The same, read from bottom to top."""
    transform = f"translate({x:.1f} {y:.1f}) rotate(-90)"
    return element("text", content, css=css, transform=transform, text_anchor=anchor, **attributes)


def within(content: str, room: float, letter: float) -> dict[str, str]:
    """Attributes that press a text together where letters of this width exceed its room, pixels."""
    if len(content) * letter <= room:
        return {}
    return {"textLength": f"{room:.1f}", "lengthAdjust": "spacingAndGlyphs"}
