"""Writes mdoc(7), the language of manual pages: escapes text, breaks lines, and converts the Markdown of docs/."""

import re

WIDTH = 78
# Characters of the documents that a manual page writes as escapes.
ESCAPES = {
    "\\": "\\e", "“": "\\(lq", "”": "\\(rq", "’": "\\(aq", "…": "...", "→": "\\(->", "≤": "\\(<=", "×": "\\(mu",
    "—": "\\(em", "–": "\\(en", "'": "\\(aq", "`": "\\(ga", "^": "\\(ha", "~": "\\(ti",
}
BOLD, PLAIN = "\0b", "\0r"


def escape(text, is_code=False):
    """The text without characters that mean something to mdoc, apart from those at the beginning of a line."""
    # A path is not divided at its hyphens.
    text = re.sub(r"\S*[/_]\S*", lambda match: match.group().replace("-", "\x01"), text)
    # A hyphen that may be copied into a shell.
    text = text.replace("-", "\x01") if is_code else re.sub(r"(?<!\w)-(?=[-\w])|(?<=-)-", "\x01", text)
    # Escapes have hyphens and backslashes themselves: nothing in them is escaped again.
    return "".join(ESCAPES.get(character, character) for character in text).replace("\x01", "\\-")


def argument(text):
    """The text as one argument of a macro."""
    return '"%s"' % escape(text).replace('"', "\\(dq")


def inline(text):
    """Markdown within a line: code and emphasis become bold, links their text."""
    pieces = re.split(r"(`[^`]+`)", text)
    result = []
    for piece in pieces:
        if len(piece) > 2 and piece.startswith("`"):
            result.append("\\fB" + escape(piece[1:-1].replace("\\|", "|"), is_code=True) + "\\fP")
            continue
        piece = re.sub(r"!\[[^\]]*\]\([^)]*\)", "", piece)
        piece = piece.replace("\\|", "|").replace("**", "\0")
        piece = re.sub(r"\0([^\0]+)\0", r"\1", piece)
        piece = re.sub(r"(?<![\w*])\*([^*\s][^*]*)\*(?![\w*])", r"\1", piece)
        result.append(escape(piece))
    return "".join(result)


def links_removed(text):
    """The text with links as their text; a link to a page of the web keeps its address."""
    def plain(match):
        label, target = match.group(1), match.group(2)
        return f"{label} ({target})" if target.startswith("http") and target not in label else label

    text = re.sub(r" ?\(\[\d{4}\]\(\S*decisions/[^)]*\)\)", "", text)
    return re.sub(r"(?<!!)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)", plain, text)


def text_lines(text):
    """Lines of text: each sentence begins one, and none is longer than a terminal's."""
    text = re.sub(r"\s+", " ", text).strip()
    lines = []
    for sentence in re.split(r"(?<=[.!?:])(?<!\.\.\.) +(?=[^\s])|(?<=[.!?][)])\s+", text) if text else []:
        line = ""
        for word in sentence.split(" "):
            if line and len(line) + 1 + len(word) > WIDTH:
                lines.append(line)
                line = word
            else:
                line = f"{line} {word}" if line else word
        lines.append(line)
    return ["\\&" + line if line[:1] in ".'" else line for line in lines]


def capital(text):
    return text[:1].upper() + text[1:]


def paragraph(markdown):
    """The lines of a paragraph of Markdown."""
    return text_lines(inline(links_removed(markdown)))


def literal(lines):
    """Lines that stay as they are, indented as the text is: with more, examples would be wider than a terminal."""
    shown = [escape(line, is_code=True) for line in lines]
    return [".Bd -literal"] + ["\\&" + l if l[:1] in ".\\" and l[:1] == "." else l for l in shown] + [".Ed"]


def tagged(items):
    """A list of terms, each a line of macro arguments, with its text as lines."""
    lines = [".Bl -tag -width Ds"]
    for tag, text in items:
        lines += [".It " + tag] + text
    return lines + [".El"]


def subsection(title):
    """A heading; a bracket at its end is no punctuation."""
    text = escape(links_removed(title))
    return ".Ss " + text + ("\\&" if text[-1:] in ")]" else "")


def cells(row):
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", row.strip().strip("|"))]


def term(markdown):
    """A cell of a table as the argument of `.It`."""
    text = inline(links_removed(markdown))
    return '"%s"' % text.replace('"', "\\(dq") if text else '"\\(en"'


def table(rows):
    """A table: a list of the first column's terms, with the names of further columns."""
    header, *body = [cells(row) for row in rows if not re.fullmatch(r"[|\s:-]+", row)]
    items = []
    for row in body:
        text = paragraph(row[1]) if len(row) > 1 else []
        for name, cell in zip(header[2:], row[2:]):
            if cell:
                text += [".br"] * bool(text) + paragraph(f"{capital(links_removed(name))}: {cell}")
        items.append((term(row[0]), text))
    return tagged(items)


def convert(markdown, heading, levels=(2, 3)):
    """Converts a document.

    `heading(text)` returns the name of a section. The levels are those of sections and of their parts; a heading of a higher
    level is left out.
    """
    lines, result, index = markdown.split("\n"), [], 0

    def separate():
        """A new paragraph, unless a section or a list has just begun."""
        if result and not result[-1].startswith((".Sh", ".Ss", ".Pp", ".It")):
            result.append(".Pp")

    while index < len(lines):
        line = lines[index]
        match = re.match(r"(#+) (.*)", line)
        if match:
            level = len(match.group(1))
            if level == levels[0]:
                result.append(".Sh " + heading(match.group(2)))
            elif level > levels[0]:
                result.append(subsection(match.group(2).replace("`", "")))
            index += 1
        elif line.startswith("```"):
            end = next(i for i in range(index + 1, len(lines)) if lines[i].startswith("```"))
            result += literal(lines[index + 1:end])
            index = end + 1
        elif line.startswith("|"):
            end = next((i for i in range(index, len(lines)) if not lines[i].startswith("|")), len(lines))
            result += table(lines[index:end])
            index = end
        elif re.match(r"([*-]|\d+\.) ", line):
            items, kind = [], "-enum" if line[0].isdigit() else "-bullet"
            while index < len(lines) and (lines[index].startswith("  ") or re.match(r"([*-]|\d+\.) ", lines[index])):
                if re.match(r"([*-]|\d+\.) ", lines[index]):
                    items.append(re.sub(r"^([*-]|\d+\.) ", "", lines[index]))
                else:
                    items[-1] += " " + lines[index].strip()
                index += 1
            result.append(f".Bl {kind}")
            for item in items:
                result += [".It"] + paragraph(item)
            result.append(".El")
        elif not line.strip():
            index += 1
        else:
            end = index
            while end < len(lines) and lines[end].strip() and not re.match(r"```|\||#+ |([*-]|\d+\.) ", lines[end]):
                end += 1
            separate()
            result += paragraph(" ".join(lines[index:end]))
            index = end
    return result


def tidied(lines):
    """The page without paragraph breaks that mean nothing."""
    result = []
    for line in lines:
        if line == ".Pp" and (not result or result[-1].startswith((".Sh", ".Ss", ".Pp"))):
            continue
        # Lists and displays begin with a space of their own.
        if line.startswith((".Sh", ".Ss", ".El", ".Bl", ".Bd")):
            while result and result[-1] == ".Pp":
                result.pop()
        result.append(line)
    return "\n".join(result) + "\n"
