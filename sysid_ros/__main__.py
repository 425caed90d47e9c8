# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Runs the command line: ``sysid_ros`` or ``python -m sysid_ros``."""

import os
import signal
import sys

_THREADS = ("OPENBLAS_NUM_THREADS", "GOTO_NUM_THREADS", "OMP_NUM_THREADS")


def main() -> int:
    """Run a command; see ``cli``. A Ctrl-C while it is being imported just ends the process.

    Matrices are tall and narrow: OpenBLAS's threads would not help, and each spins for 0.03
    CPU s whenever it has worked, its own start among it. Whoever asks for some gets them.
    """
    if os.environ.keys().isdisjoint(_THREADS):
        os.environ["OPENBLAS_NUM_THREADS"] = "1"
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # not ignored, as by nohup
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from sysid_ros import cli

    return cli.main()


if __name__ == "__main__":
    sys.exit(main())
