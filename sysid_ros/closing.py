# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Closing at the end of a ``with``: a base class, and settings that several blocks share."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import wraps
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


def shared_by_blocks(
    setting: Callable[[], AbstractContextManager[None]],
) -> Callable[[], AbstractContextManager[None]]:
    """Let blocks with one setting of the process be nested and overlap in several threads.

    The first that begins makes the setting, the last that ends undoes it.
    """
    lock, made, blocks = threading.Lock(), ExitStack(), 0

    @wraps(setting)
    @contextmanager
    def shared() -> Iterator[None]:
        nonlocal blocks
        with lock:
            if blocks == 0:
                made.enter_context(setting())
            blocks += 1
        try:
            yield
        finally:
            with lock:
                blocks -= 1
                if blocks == 0:
                    made.close()

    return shared
