"""The table of the day, in Markdown and in JSON."""
from .case import excerpt


def markdown(cases, width):
    """A line for each incident, and one for each who noticed it, in lines of so many characters."""
    lines = ["| incident, and who noticed it | after | words | healthy again after |", "|---|---|---|---|"]
    for case in cases:
        healthy = "-" if case.healthy_after is None else f"{case.healthy_after:.1f} s"
        lines.append(f"| **{cell(case.title)}** (`{case.name}`) | | {'skipped: ' + cell(case.skipped) if case.skipped else ''} | {healthy} |")
        for who, after, words, at in case.rows:
            begin, end = f"| {cell(who)} | {'-' if after is None else f'{after:.1f} s'} | ", " | |"
            text = excerpt(words, at, max(20, width - len(begin) - len(end)))
            while len(begin) + len(cell(text)) + len(end) > width and len(text) > 20:
                text = excerpt(words, at, len(text) - 1)
            lines.append(begin + cell(text) + end)
        lines += [f"| **FAILED** | - | {cell(failure)} | |" for failure in case.failures]
    return "\n".join(lines)


def cell(text):
    """Text in a table: what would be a column, a tag or a link is none."""
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")


def document(cases):
    return {
        "cases": [
            {
                "name": case.name, "title": case.title, "skipped": case.skipped, "failures": case.failures,
                "healthyAfterSeconds": case.healthy_after,
                "noticed": [{"by": who, "afterSeconds": after, "words": words, "at": at} for who, after, words, at in case.rows],
            } for case in cases],
        "failed": sum(bool(case.failures) for case in cases)}
