"""Verdicts as a table."""

from collections import Counter

from .judge import VERDICTS


def table(title, verdicts):
    """One row for each group, and the total."""
    groups = sorted({verdict.case.group for verdict in verdicts})
    rows = [(group, [verdict for verdict in verdicts if verdict.case.group == group]) for group in groups]
    if len(rows) > 1:
        rows.append(("all", verdicts))
    print(f"\n| {title} | n | " + " | ".join(VERDICTS) + " |")
    print("|---|---:|" + "---:|" * len(VERDICTS))
    for name, members in rows:
        counts = Counter(verdict.word for verdict in members)
        print(f"| {name} | {len(members)} | " + " | ".join(str(counts[word]) for word in VERDICTS) + " |")


def reasons(verdicts, verbose):
    """One line for each case that is not right."""
    for verdict in verdicts:
        if verdict.word == "right":
            continue
        reason = verdict.reason if verbose or len(verdict.reason) < 150 else verdict.reason[:147] + "..."
        print(f"{verdict.word:9} {verdict.case.name}: {reason}")


def is_bad(verdicts):
    return any(verdict.word in ("wrong", "unusable", "crashed") for verdict in verdicts)
