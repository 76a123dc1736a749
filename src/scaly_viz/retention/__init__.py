"""Owns throwing recordings away: what a file holds, what of it is to go, and writing the rest anew."""
