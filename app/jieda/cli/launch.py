"""The `jieda` script: becomes the program that a command belongs to, and imports none of them.

A health check runs every few seconds for years, and whoever checks a file waits for the check: neither needs what a
server is made of. In a process that has imported the whole application a health check would cost a second of CPU; alone
it costs a tenth of that.
"""

import os
import sys
from importlib import import_module

HEALTH = "health"
PROGRAMS: dict[str, tuple[str, str]] = {
    HEALTH: ("jieda.cli.health", "Ask a running server whether it is ready."),
    "serve": ("jieda.cli.serve", "Serve pages and API."),
    "search": ("jieda.cli.search_commands", "Search the content."),
    "read": ("jieda.cli.search_commands", "Print an entry as Markdown."),
    "index": ("jieda.cli.search_commands", "Build the index, so that a server starts at once."),
    "diagnose": ("jieda.cli.diagnose", "Explain a log by the entries that are about it."),
    "run": ("jieda.cli.run_command", "Run a command, and where it fails explain why."),
    "mcp": ("jieda.cli.mcp_command", "Serve coding agents on standard input and output."),
    "check": ("jieda.cli.check_command", "Report everything wrong in the content."),
    "init": ("jieda.cli.init_command", "Begin a site of your own."),
    "new": ("jieda.cli.new_command", "Write the skeleton of an entry."),
    "sync": ("jieda.cli.maintenance_commands", "Declare the two editions of an entry equal."),
    "mv": ("jieda.cli.maintenance_commands", "Give an entry another id."),
    "fmt": ("jieda.cli.maintenance_commands", "Put the front matter of files in order."),
    "stats": ("jieda.cli.maintenance_commands", "Count the entries."),
    "import": ("jieda.cli.import_command", "Turn pages of questions and answers into drafts."),
    "export": ("jieda.cli.export_command", "Write the site as files, with a search in the browser."),
    "load": ("jieda.cli.load_command", "Load entries from lines of JSON."),
    "eval": ("jieda.cli.eval_command", "Measure search and diagnosis over judged queries."),
    "votes": ("jieda.cli.feedback_commands", "Print how often entries solved a problem."),
    "gaps": ("jieda.cli.feedback_commands", "Print what was asked in vain."),
}
"""The module that runs each command, and what the command does; `jieda.cli.main` runs any, and lists them."""

RUN = "import runpy; runpy.run_module('{}', run_name='__main__')"
"""Not `-m`: the workers of a server, new processes all, would import that module before they do anything else, and with
it the whole application; whoever kills the server meanwhile would wait for it."""


ALLOCATION = {"MALLOC_ARENA_MAX": "1", "MALLOC_TRIM_THRESHOLD_": "131072"}
"""How glibc keeps memory that was freed: in one place, and not for long. Threads that build and open generations all
day would otherwise leave holes in an arena each."""


ALL = "jieda.cli.main"
"""What lists the commands and tells the version: too little to start another interpreter for."""


def main() -> None:
    """Becomes the program, arguments and all."""
    name = sys.argv[1] if len(sys.argv) > 1 else ""
    if name not in PROGRAMS:
        sys.exit(import_module(ALL).main(prog_name="jieda"))
    for variable, value in ALLOCATION.items():
        os.environ.setdefault(variable, value)
    program, _ = PROGRAMS[name]
    rest = sys.argv[2:] if name == HEALTH else sys.argv[1:]
    os.execv(sys.executable, [sys.executable, *_flags(), "-c", RUN.format(program), *rest])  # noqa: S606 - our own module


def _flags() -> list[str]:
    """Options of the next interpreter: those of this one that it must have, too, and nothing is imported from the
    current folder, which may be a clone of whose files nobody knows what they are."""
    return ["-P", *(f"-W{option}" for option in sys.warnoptions)]
