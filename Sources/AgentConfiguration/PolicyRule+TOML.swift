internal import AccessPolicy
internal import PosixFiles
internal import TokenModel

extension PolicyRule {
    /// Reads a rule: `requests` and `effect` are required, the other keys are conditions.
    init(_ element: TOMLDocument.Element) throws(TOMLError) {
        var requests: Requests?
        var effect: Effect?
        self.init(requests: .all, effect: .deny)
        for entry in element.entries {
            switch entry.key {
            case "class": peerClass = try Configuration.choice(entry)
            case "executable": executable = ExactText(try Self.program(entry))
            case "unit": unit = try Self.unit(entry)
            case "app": app = try Self.app(entry)
            case "client_ids": clientIDs = try Self.set(entry, ClientID.init)
            case "sharing_groups": sharingGroups = try Self.set(entry, SharingGroup.init)
            case "requests": requests = try Self.requests(entry)
            case "effect": effect = try Configuration.choice(entry)
            default:
                throw TOMLError(
                    entry.line,
                    "“\(entry.key)” is not a key of [[rule]]; use class, executable, unit, app, client_ids, sharing_groups, "
                        + "requests or effect")
            }
        }
        guard let requests else {
            throw TOMLError(
                element.line, "the rule has no requests; add requests = [\"own\"], [\"all\"], or names of requests")
        }
        guard let effect else {
            throw TOMLError(element.line, "the rule has no effect; add effect = \"allow\", \"deny\" or \"confirm\"")
        }
        (self.requests, self.effect) = (requests, effect)
    }

    /// The path of a program without symbolic links, by which the system knows a process: `/bin/sh` is `/usr/bin/sh` on many systems, and a
    /// rule that denies would not hold for it. A program that does not exist keeps its path.
    private static func program(_ entry: TOMLDocument.Entry) throws(TOMLError) -> String {
        let path = try Configuration.path(entry)
        return FileStatus.realPath(path) ?? path
    }

    private static func unit(_ entry: TOMLDocument.Entry) throws(TOMLError) -> String {
        let unit = try entry.text
        guard unit.hasSuffix(".service") || unit.hasSuffix(".scope") else {
            throw TOMLError(entry.line, "“\(unit)” is not a unit of processes; write it as in backup.service")
        }
        return unit
    }

    private static func app(_ entry: TOMLDocument.Entry) throws(TOMLError) -> String {
        let app = try entry.text
        guard app.hasPrefix("flatpak:") || app.hasPrefix("snap:") else {
            throw TOMLError(
                entry.line, "“\(app)” does not say what kind of app it is; write flatpak:\(app) or snap:\(app)")
        }
        return app
    }

    private static func set<Value: Hashable>(
        _ entry: TOMLDocument.Entry, _ value: (String) -> Value?
    ) throws(TOMLError) -> Set<Value> {
        var values: Set<Value> = []
        for text in try entry.texts {
            guard let value = value(text) else {
                throw TOMLError(entry.line, "“\(entry.key)” has a blank text; remove it")
            }
            values.insert(value)
        }
        return values
    }

    private static func requests(_ entry: TOMLDocument.Entry) throws(TOMLError) -> Requests {
        let names = Set(try entry.texts)
        for name in names.subtracting(["all", "own"]).sorted() where !RequestKinds.all.contains(name) {
            throw TOMLError(
                entry.line,
                "“\(name)” is not a request; use all, own, or names of PROTOCOL.md such as acquire_token_silent")
        }
        guard !names.contains("all") else { return .all }
        return .named(names.subtracting(["own"]), includesOwn: names.contains("own"))
    }
}
