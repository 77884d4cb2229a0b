#!/usr/bin/env python3
"""Records docs/images/demo.svg: runs the commands below in a terminal, against the emulator, and writes what it showed as an animated SVG.

record.py FOLDER_OF_THE_BUILT_PROGRAMS [OUTPUT]: the programs are real, the seed of the emulator is fixed, and what differs from run to
run (ports, tokens, times) is replaced, so that the same programs give the same file. `--check` compares instead of writing.

The SVG has no script. Each line appears at its time by a CSS animation; who prefers reduced motion sees the last screen.
"""

import difflib
import html
import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import tempfile
import time

COLUMNS, ROWS = 96, 22
# What is typed, and for how long its result is looked at, in seconds.
SCENES = [
    ("ssoctl app add graph --client-id 11111111-2222-4333-8444-555555555555 --scope User.Read", 2.0),
    ("ssoctl sign-in", 3.5),
    ("ssoctl token --header | cut -c 1-60", 2.5),
    ("ssoctl token graph --decode | head -4", 3.5),
    ("legacy-mail --silent --user-id alice@contoso.example   # an ADAL app: the same sign-in", 4.0),
    ("ssoctl accounts", 3.0),
    ("ssoctl sign-out alice", 4.5),
]
PASSED = ["LD_LIBRARY_PATH", "LD_PRELOAD", "LSAN_OPTIONS", "TSAN_OPTIONS"]
TYPING = 0.03  # seconds for each character
FONT = 'ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace'
WIDTH, LINE, MARGIN, TOP = 8.45, 20, 18, 46


def terminal(command, environment, folder):
    """Run a command in a terminal of its own, and return what it wrote."""
    leader, follower = pty.openpty()
    subprocess.run(["stty", "cols", str(COLUMNS), "rows", str(ROWS)], stdin=follower, check=True)
    process = subprocess.Popen(
        ["sh", "-c", command], stdin=follower, stdout=follower, stderr=follower, env=environment, cwd=folder,
        start_new_session=True, preexec_fn=lambda: __import__("fcntl").ioctl(0, __import__("termios").TIOCSCTTY, 0))
    os.close(follower)
    written = b""
    while True:
        ready, _, _ = select.select([leader], [], [], 60)
        if not ready:
            sys.exit(f"nothing came for a minute: {command}")
        try:
            piece = os.read(leader, 65536)
        except OSError:  # the terminal has been closed
            break
        if not piece:
            break
        written += piece
    os.close(leader)
    if process.wait() not in (0, 2):
        sys.exit(f"{command}: status {process.returncode}\n{written.decode()}")
    return written.decode()


def lines(text):
    """The lines that a terminal shows in the end: a line that is written over counts once; styles and links are dropped."""
    text = re.sub(r"\x1b\]8;[^\x07\x1b]*(\x07|\x1b\\)", "", text)
    shown = []
    for line in text.replace("\r\n", "\n").split("\n"):
        line = line.split("\r")[-1] if "\r" in line else line
        shown.append(re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", line).rstrip())
    while shown and not shown[-1]:
        shown.pop()
    return shown


def settled(line, folder, url):
    """A line without what differs between runs."""
    line = line.replace(f"{url}", "https://login.microsoftonline.com").replace(folder, "/home/alice")
    line = re.sub(r"http://127\.0\.0\.1:\d+/\S+", "http://127.0.0.1:41234/k3Xv9…", line)
    line = re.sub(r"Bearer \S+", "Bearer eyJhbGciOiJSUzI1NiIsInR5cCI6IkpXVCIs", line)
    line = re.sub(r"(\"(?:exp|iat|nbf)\"\s*:\s*)\d+", r"\g<1>1795395600", line)
    line = re.sub(r"\d\d:\d\d(:\d\d)?", "14:32", line)
    line = re.sub(r"\b20\d\d-\d\d-\d\d\b", "2026-11-23", line)
    # The host of a tenant, which the table of accounts shows for other clouds than the public one.
    line = re.sub(r" at 127\.0\.0\.1:\d+", "", line)
    if line.lstrip().startswith("NAME "):
        line = re.sub(r"(TENANT {30}) +(?=APPS)", r"\1  ", line)
    return line


def wrapped(line):
    """A line as the rows of the terminal."""
    return [line[at : at + COLUMNS] for at in range(0, len(line), COLUMNS)] or [""]


def record(programs):
    """The commands, each with the lines that it showed."""
    scenes = []
    with tempfile.TemporaryDirectory() as folder:
        environment = {
            "PATH": f"{programs}:/usr/bin:/bin", "HOME": folder, "TERM": "xterm-256color", "NO_COLOR": "1", "LANG": "C.UTF-8",
            # Of a toolchain that is not installed in the system's folders, and of programs that are built with a sanitizer.
            **{name: os.environ[name] for name in PASSED if name in os.environ},
            # Noon: a token that ends on another day has its date in the tables.
            "TZ": f"NOON{time.gmtime().tm_hour - 12:+d}",
            "SSO_AGENT_SOCK": f"{folder}/run/agent.sock", "SSO_AGENT_STATE_DIR": f"{folder}/state",
            "SSO_AGENT_CONFIG": f"{folder}/.config/sso-agent/config.toml", "SSO_AGENT_SYSTEM_CONFIG": f"{folder}/system",
            # The browser of the recording follows redirects; the emulator signs the only user in without a page.
            "BROWSER": "curl -sSL -o /dev/null %s",
        }
        os.makedirs(f"{folder}/.config/sso-agent", mode=0o700)
        open(environment["SSO_AGENT_CONFIG"], "w").close()
        emulator = subprocess.Popen(
            ["entra-emulator", "--user", "alice@contoso.example"], env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        agent = subprocess.Popen(["sso-agent", "--allow-loopback-http"], env=environment, stderr=subprocess.PIPE)
        try:
            url = json.loads(emulator.stdout.readline())["url"]
            while b"listening on" not in agent.stderr.readline():
                pass
            for command, pause in SCENES:
                authority = f" --authority {url}/common"
                run = command.replace("--scope User.Read", f"--scope User.Read{authority}")
                run = re.sub(r"^legacy-mail ", f"legacy-mail --client-id 11111111-2222-4333-8444-555555555555{authority}"
                             " --resource https://graph.microsoft.com ", run)
                shown = [settled(line, folder, url) for line in lines(terminal(run, environment, folder))]
                shown = [row for line in shown if "authority:" not in line for row in wrapped(line)]
                scenes.append((command, shown, pause))
        finally:
            for process in [agent, emulator]:
                process.send_signal(signal.SIGTERM)
                process.wait()
    return scenes


def drawing(scenes):
    """The SVG: a screen for each moment at which something changes, shown from that moment to the next."""
    frames, screen, time = [], [], 0.4
    for command, shown, pause in scenes:
        typed = command if len(command) <= COLUMNS - 2 else command[: COLUMNS - 3] + "…"
        frames.append((time, screen + [("$", "")]))
        for end in range(4, len(typed) + 4, 4):
            time += TYPING * 4
            frames.append((time, screen + [("$", typed[:end])]))
        time += 0.35
        screen = screen + [("$", typed)] + [("", line) for line in shown] + [("", "")]
        frames.append((time, list(screen)))
        time += pause
    total = round(time + 1.5, 2)
    height = TOP + ROWS * LINE + 12
    width = round(2 * MARGIN + COLUMNS * WIDTH)

    style, body = [], []
    # Each distinct line of text at each place is drawn once, with the intervals in which it is visible.
    visible = {}
    for number, (start, content) in enumerate(frames):
        end = frames[number + 1][0] if number + 1 < len(frames) else total
        for row, line in enumerate(content[-ROWS:]):
            if line == ("", ""):
                continue
            spans = visible.setdefault((row, line), [])
            if spans and spans[-1][1] == start:
                spans[-1][1] = end
            else:
                spans.append([start, end])
    animations = {}
    for (row, (prompt, text)), spans in sorted(visible.items(), key=lambda item: (item[1][0][0], item[0])):
        steps = []
        for start, end in spans:
            steps.append(f"{100 * start / total:.2f}%{{opacity:1}}{min(100 * end / total, 100):.2f}%{{opacity:0}}")
        is_last = spans[-1][1] == total
        if is_last:
            steps[-1] = steps[-1].rsplit("}", 2)[0] + "}"
            steps[-1] = f"{100 * spans[-1][0] / total:.2f}%,100%{{opacity:1}}"
        key = "0%{opacity:0}" + "".join(steps)
        name = animations.setdefault(key, f"a{len(animations)}")
        y = TOP + row * LINE + 14
        sign = '<tspan class="p">$ </tspan>' if prompt else ""
        kind = ' class="c"' if prompt else ""
        last = " last" if is_last else ""
        body.append(
            f'<text{kind} class="t{last}" style="animation-name:{name}" x="{MARGIN}" y="{y}">{sign}{html.escape(text)}</text>'
            .replace(' class="c" class="t', ' class="c t'))
    for key, name in animations.items():
        style.append(f"@keyframes {name}{{{key}}}")
    description = html.escape("; ".join(command for command, _, _ in scenes))
    return f"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img" \
aria-labelledby="title desc">
<title id="title">sso-agent in a terminal</title>
<desc id="desc">A recording of these commands: {description}</desc>
<style>
.w{{fill:#f7f8fa;stroke:#c4cad2}}.b{{fill:#c4cad2}}text{{font:14px {FONT};white-space:pre;fill:#24292f}}
.c{{font-weight:600;fill:#0b1f33}}.p{{fill:#0b5cad}}
.t{{opacity:0;animation:{total}s step-end infinite}}
@media (prefers-color-scheme:dark){{.w{{fill:#0e1116;stroke:#3d4754}}.b{{fill:#3d4754}}text{{fill:#d7dde4}}
.c{{fill:#ffffff}}.p{{fill:#7ab8ff}}}}
@media (prefers-reduced-motion:reduce){{.t{{animation:none}}.last{{opacity:1}}}}
{chr(10).join(style)}
</style>
<rect class="w" x=".5" y=".5" width="{width - 1}" height="{height - 1}" rx="10"/>
<circle class="b" cx="22" cy="20" r="6"/><circle class="b" cx="42" cy="20" r="6"/><circle class="b" cx="62" cy="20" r="6"/>
{chr(10).join(body)}
</svg>
"""


def main():
    arguments = [argument for argument in sys.argv[1:] if argument != "--check"]
    if not arguments:
        sys.exit("usage: record.py [--check] FOLDER_OF_THE_BUILT_PROGRAMS [OUTPUT]")
    output = arguments[1] if len(arguments) > 1 else os.path.join(os.path.dirname(os.path.abspath(__file__)), "demo.svg")
    image = drawing(record(os.path.abspath(arguments[0])))
    if "--check" in sys.argv:
        with open(output, encoding="utf-8") as file:
            recorded = file.read()
        lines = [re.findall(r"<text[^>]*>(.*)</text>", text) for text in (recorded, image)]
        changes = "\n".join(line for line in difflib.unified_diff(*lines, lineterm="", n=0) if line[:2] not in ("--", "++", "@@"))
        sys.exit(0 if recorded == image else f"{output} is not what the programs show; run docs/images/record.py\n{changes}")
    with open(output, "w", encoding="utf-8") as file:
        file.write(image)


if __name__ == "__main__":
    main()
