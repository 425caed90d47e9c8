"""Exact derivatives of simulations along one rollout; see docs/engine.md."""
