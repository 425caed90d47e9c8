"""A fitted recording as motions of the robot: measured, and simulated, to be looked at."""
