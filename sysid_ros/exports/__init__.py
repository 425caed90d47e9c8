"""What others take from a result: their own model file, changed only where it was identified."""

from __future__ import annotations
