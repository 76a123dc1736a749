"""Owns what ``scaly-viz run`` does in the processes of its script: what is heard of renders, and what is kept."""
