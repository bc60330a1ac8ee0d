"""Run the command as `python -m lorenyi`."""

import sys

from lorenyi.cli import main

if __name__ == "__main__":
    sys.exit(main())
