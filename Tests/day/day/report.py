"""The table of the day, in Markdown and in JSON."""


def markdown(cases):
    lines = ["| incident | noticed by | after | words | healthy again after |", "|---|---|---|---|---|"]
    for case in cases:
        healthy = f"{case.healthy_after:.1f} s" if case.healthy_after is not None else "-"
        title = f"**{case.name}**: {case.title}"
        if case.skipped:
            lines.append(f"| {title} | skipped | - | {cell(case.skipped)} | - |")
            continue
        rows = case.rows or [("-", None, "")]
        for number, (who, after, words) in enumerate(rows):
            lines.append(
                f"| {title if number == 0 else ''} | {cell(who)} | {'-' if after is None else f'{after:.1f} s'} | {cell(words)} "
                f"| {healthy if number == 0 else ''} |")
        for failure in case.failures:
            lines.append(f"| | **FAILED** | - | {cell(failure)} | |")
    return "\n".join(lines)


def cell(text):
    return " ".join(text.split()).replace("|", "\\|")


def document(cases):
    return {
        "cases": [
            {
                "name": case.name, "title": case.title, "skipped": case.skipped, "failures": case.failures,
                "healthyAfterSeconds": case.healthy_after,
                "noticed": [{"by": who, "afterSeconds": after, "words": words} for who, after, words in case.rows],
            } for case in cases],
        "failed": sum(bool(case.failures) for case in cases)}
