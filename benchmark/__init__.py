"""Speed of the identification against ``mujoco.sysid``, as ratios within one run."""
