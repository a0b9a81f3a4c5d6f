"""``python -m sash.cli``."""

from sash.cli import main

main()
