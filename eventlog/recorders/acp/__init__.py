"""The recorder of ACP connections."""

from eventlog.recorders.acp.recorder import AcpRecorder

__all__ = ["AcpRecorder"]
