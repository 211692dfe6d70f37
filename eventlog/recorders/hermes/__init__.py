"""The recorder of Hermes gateways."""

from eventlog.recorders.hermes.recorder import HermesRecorder

__all__ = ["HermesRecorder"]
