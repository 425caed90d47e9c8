# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A base of what is closed at the end of a ``with``."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing_extensions import Self


class Closing(ABC):
    """Something that holds files, threads or processes: ``with`` gives it and closes it."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    @abstractmethod
    def close(self) -> None:
        """Let go of what is held; the object cannot be used afterwards."""
