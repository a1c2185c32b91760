"""`python -m segue` is the `segue` command."""

import sys

from .cli import main

sys.exit(main())
