"""The report of one fit as a single HTML file."""

from __future__ import annotations

import jinja2

from sysid_ros.outcome import Outcome


def render_report(outcome: Outcome) -> str:
    """Render ``outcome`` as one HTML document that needs no network."""
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined)
    template = environment.from_string(
        "<!doctype html><html lang=en><meta charset=utf-8><title>{{ o.title }}</title>"
        "<h1>{{ o.title }}</h1><p>{{ o.verdict }}</p>{% for p in o.fit.parameters %}"
        "<p>{{ p.name }} = {{ p.value }} {{ p.unit }}{% endfor %}"
    )
    return template.render(o=outcome)
