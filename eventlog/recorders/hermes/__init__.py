"""The recorder of Hermes gateways."""

from eventlog.recorders.hermes.methods import is_secret
from eventlog.recorders.hermes.recorder import HermesRecorder

__all__ = ["HermesRecorder", "is_secret"]
