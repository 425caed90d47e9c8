# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Print the name of an OpenBLAS kernel that this processor can run and does not choose itself.

Kernels of other processors add up in another order, so that what is decided at the size of
rounding comes out differently. Run by ``make test-kernels``.
"""

from __future__ import annotations

import sys

import numpy as np  # noqa: F401  loads OpenBLAS, which then says what it chose
from threadpoolctl import threadpool_info

# OpenBLAS's names, the newest first; each runs on processors of those before it.
KERNELS = {
    "Haswell": {"SkylakeX", "Cooperlake", "SapphireRapids"},
    "Sandybridge": {"Haswell", "Zen"},
}


def other_kernel(chosen: str) -> str:
    """A kernel for a processor for which OpenBLAS chose ``chosen``."""
    for kernel, processors in KERNELS.items():
        if chosen in processors:
            return kernel
    return "Prescott"  # what every x86-64 processor runs


def main() -> int:
    """Print it."""
    chosen = [found["architecture"] for found in threadpool_info() if "architecture" in found]
    if not chosen:
        print("test-kernels: NumPy does not use OpenBLAS here", file=sys.stderr)
        return 1
    print(other_kernel(chosen[0]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
