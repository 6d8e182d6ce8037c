"""`python -m postern` is the same as the command `postern`."""

from postern.cli import main

main()
