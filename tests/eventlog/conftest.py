"""Lets failures inside the shipped suite say as much as those inside tests."""

import pytest

pytest.register_assert_rewrite("eventlog.conformance")
