"""Owns ``python -m scaly_viz``, the same as the command ``scaly-viz``."""

from scaly_viz.cli import main

if __name__ == "__main__":
    main()
