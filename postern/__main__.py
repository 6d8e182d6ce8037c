"""Makes `python -m postern` run the command `postern`."""

from postern.cli import main

main()
