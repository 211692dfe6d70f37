"""Names of a package that are imported when somebody asks for them (PEP 562): to start is felt.

Above this module: package roots. Below it: nothing. Type checkers see the imports themselves.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def later(package: str, modules: Mapping[str, str]) -> Callable[[str], Any]:
    """Return the `__getattr__` of *package*, whose *modules* hold the names given with them."""
    homes = {name: module for module, names in modules.items() for name in names.split()}

    def __getattr__(name: str) -> Any:  # noqa: N807 - it becomes the module's own
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        found = getattr(import_module(f"{package}.{homes[name]}"), name)
        setattr(sys.modules[package], name, found)
        return found

    return __getattr__
