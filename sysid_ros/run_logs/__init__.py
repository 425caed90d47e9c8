"""How a run got on, for people and for the tools that they watch runs with."""
