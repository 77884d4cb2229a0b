#!/usr/bin/env python3
"""Compares the compat modules with the tables of the originals' public symbols.

    Tests/APIParity/api_parity.py BUILD_DIR        (or: make api-parity)
    Tests/APIParity/api_parity.py --write-values   writes the test of the rows that have values

Reads the modules' symbol graphs and prints the rows that are missing or different; the exit status is 1 if there are
any. README.md beside this file says what is compared. Standard library only.
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent
ROOT = HERE.parent.parent
SWIFT = os.environ.get("SWIFT", "swift").split()
MODULES = {"MSALCompat": "msal.tsv", "ADALCompat": "adal.tsv"}
ATTRIBUTES = re.compile(
    r"@(preconcurrency|discardableResult|objc|MainActor|Sendable|escaping|_\w+)(\([^)]*\))?\s*|"
    r"\b(open|public|final|override|required|convenience|dynamic|weak|unowned|nonisolated|mutating|let|var)\b\s*"
)


class Module:
    """The public symbols of one module, by owner and name."""

    def __init__(self, graphs):
        self.symbols = [symbol for graph in graphs for symbol in graph["symbols"]]
        names = {s["identifier"]["precise"]: ".".join(s["pathComponents"]) for s in self.symbols}
        self.parents, self.kinds, self.members, self.docs, self.aliases = {}, {}, {}, {}, {}
        self.protocols = {}
        for symbol in self.symbols:
            path = symbol["pathComponents"]
            owner, text = ".".join(path[:-1]) or "-", self.declaration(symbol)
            doc = "\n".join(line["text"] for line in symbol.get("docComment", {}).get("lines", []))
            self.members.setdefault(owner, {})[text] = doc
            if len(path) == 1:
                self.kinds[path[0]], self.docs[path[0]] = symbol["kind"]["identifier"], doc
                if symbol["kind"]["identifier"] == "swift.typealias":
                    self.aliases[path[0]] = text.split("=", 1)[1].strip()
        for edge in (edge for graph in graphs for edge in graph["relationships"]):
            if edge["kind"] in ("inheritsFrom", "conformsTo") and edge["source"] in names:
                parent = names.get(edge["target"]) or edge.get("targetFallback", "").split(".", 1)[-1]
                self.parents.setdefault(names[edge["source"]], set()).add(parent)
                if edge["kind"] == "conformsTo":
                    self.protocols.setdefault(names[edge["source"]], set()).add(parent)

    @staticmethod
    def declaration(symbol):
        return "".join(part["spelling"] for part in symbol["declarationFragments"])

    def find(self, owner, wanted):
        """The doc comment of the member that fits, its owner's superclasses included; None when there is none.

        An initialiser has to be the owner's own or a protocol's: Swift inherits a superclass's only under conditions that the
        graph does not tell.
        """
        for text, doc in self.members.get(owner, {}).items():
            if fits(self.plain(text), self.plain(wanted), owner == "-"):
                return doc
        is_initializer = self.plain(wanted).startswith("init")
        for parent in (self.protocols if is_initializer else self.parents).get(owner, ()):
            if (doc := self.find(parent, wanted)) is not None:
                return doc
        return None

    def plain(self, text):
        for name, meaning in self.aliases.items():
            if not re.match(rf"\s*(public )?typealias {name}\b", text):
                text = re.sub(rf"\b{name}\?", f"({meaning})?", text)
                text = re.sub(rf"\b{name}\b", meaning, text)
        return normal(text)


def normal(text):
    """A declaration without what makes no difference to an app's source."""
    text = text.split("=", 1)[0] if text.startswith("case") else text
    can_set = "{ get }" not in text and re.search(r"\b(var|let)\b", text) and not re.search(r"\blet\b", text)
    is_constant = re.search(r"\blet\b", text)
    text = re.sub(r"\{ get( set)? \}", "", text).replace("`", "")
    text = re.sub(r"\bNSHTTPURLResponse\b", "HTTPURLResponse", re.sub(r"\buint\b", "UInt32", text))
    text = text.replace("NSNotification.Name", "Notification.Name").replace("class func", "static func")
    text = re.sub(r"\bclass var\b", "static var", text)
    text = re.sub(r"@unchecked\s+|@autoclosure\s+", "", ATTRIBUTES.sub("", text))
    text = re.sub(r"\b_ (\w+)(?=:)", "_", text)
    text = re.sub(r"\b(\w+) \w+(?=: )", r"\1", text) if text.lstrip().startswith(("func", "static func", "init")) else text
    text = re.sub(r"\s*=\s*[^,)]+(?=[,)])", "", text)
    text = re.sub(r"\s+", "", text)
    return text + ("" if not is_variable(text) else ("{set}" if can_set and not is_constant else ""))


def is_variable(text):
    return not text.startswith(("func", "staticfunc", "init", "case", "class", "struct", "enum", "protocol", "typealias"))


def fits(have, wanted, is_global):
    """A variable may be settable where the original's is not; globals are constants there and here."""
    if have == wanted or (is_variable(wanted) and (have == wanted + "{set}" or is_global and have + "{set}" == wanted)):
        return True
    return False


def type_problem(module, row):
    """What is wrong with a type's own row: `class X : A, B`."""
    keyword, name = row["signature"].split()[:2]
    kind = {"class": "swift.class", "enum": "swift.enum", "struct": "swift.struct", "protocol": "swift.protocol"}[keyword]
    if module.kinds.get(name) != kind:
        return f"no {keyword} of this name"
    wanted = [part.strip() for part in row["signature"].partition(" : ")[2].split(",") if part.strip()]
    have = ancestors(module, name)
    missing = [
        parent for parent in wanted
        if parent not in ("Int", "UInt", "UInt32", "NSObjectProtocol") and parent.split(".")[-1] not in have
        and not (parent == "Equatable" and "Hashable" in have)
    ]
    return f"does not conform to {', '.join(missing)}" if missing else None


def ancestors(module, name):
    found = set()
    for parent in module.parents.get(name, ()):
        found |= {parent.split(".")[-1]} | ancestors(module, parent)
    return found


def problem(module, row):
    owner, signature, scope = row["type"], row["signature"], row["scope"]
    if row["kind"] in ("class", "enum", "struct", "protocol"):
        found = type_problem(module, row)
        doc = module.docs.get(signature.split()[1], "")
    else:
        doc = module.find(owner, signature)
        found = None if doc is not None else "missing"
        if found and scope == "required":
            name = re.search(r"(\w+)`?(?=[(:= ]|$)", re.sub(r"^.*?\b(func|var|let|case|typealias)\b ", "", signature))
            near = [t for t in module.members.get(owner, {}) if name and re.search(rf"\b{name[1]}\b", t)]
            found += "".join(f"\n        here: {text}" for text in near[:4])
    if scope == "apple-only":
        return None if found else "is apple-only and must not exist"
    if scope == "later":
        return None
    if not found and scope == "inert" and "inert" not in (doc + module.docs.get(owner, "")).lower():
        return "its doc comment does not say that it is inert"
    return found


def rows(table):
    for line in (HERE / table).read_text().splitlines():
        row = dict(zip(("type", "kind", "signature", "scope"), line.split("\t")))
        # An attribute on a line of its own belongs to the next row.
        if line and not line.startswith("#") and not row["signature"].startswith("@"):
            yield row


def symbol_graphs(module, build, folder):
    subprocess.run(
        [*SWIFT, "symbolgraph-extract", "-module-name", module, "-I", build / "Modules", "-output-dir", folder,
         "-target", target(), "-minimum-access-level", "public", "-skip-synthesized-members"]
        + [f"-I{path}" for path in sorted((ROOT / "Sources").glob("C*/include"))],
        check=True)
    # The second kind holds extensions of other modules' types, such as Foundation's.
    files = [f"{module}.symbols.json", *(file.name for file in pathlib.Path(folder).glob(f"{module}@*.symbols.json"))]
    return [json.loads((pathlib.Path(folder) / file).read_text()) for file in files]


def values(table):
    """Swift that says what each enum case and each string constant of a table is worth."""
    name = table.removesuffix(".tsv").upper()
    lines = [
        f"// Written by Tests/APIParity/api_parity.py --write-values from {table}; do not edit.",
        f"internal import {name}Compat", "internal import TestSupport", "internal import Testing", "",
        f"/// The values that {name}'s public header files give its names.", f"@Suite(.bounded) struct {name}ValueTests {{",
    ]
    wanted = [row for row in rows(table) if row["scope"] in ("required", "inert")]
    cases = [(row["type"], *match.groups()) for row in wanted if (match := re.match(r"case (\S+) = (-?\d+)$", row["signature"]))]
    texts = [match[1] for row in wanted if (match := re.match(r"let (\w+): String!?$", row["signature"]))]
    lines += ["    static let numbers: [(name: String, isRight: Bool)] = ["]
    lines += [f"        row({t}.{c}, {number(n)})," for t, c, n in cases]
    lines += ["    ]", "", "    static let texts: [(name: String, value: String)] = ["]
    lines += [f'        ("{text}", {text}),' for text in texts]
    lines += [
        "    ]", "", "    @Test func numbersEachCaseAsTheOriginalDoes() {",
        '        for row in Self.numbers { #expect(row.isRight, "\\(row.name)") }', "    }", "",
        "    @Test func givesEachConstantItsOwnNameAsItsValue() {",
        "        for (name, value) in Self.texts { #expect(value == name) }", "    }", "",
        "    private static func row<Case: RawRepresentable>(",
        "        _ value: Case, _ expected: Case.RawValue",
        "    ) -> (name: String, isRight: Bool) where Case.RawValue: Equatable {",
        '        ("\\(Case.self).\\(value)", value.rawValue == expected)', "    }", "}", "",
    ]
    return "\n".join(lines)


def number(text):
    """Digits in groups of three from five digits on, as the formatter wants them."""
    sign, digits = ("-", text[1:]) if text.startswith("-") else ("", text)
    return sign + (f"{int(digits):_}" if len(digits) > 4 else digits)


def values_file(table):
    name = table.removesuffix(".tsv").upper()
    return ROOT / "Tests/CompatTests" / name / f"{name}ValueTests.swift"


def target():
    info = json.loads(subprocess.check_output([*SWIFT, "-print-target-info"]))
    return info["target"]["triple"]


def main():
    if sys.argv[1] == "--write-values":
        for table in MODULES.values():
            values_file(table).write_text(values(table))
        return
    build, failed = pathlib.Path(sys.argv[1]), False
    for name, table in MODULES.items():
        with tempfile.TemporaryDirectory() as folder:
            module = Module(symbol_graphs(name, build, folder))
        if values_file(table).read_text() != values(table):
            failed = True
            print(f"{values_file(table).name} does not fit {table}: run Tests/APIParity/api_parity.py --write-values")
        counts = {}
        for row in rows(table):
            found = problem(module, row)
            total, good = counts.get(row["scope"], (0, 0))
            counts[row["scope"]] = (total + 1, good + (not found))
            if found:
                failed = True
                print(f"{name}: {row['type']}: {row['signature']}\n    [{row['scope']}] {found}")
        for scope in ("required", "inert", "apple-only"):
            total, good = counts.get(scope, (0, 0))
            print(f"{name}: {good} of {total} {scope} rows are as they should be")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
