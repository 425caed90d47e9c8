# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Decompression that stops at a limit: what a file claims about its sizes is not believed.

A kilobyte can decompress to a terabyte. Chunks of recorders hold a few MiB; here a chunk or a
message may have up to ``LARGEST_CHUNK`` bytes, and memory grows only with what really comes out.
"""

from __future__ import annotations

import bz2
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import lz4.frame
import zstandard

from sysid_ros.files import open_regular

LARGEST_CHUNK = 128 << 20  # bytes, decompressed
LARGEST_FILE = 64 << 30  # bytes of a bag that is compressed as a whole
_STEP = 1 << 20  # bytes that come out at once
_INPUT = 1 << 10  # bytes; zstd needs at least 4 for a block of 128 KiB, so 32 MiB come out at most
_EXPANSION = 4096  # of a whole file: no recording is compressed better than that

# What damaged or hostile content raises.
UNDECOMPRESSABLE = (OSError, ValueError, EOFError, RuntimeError, MemoryError, zstandard.ZstdError)


class TooLargeError(RuntimeError):
    """Content decompresses to more than the limit."""

    def __init__(self, limit: int) -> None:
        super().__init__(f"it decompresses to more than {limit >> 20} MiB, the limit")


def _stored(packed: bytes, limit: int) -> tuple[bytes, bool]:
    if len(packed) > limit:
        raise TooLargeError(limit)
    return packed, True


def _stepwise(start: Callable[[], Any]) -> Callable[[bytes, int], tuple[bytes, bool]]:
    """Decompress with what limits its output by ``max_length``, as bz2 and lz4 do."""

    def decompress(packed: bytes, limit: int) -> tuple[bytes, bool]:
        decompressor, parts, size = start(), [], 0
        data = packed
        while not decompressor.eof:
            part = decompressor.decompress(data, max_length=_STEP)
            data = b""
            size += len(part)
            if size > limit:
                raise TooLargeError(limit)
            if not part and decompressor.needs_input:
                break  # the input is at its end before the frame is
            parts.append(part)
        return b"".join(parts), decompressor.eof and not decompressor.unused_data

    return decompress


def _zstd(packed: bytes, limit: int) -> tuple[bytes, bool]:
    decompressor = zstandard.ZstdDecompressor(max_window_size=limit)
    claimed = zstandard.frame_content_size(packed)
    if claimed > limit:
        raise TooLargeError(limit)
    if claimed > 0:  # the library checks that it is true
        try:
            return decompressor.decompress(packed, allow_extra_data=False), True
        except zstandard.ZstdError:
            pass  # perhaps cut off: what there is, comes out below
    stream, parts, size = decompressor.decompressobj(), [], 0
    for start in range(0, len(packed), _INPUT):
        part = stream.decompress(packed[start : start + _INPUT])
        size += len(part)
        if size > limit:
            raise TooLargeError(limit)
        parts.append(part)
        if stream.eof:
            rest = bool(stream.unused_data) or start + _INPUT < len(packed)
            return b"".join(parts), not rest
    return b"".join(parts), False


# By the name that MCAP or ROS 1 gives to a chunk's compression.
DECOMPRESSORS: Mapping[str, Callable[[bytes, int], tuple[bytes, bool]]] = {
    "": _stored,
    "none": _stored,
    "bz2": _stepwise(bz2.BZ2Decompressor),
    "lz4": _stepwise(lz4.frame.LZ4FrameDecompressor),
    "zstd": _zstd,
}


def decompress(name: str, packed: bytes, *, partly: bool = False) -> bytes:
    """Decompress one chunk or message.

    Args:
      name: The compression, one of ``DECOMPRESSORS``.
      packed: The compressed bytes.
      partly: Whether to return what there is of content that was cut off.

    Raises:
      UNDECOMPRESSABLE: The compression is unknown, the content damaged, cut off or too large.
    """
    if name not in DECOMPRESSORS:
        valid = ", ".join(repr(one) for one in DECOMPRESSORS)
        raise ValueError(f"unknown compression {name[:20]!r}; valid: {valid}")
    content, whole = DECOMPRESSORS[name](packed, LARGEST_CHUNK)
    if not whole and not partly:
        raise ValueError("its compressed content does not end where it should")
    return content


def decompress_file(path: Path, target: Path) -> None:
    """Decompress a file of zstd into a new one.

    Raises:
      UNDECOMPRESSABLE: It is damaged or holds unreasonably much.
    """
    limit = min(LARGEST_FILE, max(LARGEST_CHUNK, path.stat().st_size * _EXPANSION))
    size = 0
    with (
        open_regular(path) as packed,
        target.open("wb") as out,
        zstandard.ZstdDecompressor(max_window_size=LARGEST_CHUNK).stream_reader(
            packed, read_across_frames=True
        ) as reader,
    ):
        while part := reader.read(_STEP):
            size += len(part)
            if size > limit:
                raise TooLargeError(limit)
            out.write(part)
