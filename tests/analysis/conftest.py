"""One analyzer for all tests of analysis: building one takes a second."""

import pytest

from app.analysis.pipeline import Analyzer
from app.content.load import load_library
from tests.support.server import ROOT


@pytest.fixture(scope="session")
def analyzer() -> Analyzer:
    """The analyzer that the shipped content is served with."""
    return Analyzer(load_library([ROOT / "content"]).dictionary)
