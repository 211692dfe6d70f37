"""A slower disk than there is: ratios that depend on a sync can be measured for another machine's.

Above this module: `__main__`. Below it: `disk.c`, which stands before the calls that sync.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

SOURCE = Path(__file__).with_suffix(".c")


def on_slow_disk(arguments: list[str], sync_us: float) -> int:
    """Run `python -m bench` with *arguments* where each sync takes *sync_us* µs at least.

    Returns its exit code. Processes of peers that it starts have the same disk.
    """
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder, "disk.so")
        build = ["cc", "-shared", "-fPIC", "-O1", "-o", str(library), str(SOURCE)]
        subprocess.run(build, check=True)
        environment = {**os.environ, "LD_PRELOAD": str(library), "SYNC_US": str(sync_us)}
        again = [sys.executable, "-m", "bench", *arguments]
        return subprocess.run(again, env=environment, check=False).returncode
