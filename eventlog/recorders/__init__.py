"""Recorders: what goes over a wire, turned into events; the same code live and for import."""

from eventlog.recorders.acp import AcpRecorder
from eventlog.recorders.hermes import HermesRecorder, Question, is_secret
from eventlog.recorders.recorder import (
    Direction,
    Entry,
    NameSession,
    Note,
    Observation,
    Recorder,
    Slot,
    Unrecorded,
)

__all__ = [
    "AcpRecorder",
    "Direction",
    "Entry",
    "HermesRecorder",
    "NameSession",
    "Note",
    "Observation",
    "Question",
    "Recorder",
    "Slot",
    "Unrecorded",
    "is_secret",
]
