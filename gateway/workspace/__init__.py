"""What an agent may use of this machine through its gateway: files and terminals, if it is let.

Nothing is offered unless the person who starts the gateway says so (`serve --allow-fs`,
`--allow-terminal`); an agent has hands of its own, and most need no others.
"""

from gateway.workspace.workspace import (
    NOTHING,
    REQUEST_CANCELLED,
    Offers,
    Workspace,
    workspace_of,
)

__all__ = ["NOTHING", "REQUEST_CANCELLED", "Offers", "Workspace", "workspace_of"]
