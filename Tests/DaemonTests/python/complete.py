"""Types command lines with a Tab in a real shell, in the home folder and on a terminal of its own, and prints what they become.

Arguments: the shell (bash, zsh or fish), the script with the completions, and a JSON list of command lines. Prints a JSON list: of each
line an object with the text after the Tab ("line") and what the terminal has shown ("screen").
"""

import json
import os
import pty
import select
import signal
import sys
import tempfile

shell, script, lines = sys.argv[1], os.path.abspath(sys.argv[2]), json.loads(sys.argv[3])
home = tempfile.TemporaryDirectory()
folder = home.name
buffer = os.path.join(folder, "buffer")
DUMP = b"\x0f"  # Ctrl-O writes the line into a file.
CLEAR = b"\x15"
PROMPT = "READY> "

SETTINGS = {
    "bash": f"""
PS1='{PROMPT}'
bind 'set show-all-if-ambiguous on' 'set completion-query-items 0' 'set page-completions off' 'set enable-bracketed-paste off'
bind -x '"\\C-o": printf "%s|" "$READLINE_LINE" > {buffer}.new; mv {buffer}.new {buffer}'
. '{script}'
set -u
""",
    "zsh": f"""
PROMPT='{PROMPT}'
unset zle_bracketed_paste
fpath=({folder} $fpath)
autoload -U compinit && compinit -u -D
LISTMAX=10000
dump() {{ printf "%s|" "$BUFFER" > {buffer}.new; mv {buffer}.new {buffer} }}
zle -N dump
bindkey '^O' dump
bindkey '^U' kill-whole-line
""",
    "fish": f"""
function fish_prompt; echo -n '{PROMPT}'; end
function fish_greeting; end
source '{script}'
bind \\co 'printf "%s|" (commandline) > {buffer}.new; mv {buffer}.new {buffer}'
bind \\cu 'commandline ""'
""",
}


def start():
    settings = os.path.join(folder, ".zshrc" if shell == "zsh" else "settings")
    with open(settings, "w") as file:
        file.write(SETTINGS[shell])
    if shell == "zsh":
        os.symlink(script, os.path.join(folder, "_ssoctl"))
    arguments = {
        "bash": ["bash", "--noprofile", "--rcfile", settings, "-i"],
        "zsh": ["zsh", "-i"],
        "fish": ["fish", "--no-config", "-i", "-C", f"source {settings}"],
    }[shell]
    child, terminal = pty.fork()
    if child == 0:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.chdir(os.environ["HOME"])
        os.environ.update(ZDOTDIR=folder, TERM="xterm", LC_ALL="C.UTF-8", COLUMNS="400", HISTFILE="")
        os.execvp(arguments[0], arguments)
    return child, terminal


def read(terminal, is_done):
    """What the terminal shows until the condition holds."""
    shown = b""
    while not is_done(shown):
        if select.select([terminal], [], [], 0.02)[0]:
            try:
                data = os.read(terminal, 65536)
            except OSError:
                sys.exit(f"{shell} has ended: {shown.decode(errors='replace')}")
            shown += data
            # A terminal answers when it is asked where the cursor is, and what it is.
            if b"\x1b[6n" in data:
                os.write(terminal, b"\x1b[1;1R")
            if b"\x1b[c" in data or b"\x1b[0c" in data:
                os.write(terminal, b"\x1b[?6c")
    return shown


def complete(terminal):
    """What each of the lines becomes."""
    read(terminal, lambda shown: PROMPT.encode() in shown)
    results = []
    for line in lines:
        if os.path.exists(buffer):
            os.remove(buffer)
        os.write(terminal, CLEAR + line.encode() + b"\t" + DUMP)
        shown = read(terminal, lambda _: os.path.exists(buffer))
        with open(buffer) as file:
            results.append({"line": file.read()[:-1], "screen": shown.decode(errors="replace")})
    return results


with home:
    child, terminal = start()
    try:
        print(json.dumps(complete(terminal)))
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
