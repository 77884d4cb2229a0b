internal import TestSupport
internal import Testing

/// The sizes of files and folders, and constructs that are not allowed in them.
@Suite(.bounded) struct FileTests {
    private static let sources = PackageTree.swiftFiles("Sources")

    @Test func keepsFilesShort() {
        for file in Self.sources { #expect(Self.length(file) <= 500, "\(file.path)") }
    }

    @Test func keepsFoldersSmall() {
        let files = ["Sources", "Tests"].flatMap(PackageTree.swiftFiles)
        let folders = Dictionary(grouping: files) { $0.path.split(separator: "/").dropLast().joined(separator: "/") }
        #expect(folders.count > 50)
        for (folder, files) in folders { #expect(files.count <= 20, "\(folder) has \(files.count) files") }
    }

    @Test func isPublicOnlyWhereThereIsAProduct() {
        // AppleTypes is no product, but MSALCompat and ADALCompat export it with theirs.
        let products: Set = ["TokenModel", "AgentClient", "AppleTypes", "MSALCompat", "MSAL", "ADALCompat", "ADAL"]
        // Generic code of another module is specialised only if it is public and inlinable; docs/decisions/0050-the-client-of-a-hit.md.
        let inlinable: Set = ["Sources/CompatSupport/RecentValues.swift"]
        for file in Self.sources where !products.contains(file.target) && !inlinable.contains(file.path) {
            for (number, line) in file.code {
                let modifiers = line.split(whereSeparator: \.isWhitespace).filter { !$0.hasPrefix("@") }.prefix(2)
                let isPublic = modifiers.contains("public") || modifiers.first == "open"
                #expect(!isPublic, "\(file.path):\(number): use package, or less")
            }
        }
    }

    /// Apps are compiled apart from the modules, and must compile after a later version has added a case.
    @Test func letsPublicEnumerationsGetCases() {
        for file in Self.sources {
            for (number, line) in file.code where line.contains("public enum ") {
                #expect(line.contains("@nonexhaustive"), "\(file.path):\(number): a new case would break apps")
            }
        }
    }

    struct Ban: Sendable, CustomTestStringConvertible {
        var text: String
        var folders: [String]
        /// The targets in which the text is allowed.
        var exceptions: Set<String> = []
        var instead: String
        var testDescription: String { text }
    }

    static let bans: [Ban] = [
        Ban(text: "try!", folders: ["Sources", "Tests", "examples"], instead: "throw"),
        Ban(text: "fatalError(", folders: ["Sources", "Tests", "examples"], instead: "throw a TokenError"),
        Ban(text: "Task.sleep", folders: ["Tests"], instead: "wait for the event"),
        // docs/decisions/0057-an-idle-agent-sleeps.md: the agent's program does not use libdispatch's pool.
        Ban(
            text: "Task.sleep", folders: ["Sources"], exceptions: ["AgentClient", "ssoctl", "EntraEmulator"],
            instead: "use Pause"),
        Ban(
            text: "DispatchQueue.global", folders: ["Sources"], exceptions: ["ADALCompat", "CompatSupport", "ssoctl"],
            instead: "use a serial queue"),
        Ban(text: "concurrentPerform", folders: ["Sources"], instead: "use serial queues"),
        Ban(
            text: "group.shutdownGracefully", folders: ["Sources"], exceptions: ["EntraEmulator"], instead: "group.end"),
        Ban(text: "usleep(", folders: ["Sources", "Tests"], instead: "wait for the event"),
        // The watch that ends a run that hangs sleeps on a thread of its own.
        Ban(
            text: "Thread.sleep", folders: ["Sources", "Tests"], exceptions: ["TestSupport"],
            instead: "wait for the event"),
        // docs/decisions/0043-closures-of-tasks.md
        Ban(
            text: "tasks.start { [", folders: ["Sources", "Tests"],
            instead: "bind the value to a constant, and capture that without a list"),
        Ban(text: "] () async", folders: ["Sources"], instead: "a closure without a capture list"),
        Ban(
            text: "Date()", folders: ["Sources"],
            exceptions: ["sso-agent", "ssoctl", "EntraEmulator", "entra-emulator"],
            instead: "take the clock as a parameter"),
    ]

    @Test(arguments: bans)
    func hasNoBannedText(ban: Ban) {
        // This file contains the banned texts.
        let exceptions = ban.exceptions.union(["ArchitectureTests"])
        for file in ban.folders.flatMap(PackageTree.swiftFiles) where !exceptions.contains(file.target) {
            for (number, line) in file.code {
                #expect(!line.contains(ban.text), "\(file.path):\(number): \(ban.text); instead: \(ban.instead)")
            }
        }
    }

    /// The reason why an unchecked construct is correct stands in a comment on the line above it.
    @Test(arguments: ["@unchecked Sendable", "nonisolated(unsafe)", "unsafeBitCast"])
    func givesTheReasonForAnUncheckedConstruct(construct: String) {
        for file in PackageTree.swiftFiles("Sources") {
            let lines = file.lines.map { $0.trimmingPrefix(while: \.isWhitespace) }
            for (number, line) in file.code where line.contains(construct) {
                let above = number > 1 ? lines[number - 2] : ""
                #expect(above.hasPrefix("//"), "\(file.path):\(number): \(construct) without its reason above")
            }
        }
    }

    @Test func boundsEverySuite() {
        for file in PackageTree.swiftFiles("Tests") where file.target != "ArchitectureTests" {
            for (number, line) in file.code where line.contains("@Suite") {
                // A long list of traits begins on the next line.
                let traits = line + (number < file.lines.count ? file.lines[number] : "")
                #expect(traits.contains(".bounded"), "\(file.path):\(number): a suite without .bounded or .boundedLong")
            }
            let hasTests = file.code.contains { $0.line.contains("@Test") }
            #expect(!hasTests || file.text.contains("@Suite("), "\(file.path): tests outside a suite")
        }
    }

    private static func length(_ file: PackageTree.File) -> Int {
        file.text.hasSuffix("\n") ? file.lines.count - 1 : file.lines.count
    }
}
