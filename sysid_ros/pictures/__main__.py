# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Draw an animation: ``python -m sysid_ros.pictures MODEL POSES VIDEO``.

A process of its own, because a graphics driver that fails takes its process with it.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np

from sysid_ros.errors import SysidError
from sysid_ros.files import replace_file
from sysid_ros.pictures.animation import animation, drawable_model
from sysid_ros.pictures.shown_poses import NOTHING_TO_DRAW, Poses
from sysid_ros.processes import die_with_parent


def main(model: Path, poses: Path, video: Path) -> int:
    """Write the animation, or say in one line why there is none.

    Returns:
      The exit status.
    """
    die_with_parent()
    try:
        with np.load(poses, allow_pickle=False) as arrays:
            shown = Poses(**arrays)
        content = animation(drawable_model(model), shown)
    except SysidError as error:
        print(error, file=sys.stderr)
        return NOTHING_TO_DRAW
    except Exception as error:  # what a graphics library raises has no common type
        print(str(error).replace("\n", " ") or type(error).__name__, file=sys.stderr)
        return 1
    replace_file(video, content)
    return 0


if __name__ == "__main__":
    status = main(*map(Path, sys.argv[1:]))
    # Not an ordinary exit: what is left of a broken graphics library complains at the end, and to
    # take a whole one down with the interpreter takes a fifth of the process's time.
    sys.stderr.flush()
    os._exit(status)
