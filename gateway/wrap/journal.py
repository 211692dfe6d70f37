"""Where a wrapped line is recorded, although only one process may write a log (S-4).

Above this module: `acp`. Below it: the log's adapters.

Two editors are two processes. The second one cannot write the log that the first one holds, nor
can any while a gateway serves it: it records into a log of its own beside that one, which whoever
writes the main log takes in (`gateway.beside`).
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from secrets import token_hex

from eventlog import Log, LogBusy, open_log
from gateway.beside import beside
from gateway.wrap.ledger import Tell


@asynccontextmanager
async def journal(location: Path, tell: Tell) -> AsyncGenerator[Log, None]:
    """Open the log at *location*, or one beside it if another process writes that.

    Raises:
        EventLogError: neither can be opened.

    """
    async with AsyncExitStack() as stack:
        try:
            log = await stack.enter_async_context(open_log(location))
        except LogBusy as busy:
            own = beside(location) / token_hex(4)
            tell(f"{busy}; recording beside it, in {own}")
            log = await stack.enter_async_context(open_log(own))
        yield log
