"""The English of documents, messages, docstrings and comments: no phrase that had to be read twice.

Each row is such a phrase and what to write. The list may only grow.
"""

import re
import subprocess

import pytest
from checkout import ROOT

PHRASES = (
    (r"so (many|much)", "that many, or the number"),
    (r"in whose place", "in place of"),
    (r"by a word\b", "say how"),
    (r"\b(is|are|be) (told|said) by", "is shown by, follows from"),
    (r"\blet(s|ting)? go\b", "unload, drop, free"),
    (r"\banew\b", "again"),
    (r"of one's own", "custom, your own"),
    (r"worth nothing", "undefined"),
    (r"\b(what|that) few (need|ask|networks need)\b", "what is rarely needed"),
    (r"\b(still|one|those|yet) to come\b", "later, the next"),
    (r"says? \S+( \S+){0,4} rightly", "classifies correctly"),
    (r"counts? no more", "is counted once"),
    (r"of no use", "does not help"),
    (r"\bforet(old|ell|ells|elling)\b", "estimate, predict"),
    (r"\bseldom\b", "rarely"),
    (r"\btill\b", "until"),
    (r"\b(surer|calmer)\b", "more confident, with less noise"),
    (r"\bbehind (an?|the|one|its|that|those|these|it|them)\b(?! mask)", "after"),
    (r"\b(first|next|last|word|instruction|errors?) behind\b", "after"),
    (r"\bgoes when it (has|had)\b", "is unloaded after"),
    (
        r"\ba (letter|number|scale|byte|name|sample|line|row|gain) a (row|line|epoch|step|channel|class)\b",
        "one per",
    ),
    (r"\ban (entry|exponent) (a|an) \w+", "one per"),
    (r"in all (its )?\d+ bytes", "a total of"),
    (r"no time or size in this", "all times and sizes come from"),
    (r"\bhitherto\b|\bthereof\b|\bwhereof\b|\bwhereby\b", "the usual word"),
    (r"\bfunctions? of (its|their) own\b", "a separate function"),
    (r"\bis told\b", "is set to, receives"),
    (r"\bby halves\b", "in halves"),
    (r"as models have them", "the usual"),
    (r"\bas vectors take\b", "in a form that the compiler vectorizes"),
    (r"\bthat few use\b", "rarely used"),
    (r"\bwhat it is worth\b", "its effect, results"),
    (r"\bwhat \w+ loads\b", "the arguments of"),
    (r"\bwhatever comes\b", "say what is limited"),
    (r"\bno use for\b", "ignores"),
    (r"\bas of \W*(evaluate|fit|predict)\b", "as in"),
)
# A comment's next line begins with its sign.
WORDS = [(re.compile(phrase.replace(" ", r"[\s#/*]+"), re.IGNORECASE), instead) for phrase, instead in PHRASES]
PLACES = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs", "examples", "odt", "native")
KINDS = (".md", ".py", ".c", ".h", ".inc")


def files():
    command = ["git", "ls-files", "--", *PLACES]
    names = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True).stdout.split("\n")
    names = [name for name in names if name] or [
        str(file.relative_to(ROOT)) for place in PLACES for file in [ROOT / place, *(ROOT / place).rglob("*")]
    ]  # of an archive
    return sorted([ROOT / name for name in names if name.endswith(KINDS) and (ROOT / name).is_file()])


def found(text):
    return [
        (text[: match.start()].count("\n") + 1, " ".join(match[0].split()), instead)
        for pattern, instead in WORDS
        for match in pattern.finditer(text)
    ]


def test_no_sentence_has_a_phrase_that_had_to_be_read_twice():
    names = files()
    assert len(names) > 400
    wrong = [
        "%s:%d: %r: write %s" % (file.relative_to(ROOT), line, words, instead)
        for file in names
        for line, words, instead in found(file.read_text())
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(
    "sentence",
    (
        "micro_batch: so\n# many samples of a batch at a time",
        "Mackey-Glass is said by twenty samples",
        "an exponent a row",
        "a letter a row",
        "the planner goes when it has planned",
        "Then u and y are behind them.",
        "a loss of one's own",
        "What has counted counts no more.",
        "Least squares says 93 % of these rightly",
        "older than 1.19, or one to come",
        "It is a function of its own, so that it runs in registers.",
        "An iterable is told which",
        "``verbose`` is as of ``evaluate``.",
        "// What sum_lines loads.",
    ),
)
def test_such_a_phrase_is_found(sentence):
    assert found(sentence)


def test_the_usual_words_are_not():
    assert not found(
        "what learning leaves behind; the search behind recompute.py; the first number is of a channel. Overall"
    )


def test_the_pages_that_code_names_are_there():
    names = [file for file in files() if file.suffix != ".md"]
    named = {(file, page) for file in names for page in re.findall(r"\bdocs/[\w/]+\.md", file.read_text())}
    assert len(named) > 50
    assert not [(str(file), page) for file, page in named if not (ROOT / page).is_file()]
