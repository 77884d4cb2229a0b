#!/usr/bin/env python3
"""Writes what docs/performance.md shows of a run of the benchmark: its tables, and docs/images/performance.svg.

    plot.py [--check] [FILE]

FILE is what "agent-bench --json" has printed, by default docs/performance.json. `--check` compares instead of writing. Each table of the page
stands between two comments, <!-- figures: NAME --> and <!-- end -->.
"""

import json
import math
import os
import re
import sys

FOLDER = os.path.dirname(os.path.abspath(__file__))
PAGE = os.path.join(FOLDER, "..", "performance.md")
PLOT = os.path.join(FOLDER, "performance.svg")
PLACEMENTS = {"together": "one processor", "apart": "a processor each", "free": "free to move"}


def number(value):
    """Three digits: 0.0123, 1.23, 12.3, 123, 12,300."""
    if value == 0:
        return "0"
    digits = max(2 - math.floor(math.log10(abs(value))), 0)
    text = f"{round(value, 2 - math.floor(math.log10(abs(value)))):,.{min(digits, 4)}f}"
    return text


def table(header, rows):
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def latencies(figures):
    """The rows of the main table: the name, and the figures of each placement that was measured."""
    placements = [place for place in PLACEMENTS if any(row["processors"] == place for row in figures["latency"])]
    names = list(dict.fromkeys(row["level"] for row in figures["latency"]))
    found = {(row["level"], row["processors"]): row for row in figures["latency"]}
    return placements, [(name, [found[name, place] for place in placements]) for name in names]


def latency_table(figures):
    placements, rows = latencies(figures)
    header = ["one request at a time"] + [f"{PLACEMENTS[place]}: µs, ×, p99 ×" for place in placements]
    return table(header, [
        [name] + [f"{number(row['p50_us'])}, **{number(row['p50_ratio'])}**, {number(row['p99_ratio'])}" for row in cells]
        for name, cells in rows])


def load_table(figures):
    return table(["connections", "replies/s", "of the floor", "p50 µs, ×", "p99 µs, ×"], [
        [f"{round(row['connections'])}", number(row["replies_per_second"]), f"**{number(row['share'])}**",
         f"{number(row['p50_us'])}, {number(row['p50_ratio'])}", f"{number(row['p99_us'])}, {number(row['p99_ratio'])}"]
        for row in figures["load"]])


def process_table(figures):
    process = figures["process"]
    return table(["", "value", "× of"], [
        ["resident memory with one account, after these hits", f"{number(process['resident_kb'] / 1024)} MB", ""],
        *[[f"resident memory of {peer['name'].split(',')[0]}", f"{number(peer['resident_kb'] / 1024)} MB", ""]
          for peer in process["peers"]],
        ["from spawning to listening", f"{number(process['start_ms'])} ms", f"{number(process['start_ratio'])} of a C server"],
        *[[f"`{row['name']}`, whole process", f"{number(row['ms'])} ms", f"{number(row['ratio'])} of `/bin/true`"]
          for row in figures["commands"]]])


def flatness_table(figures):
    smallest = {}
    rows = []
    for row in figures["flatness"]:
        least = smallest.setdefault(row["dimension"], row)
        rows.append([f"{row['size']:,} {row['dimension']}"] + [
            f"{number(row[key])}, {number(row[key] / least[key])}"
            for key in ("repeated_p50_us", "repeated_p99_us", "new_p50_us", "new_p99_us")] + memory(row, least))
    # Earlier runs have no figures of the memory.
    header = ["among", "repeated p50 µs, ×", "repeated p99 µs, ×", "new p50 µs, ×", "new p99 µs, ×"]
    return table(header + (["resident, MB", "kB for each"] if memory(*figures["flatness"][:1] * 2) else []), rows)


def memory(row, least):
    """The cells of the memory, and of what one more takes of it; none if it was not measured."""
    if "resident_kb" not in row:
        return []
    more = row["size"] - least["size"]
    each = number(max((row["resident_kb"] - least["resident_kb"]) / more, 0)) if more else ""
    return [number(row["resident_kb"] / 1024), each]


def store_table(figures):
    return table(["accounts", "a write, ms", "first token, ms", "resident then, MB", "everything read, ms", "× of C", "resident then, MB"], [
        [f"{row['accounts']:,}", number(row["write_ms"]), number(row["answering_ms"]), number(row["first_resident_kilobytes"] / 1024),
         number(row["loaded_ms"]), number(row["loaded_ms"] / row["floor_ms"]), number(row["resident_kilobytes"] / 1024)]
        for row in figures["store"]])


def fairness_table(figures):
    return table(["beside", "p50 µs, ×", "p99 µs, ×", "agent's peak, MB"], [
        [row["attack"], f"{number(row['p50_us'])}, {number(row['p50_ratio'])}", f"{number(row['p99_us'])}, {number(row['p99_ratio'])}",
         number(row["agent_peak_kilobytes"] / 1024)] for row in figures["fairness"]])


def redemption_table(figures):
    one = figures["redemptions"][0]["time_ms"]
    return table(["accounts", "ms", "×", "flushes each"], [
        [str(row["accounts"]), number(row["time_ms"]), number(row["time_ms"] / one), number(row["flushes_each"])]
        for row in figures["redemptions"]])


def event_table(figures):
    return table(["subscribers", "signed out, ms", "last one reached, ms", "worst, ms"], [
        [f"{round(row['subscribers']):,}", number(row["signed_out_ms"]), number(row["reached_ms"]), number(row["worst_ms"])]
        for row in figures["events"]])


def cost_table(figures):
    return table(["request", "instructions", "allocations"], [
        [row["subject"], f"{round(row['instructions']):,}", number(max(round(row["allocations"], 2), 0))] for row in figures["costs"]])


def machine_line(figures):
    machine = figures["machine"]
    return (f"{machine['processors']} processors ({machine['processor']}), Linux {machine['linux']}; {figures['request_bytes']} bytes out, "
            f"{figures['reply_bytes']:,} bytes back.")


TABLES = {
    "machine": machine_line, "latency": latency_table, "load": load_table, "process": process_table, "flatness": flatness_table,
    "store": store_table, "fairness": fairness_table, "redemptions": redemption_table, "events": event_table, "costs": cost_table,
}


def page(text, figures):
    for name, build in TABLES.items():
        pattern = re.compile(rf"(<!-- figures: {name} -->\n)(?:.*?\n)??(<!-- end -->)", re.DOTALL)
        text, count = pattern.subn(lambda found: f"{found[1]}{build(figures)}\n{found[2]}", text)
        if count != 1:
            sys.exit(f"docs/performance.md has {count} places for the figures {name}")
    return text


def drawing(figures):
    """A bar for the median of each level, on a logarithmic scale, with client and server on a processor each."""
    placements, rows = latencies(figures)
    place = "apart" if "apart" in placements else placements[0]
    bars = sorted(((name, cells[placements.index(place)]) for name, cells in rows), key=lambda bar: bar[1]["p50_us"])
    width, left, right, top, step = 880, 210, 150, 64, 30
    height = top + step * len(bars) + 36
    least = math.floor(math.log10(min(row["p50_us"] for _, row in bars)))
    most = math.ceil(math.log10(max(row["p50_us"] for _, row in bars)))

    def x(value):
        return round(left + (width - left - right) * (math.log10(value) - least) / (most - least), 1)

    others = ("ssh-agent", "oidc-agent", "MSAL Python")
    shapes = []
    for power in range(least, most + 1):
        at, bottom = x(10 ** power), top + step * len(bars)
        label = f"{10 ** power:g} µs"
        shapes.append(f'<line class="grid" x1="{at}" y1="{top - 6}" x2="{at}" y2="{bottom}"/>')
        shapes.append(f'<text class="quiet" x="{at}" y="{bottom + 20}" text-anchor="middle">{label}</text>')
    for index, (name, row) in enumerate(bars):
        y = top + step * index
        kind = "floor" if name in ("C ping-pong", "NIO floor") else "other" if name.startswith(others) else "own"
        shapes.append(f'<text x="{left - 10}" y="{y + 15}" text-anchor="end">{name}</text>')
        shapes.append(f'<rect class="{kind}" x="{left}" y="{y}" width="{max(round(x(row["p50_us"]) - left, 1), 2)}" height="20" rx="3"/>')
        shapes.append(f'<text x="{x(row["p50_us"]) + 8}" y="{y + 15}">{number(row["p50_us"])} µs, {number(row["p50_ratio"])} ×</text>')
    body = "\n".join(shapes)
    return f"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img" aria-labelledby="title desc">
<title id="title">The time of a cached token</title>
<desc id="desc">Medians of one request at a time, with {PLACEMENTS[place]}, and their ratio to a C program that answers with as many bytes: {"; ".join(f"{name} {number(row['p50_us'])} microseconds" for name, row in bars)}.</desc>
<style>
  .page {{ fill: #ffffff }} .own {{ fill: #0b5cad }} .floor {{ fill: #8b95a1 }} .other {{ fill: #b4690e }} .grid {{ stroke: #dfe3e8 }}
  text {{ fill: #1b1f24; font: 14px system-ui, "DejaVu Sans", sans-serif }} .strong {{ font-weight: 600 }} .quiet {{ fill: #545d68; font-size: 12px }}
  @media (prefers-color-scheme: dark) {{
    .page {{ fill: #0e1116 }} .own {{ fill: #7ab8ff }} .floor {{ fill: #6b7684 }} .other {{ fill: #f0a94b }} .grid {{ stroke: #2a313b }}
    text {{ fill: #e8ebef }} .quiet {{ fill: #a4aebb }}
  }}
</style>
<rect class="page" width="{width}" height="{height}" rx="10"/>
<text class="strong" x="20" y="28">A cached token: median of one request at a time, {PLACEMENTS[place]}; × is the ratio to C</text>
<text class="quiet" x="20" y="48">blue: sso-agent and its modules; grey: servers that answer with constant bytes; orange: other programs</text>
{body}
</svg>
"""


def main():
    arguments = [argument for argument in sys.argv[1:] if argument != "--check"]
    with open(arguments[0] if arguments else os.path.join(FOLDER, "..", "performance.json"), encoding="utf-8") as file:
        figures = json.load(file)
    with open(PAGE, encoding="utf-8") as file:
        text = file.read()
    for path, content in ((PAGE, page(text, figures)), (PLOT, drawing(figures))):
        if "--check" not in sys.argv:
            with open(path, "w", encoding="utf-8") as file:
                file.write(content)
            continue
        with open(path, encoding="utf-8") as file:
            if file.read() != content:
                sys.exit(f"{os.path.relpath(path)} does not show the figures of docs/performance.json; run docs/images/plot.py")


if __name__ == "__main__":
    main()
