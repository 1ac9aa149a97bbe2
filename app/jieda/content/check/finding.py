"""What a rule finds, and what to do about it, in a sentence."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RuleFinding:
    """One thing wrong. `where` is the file's path below its content directory."""

    where: str
    line: int
    message: str


HINTS: Mapping[str, str] = {
    "anywhere": "Say in both editions whether the fix holds for the logs of any program.",
    "body": "Write the answer below the front matter, under one of the section titles.",
    "case": "Rename one of the two: some file systems cannot tell them apart.",
    "contrast": "Take a darker colour for light pages, or a lighter one for dark pages.",
    "doubt": "Look at what the line says, mend the entry, then delete the line.",
    "duplicate": "Join the two entries, or word the title or alias so that each is found by its own.",
    "encoding": "Save the file as UTF-8, without control characters.",
    "field": "See the table of fields in docs/content-format.md for what it must be.",
    "fix": "Say in the fix itself what to change: it is shown without the rest of the page.",
    "formerly": "Take the old address out of one of the entries, or of the one that has it as its own id.",
    "front-matter": "Start the file with front matter between two lines of ---.",
    "identifier": "Add what is missing to the other edition, or take it out of this one.",
    "kind": "Add the field or section that an entry of this kind needs, or change its kind.",
    "link": "Correct the address, or take the link out.",
    "long-fix": "Say it shorter or in a table, and move versions, dates and reasons to Notes.",
    "own-words": "Word it as a reader would, or so that it is told from what other entries say.",
    "place": "Move the file to where docs/content-format.md says that such files lie.",
    "related": "Correct the id, or take it out.",
    "repeated-word": "Join the two groups, or take the word out of one of them.",
    "sample": "Add logs to the entry's folder in samples/, or a signature that finds those that are there.",
    "section": "Use the section titles that docs/content-format.md lists, each once.",
    "shared": "Say `confidence: likely` in the signature, or make it more specific.",
    "signature": "Quote the line, keep something in it that only this failure prints, and try it on the samples.",
    "size": "Make the file smaller, or divide the entry.",
    "slug": "Rename the file: 1 to 80 of a-z, 0-9 and -, then .md.",
    "split-word": "Add the word to dictionary.txt.",
    "sync": "Bring the two editions in step, then run `jieda sync` with the entry's id.",
    "twins": "Make the field or the sections the same in both editions.",
    "two-exact": "Say `unless` or `confidence: likely` in the signature, or make it more specific.",
    "unanswered": "Write an entry that uses one of the words, or take the group out.",
    "undiagnosed": "Make the signature or the symptoms of the entry tell more.",
    "unfinished": "Write what the skeleton left open, or keep the file a draft.",
    "unknown-key": "Correct the name of the field, or take it out.",
    "unknown-tag": "Use an id of taxonomy.yaml, or add this one there.",
    "unreadable": "Make the file readable for whoever runs Jieda.",
    "yaml": "Correct the front matter: quote a text that has `: `, # or brackets in it.",
}
"""By rule; a test holds that every rule has its hint."""
