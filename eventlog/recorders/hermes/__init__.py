"""The recorder of Hermes gateways."""

from eventlog.recorders.hermes.methods import is_secret
from eventlog.recorders.hermes.recorder import HermesRecorder
from eventlog.recorders.hermes.wire import Question

__all__ = ["HermesRecorder", "Question", "is_secret"]
