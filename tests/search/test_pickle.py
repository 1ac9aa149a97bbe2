"""Nothing is unpickled: what indexes, searches and reloads runs in a process in which that is forbidden."""

import subprocess
import sys

import pytest

from tests.support.server import ROOT

FORBIDDEN = """
import pickle, sys

def refuse(*_, **__):
    raise AssertionError("something was unpickled")

class Refusing:
    __init__ = refuse

pickle.load = pickle.loads = pickle._load = pickle._loads = refuse
pickle.Unpickler = pickle._Unpickler = Refusing

import pytest

sys.exit(pytest.main(["-q", "-x", "-p", "no:cacheprovider", "-p", "no:xdist", *sys.argv[1:]]))
"""
"""Before anything else is imported, so that `from pickle import loads` has it as well."""

TESTS = (
    "tests/search/test_embedded.py::TestIndexOfSegments::test_scores_agree_with_the_formula_written_out",
    "tests/search/test_embedded.py::TestIndexOfSegments::test_terms_and_how_many_documents_hold_them_are_known",
    "tests/search/test_writer.py",
    "tests/search/test_store.py",
    "tests/search/test_searcher.py::test_a_slip_is_corrected_and_said_so",
    "tests/search/test_searcher.py::test_a_chinese_phrase_is_a_phrase",
    "tests/search/test_whoosh.py::test_queries_are_answered_by_our_columns_alone",
    "tests/snapshot/test_incremental.py",
)
"""Some of what indexes, finds and reloads: each door to the disk, and not every case behind it."""


@pytest.mark.slow
def test_index_search_and_reload_unpickle_nothing() -> None:
    command = [sys.executable, "-c", FORBIDDEN, "--hypothesis-profile", "quick", *TESTS]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-2000:]
