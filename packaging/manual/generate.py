#!/usr/bin/env python3
"""Writes the manual pages: of the programs from what their `--help` says, of the configuration and the protocol from docs/.

Usage: generate.py FOLDER_OF_THE_PROGRAMS FOLDER_OF_THE_PAGES
"""

import datetime
import json
import os
import pathlib
import re
import subprocess
import sys

# It may run as root, whose files in the sources would be in the way later.
sys.dont_write_bytecode = True
import mdoc  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
CONFIGURATION, POLICY, PROTOCOL = "docs/configuration.md", "docs/policy.md", "Protos/PROTOCOL.md"


def document(path):
    return (ROOT / path).read_text(encoding="utf-8")


def section(path, name):
    """The text of a section of a document, without its heading."""
    match = re.search(rf"^## {re.escape(name)}$(.*?)(?=^## |\Z)", document(path), re.M | re.S)
    if not match:
        sys.exit(f"{path} has no section “{name}”, from which a manual page is made")
    return match.group(1).strip()


def rows(path, name):
    """The rows of the table in a section."""
    lines = [line for line in section(path, name).split("\n") if line.startswith("|")]
    return [mdoc.cells(line) for line in lines[2:]]


class Release:
    """The version and the date of the pages."""

    def __init__(self, programs):
        self.version = run(programs / "ssoctl", "--version").strip()
        heading = re.search(r"^## (.*)$", document("CHANGELOG.md"), re.M).group(1)
        if self.version not in heading:
            sys.exit(f"ssoctl is of version {self.version}, and CHANGELOG.md begins with “{heading}”")
        dated = re.search(r"\d{4}-\d\d-\d\d", heading)
        day = datetime.date.fromisoformat(dated.group()) if dated else self.commit_date()
        self.date = f"{day:%B} {day.day}, {day.year}"

    @staticmethod
    def commit_date():
        """Of a version without a date: that of the sources."""
        seconds = os.environ.get("SOURCE_DATE_EPOCH")
        if not seconds:
            git = subprocess.run(["git", "-C", ROOT, "log", "-1", "--format=%ct"], capture_output=True, text=True)
            seconds = git.stdout.strip() or (ROOT / "CHANGELOG.md").stat().st_mtime
        return datetime.datetime.fromtimestamp(int(float(seconds)), datetime.timezone.utc).date()


def run(*words):
    ended = subprocess.run([str(word) for word in words], capture_output=True, text=True)
    if ended.returncode:
        sys.exit(f"{words[0]} has failed: {ended.stderr}")
    return ended.stdout


def sentence(text):
    """A description as `.Nd` wants it: it begins in lower case, and has no full stop."""
    text = text.rstrip(".")
    return text if text[:2].isupper() else text[:1].lower() + text[1:]


class Discussion:
    """The text below a command's abstract: paragraphs, and at its end examples."""

    def __init__(self, text):
        prose, _, examples = (text or "").partition("Examples:\n")
        self.paragraphs = [p.strip() for p in prose.split("\n\n") if p.strip()]
        self.examples = [line[2:] if line.startswith("  ") else line for line in examples.split("\n") if line.strip()]
        self.statuses = []
        for paragraph in self.paragraphs:
            match = re.search(r"Exit status: (.*?)\.(\s|$)", paragraph)
            if match:
                self.statuses = [re.match(r"(\d+) (.*)", part).groups() for part in re.split(r", (?=\d)", match.group(1))]


class Page:
    """A page of a program or of one of its commands."""

    def __init__(self, release, name, number, description, aliases=()):
        self.name, self.number = name, number
        names = [name, *aliases]
        self.lines = [
            f".Dd {release.date}", f".Dt {name.upper()} {number}", ".Os", f'.\\" sso-agent {release.version}', ".Sh NAME",
            *[f".Nm {other}{' ,' if other != names[-1] else ''}" for other in names],
            ".Nd " + mdoc.escape(sentence(description)),
        ]

    def add(self, *lines):
        self.lines += lines

    def refer(self, names):
        """SEE ALSO, in the order of sections and names."""
        others = sorted({n for n in names if n != (self.name, self.number)}, key=lambda n: (n[1], n[0]))
        self.add(".Sh SEE ALSO")
        for name, number in others:
            self.add(f".Xr {name} {number}" + (" ," if (name, number) != others[-1] else ""))

    def write(self, folder):
        folder = folder / f"man{self.number}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{self.name}.{self.number}").write_text(mdoc.tidied(self.lines), encoding="utf-8")


def flag(argument):
    """The names of an option as macros: `Fl s , Fl -scope Ar scope`."""
    names = ["Fl " + ("-" if name["kind"] == "long" else "") + name["name"] for name in argument["names"]]
    value = f" Ar {argument['valueName']}" if argument["kind"] == "option" else ""
    return " , ".join(names) + value


def synopsis(words, command):
    """The lines of one form of a command."""
    program, *rest = words
    lines = [f".Nm {program}"] + [f".Cm {' '.join(rest)}"] * bool(rest)
    for argument in command.get("arguments", []):
        names = [name["name"] for name in argument.get("names", [])]
        if not argument.get("shouldDisplay", True) or {"help", "version"} & set(names):
            continue
        if argument["kind"] == "positional":
            text = f"Ar {argument['valueName']}"
        else:
            name = argument["preferredName"]
            value = f" Ar {argument['valueName']}" if argument["kind"] == "option" else ""
            text = f"Fl {'-' if name['kind'] == 'long' else ''}{name['name']}{value}"
        more = " ..." if argument["isRepeating"] else ""
        lines.append((".Op " if argument["isOptional"] else ".") + text + more)
    return lines


def options(command):
    """The arguments and options of a command, in groups."""
    groups, last = {}, "Options"
    for argument in command.get("arguments", []):
        if argument.get("shouldDisplay", True):
            standard = "Arguments" if argument["kind"] == "positional" else last
            groups.setdefault(argument.get("sectionTitle", standard), []).append(argument)
    if last in groups:
        groups[last] = groups.pop(last)
    lines = []
    for title, arguments in groups.items():
        items = []
        for argument in arguments:
            tag = f"Ar {argument['valueName']}" if argument["kind"] == "positional" else flag(argument)
            text = mdoc.text_lines(mdoc.escape(argument.get("abstract", "")))
            if argument.get("allValues") or argument.get("allValueStrings"):
                values = argument.get("allValues") or argument["allValueStrings"]
                text += mdoc.text_lines("One of " + mdoc.escape(", ".join(values)) + ".")
            if argument.get("defaultValue"):
                text += mdoc.text_lines("By default " + mdoc.escape(argument["defaultValue"]) + ".")
            items.append((tag, text))
        lines += [mdoc.subsection(title)] + mdoc.tagged(items)
    return lines


def describe(discussion):
    """The paragraphs of a command; the exit status has a section of its own."""
    lines = []
    for paragraph in discussion.paragraphs:
        text = re.sub(r"\s*Exit status: .*?\.(?=\s|$)", "", paragraph)
        if text.strip() and not text.startswith("Environment: "):
            lines += [".Pp"] + mdoc.text_lines(mdoc.escape(text))
    return lines


def environment(program, mentioned=None):
    """The variables that a program reads; of a command those that its text names."""
    found = []
    for names, readers, meaning in rows(CONFIGURATION, "Environment variables"):
        if program not in [reader.strip() for reader in readers.split(",")]:
            continue
        plain = re.findall(r"`([^`]+)`", names)
        if mentioned is None or any(re.search(rf"\b{name}\b", mentioned) for name in plain):
            tag = " , ".join(f"Ev {name}" for name in plain)
            found.append((tag, mdoc.paragraph(mdoc.capital(meaning) + ".")))
    return found


def files():
    return [(f"Pa {mdoc.escape(name.strip('`'))}", mdoc.paragraph(mdoc.capital(text) + ".")) for name, text in rows(CONFIGURATION, "Files")]


def statuses(discussion):
    return mdoc.tagged([(number, mdoc.text_lines(mdoc.escape(mdoc.capital(text)) + ".")) for number, text in discussion.statuses])


def examples(lines):
    return [".Sh EXAMPLES"] + mdoc.literal(lines) if lines else []


class Manual:
    """Every page."""

    def __init__(self, programs):
        self.programs, self.release = programs, Release(programs)
        self.commands = {
            name: json.loads(run(programs / name, "--experimental-dump-help"))["command"]
            for name in ("ssoctl", "sso-agent", "entra-emulator")
        }
        self.root = Discussion(self.commands["ssoctl"]["discussion"])

    def pages(self):
        yield self.ssoctl()
        for command in self.commands["ssoctl"]["subcommands"]:
            if command["commandName"] != "help":
                yield self.command(command)
        yield self.program("sso-agent", "agent", [("ssoctl", 1), ("sso-agent.toml", 5), ("sso-agent-protocol", 7)])
        yield self.program("entra-emulator", None, [("sso-agent", 1), ("ssoctl", 1)])
        yield self.configuration()
        yield self.protocol()

    def ssoctl(self):
        command = self.commands["ssoctl"]
        page = Page(self.release, "ssoctl", 1, command["abstract"])
        page.add(".Sh SYNOPSIS", ".Nm ssoctl", ".Ar command", ".Op Ar option ...", ".Sh DESCRIPTION")
        page.add(*describe(self.root))
        found = [("ssoctl-" + c["commandName"], 1) for c in command["subcommands"] if c["commandName"] != "help"]
        for title, names in self.groups().items():
            items = []
            for name in names:
                child = next(c for c in command["subcommands"] if c["commandName"] == name)
                also = f" Also {' and '.join(child['aliases'])}." if child.get("aliases") else ""
                items.append((f"Xr ssoctl-{name} 1", mdoc.text_lines(mdoc.escape(child["abstract"] + also))))
            page.add(mdoc.subsection(title), *mdoc.tagged(items))
        page.add(*options(command))
        page.add(".Sh ENVIRONMENT", *mdoc.tagged(environment("ssoctl")), ".Sh FILES", *mdoc.tagged(files()))
        page.add(".Sh EXIT STATUS", *statuses(self.root), *examples(self.root.examples))
        page.refer(found + [("sso-agent", 1), ("sso-agent.toml", 5), ("sso-agent-protocol", 7)])
        return page

    def groups(self):
        """The commands in the groups of `ssoctl --help`."""
        groups, title = {}, None
        for line in run(self.programs / "ssoctl", "--help").split("\n"):
            heading = re.fullmatch(r"([A-Z].*) SUBCOMMANDS:", line)
            name = re.match(r"  ([a-z][a-z-]*)", line)
            if heading:
                title = heading.group(1).capitalize()
            elif title and name:
                groups.setdefault(title, []).append(name.group(1))
        return groups

    def command(self, command):
        name = command["commandName"]
        discussion = Discussion(command.get("discussion"))
        children = [c for c in command.get("subcommands", []) if c["commandName"] != "help"]
        aliases = ["ssoctl-" + alias for alias in command.get("aliases", [])]
        page = Page(self.release, "ssoctl-" + name, 1, command["abstract"], aliases)
        page.add(".Sh SYNOPSIS")
        for form in children or [command]:
            words = ["ssoctl", name] + [form["commandName"]] * bool(children)
            page.add(*synopsis(words, form))
        page.add(".Sh DESCRIPTION", *mdoc.text_lines(mdoc.escape(command["abstract"])), *describe(discussion))
        if not children:
            page.add(*options(command))
        lines = list(discussion.examples)
        for child in children:
            inner = Discussion(child.get("discussion"))
            lines += [line for line in inner.examples if line not in lines]
            page.add(mdoc.subsection(f"ssoctl {name} {child['commandName']}"), *mdoc.text_lines(mdoc.escape(child["abstract"])))
            also = " or ".join(child.get("aliases", []))
            page.add(*mdoc.text_lines(f"Also {also}." if also else ""), *describe(inner), ".Pp")
            page.add(*[line for line in options(child) if not line.startswith(".Ss")])
        mentioned = json.dumps(command, ensure_ascii=False)
        variables = environment("ssoctl", mentioned)
        page.add(".Sh ENVIRONMENT", *mdoc.tagged(variables) if variables else [])
        page.add(*[".Pp"] * bool(variables), "The environment variables of", ".Xr ssoctl 1", "apply.")
        own = discussion if discussion.statuses else self.root
        page.add(".Sh EXIT STATUS", *statuses(own), *examples(lines))
        page.refer([("ssoctl", 1), ("sso-agent", 1), ("sso-agent.toml", 5)] + self.related(name, command))
        return page

    def related(self, name, command):
        """The commands that the text of one names."""
        text = json.dumps(command, ensure_ascii=False)
        names = [c["commandName"] for c in self.commands["ssoctl"]["subcommands"] if c["commandName"] != "help"]
        return [(f"ssoctl-{other}", 1) for other in names if other != name and re.search(rf"ssoctl {other}\b", text)]

    def program(self, name, reader, related):
        command = self.commands[name]
        discussion = Discussion(command["discussion"])
        page = Page(self.release, name, 1, command["abstract"])
        page.add(".Sh SYNOPSIS", *synopsis([name], command), ".Sh DESCRIPTION")
        page.add(*mdoc.text_lines(mdoc.escape(command["abstract"])), *describe(discussion), *options(command))
        if reader:
            page.add(".Sh ENVIRONMENT", *mdoc.tagged(environment(reader)), ".Sh FILES", *mdoc.tagged(files()))
        page.add(".Sh EXIT STATUS", *mdoc.tagged([
            ("0", ["It was stopped, or has printed what was asked for."]), ("1", ["It cannot run; standard error says why."]),
            ("64", ["The command line is wrong."])]))
        page.add(*examples(discussion.examples))
        page.refer(related)
        return page

    def configuration(self):
        page = Page(self.release, "sso-agent.toml", 5, "the configuration of sso-agent and ssoctl")
        text = document(CONFIGURATION)
        intro = text.split("\n## ")[0].split("\n", 1)[1]
        page.add(".Sh DESCRIPTION", *mdoc.convert(intro, str.upper))
        kept = {"Files", "Example", "Environment variables"}
        for title in re.findall(r"^## (.*)$", text, re.M):
            if title in kept:
                continue
            # The policy describes the rules.
            place = (POLICY, "Rules") if title == "[[rule]]" else (CONFIGURATION, title)
            page.add(mdoc.subsection(title), *mdoc.convert(section(*place), str.upper))
        page.add(".Sh ENVIRONMENT", *mdoc.tagged(
            environment("agent", "SSO_AGENT_CONFIG SSO_AGENT_SYSTEM_CONFIG HTTPS_PROXY SSL_CERT_FILE")))
        after = section(CONFIGURATION, "Files").split("\n\n", 1)[1]
        page.add(".Sh FILES", *mdoc.tagged(files()), ".Pp", *mdoc.convert(after, str.upper))
        page.add(".Sh EXAMPLES", *mdoc.convert(section(CONFIGURATION, "Example"), str.upper))
        page.refer([("sso-agent", 1), ("ssoctl", 1), ("ssoctl-app", 1), ("ssoctl-reload", 1), ("ssoctl-use", 1)])
        return page

    def protocol(self):
        page = Page(self.release, "sso-agent-protocol", 7, "the protocol between apps and sso-agent")
        intro, *rest = document(PROTOCOL).split("\n## ")
        # The list of sections is for the links of the document.
        prose = "\n".join(line for line in intro.split("\n")[1:] if not line.startswith("|"))
        page.add(".Sh DESCRIPTION", *mdoc.convert(prose, str.upper))
        for part in rest:
            title, body = part.split("\n", 1)
            page.add(mdoc.subsection(title), *mdoc.convert(body, str.upper))
        page.refer([("sso-agent", 1), ("ssoctl", 1), ("sso-agent.toml", 5)])
        return page


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    programs, folder = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])
    for page in Manual(programs).pages():
        page.write(folder)


if __name__ == "__main__":
    main()
