"""Draw the animation of a result folder: ``python -m sysid_ros.video FOLDER``.

A process of its own, because a graphics driver that fails takes its process with it.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from sysid_ros.errors import DataError, SysidError
from sysid_ros.process_life import die_with_parent
from sysid_ros.results.folder import replace_file
from sysid_ros.results.result_folder import MODEL, RESIDUALS
from sysid_ros.results.signals_file import read_signals
from sysid_ros.video import VIDEO
from sysid_ros.video.drawing import animation, drawable_model
from sysid_ros.video.making import NOTHING_TO_DRAW
from sysid_ros.video.poses import poses, telling_stretch


def main(folder: Path) -> int:
    """Write the animation into ``folder``, or say in one line why there is none.

    Returns:
      The exit status.
    """
    die_with_parent()
    try:
        content = _draw(folder)
    except SysidError as error:
        print(error, file=sys.stderr)
        return NOTHING_TO_DRAW
    except Exception as error:  # what a graphics library raises has no common type
        print(str(error).replace("\n", " ") or type(error).__name__, file=sys.stderr)
        # Not an ordinary exit: what is left of a broken graphics library complains at the end.
        sys.stderr.flush()
        os._exit(1)
    replace_file(folder / VIDEO, content)
    return 0


def _draw(folder: Path) -> bytes:
    sequences = read_signals(folder / RESIDUALS)
    stretch = telling_stretch(sequences)
    if stretch is None:
        raise DataError("no position is measured")
    model = drawable_model(folder / MODEL)
    return animation(model, poses(model, sequences[stretch.sequence], stretch))


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
