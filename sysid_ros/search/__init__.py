"""Looking for a good start all over the bounds, where a fit from one start may be led astray."""
