"""Choosing among model structures by how well each predicts what it has not seen."""
