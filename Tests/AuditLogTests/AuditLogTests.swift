internal import Foundation
internal import Synchronization
internal import TestSupport
internal import Testing
internal import TokenModel

@testable internal import AuditLog

/// The lines of the audit log, their chain, and what damages it.
@Suite(.bounded) struct AuditLogTests {
    private static let peer = AuditEvent.Peer(userID: 1000, processID: 7, peerClass: "other", executable: "/usr/bin/x")

    private func event(_ clientID: String, _ kind: AuditEvent.Kind = .signIn) -> AuditEvent {
        AuditEvent(
            kind, time: 1_900_000_000, peer: Self.peer, request: "acquire_token_silent", clientID: clientID,
            account: "Oid.Tid", scopes: ["User.Read"])
    }

    private final class Failures: Sendable {
        private let errors = Mutex<[TokenError]>([])
        var all: [TokenError] { errors.withLock(\.self) }
        func add(_ error: TokenError) { errors.withLock { $0.append(error) } }
    }

    /// Writes events one after another, each in a batch of its own.
    private func write(_ clientIDs: [String], to path: String, limit: Int = 1 << 20) async {
        let writer = AuditWriter(.file(path: path, limit: limit))
        for clientID in clientIDs {
            writer.record(event(clientID))
            await writer.flush()
        }
    }

    /// The client IDs of the lines, and the findings.
    private func read(_ path: String) throws -> (clientIDs: [String], findings: [String]) {
        var reader = try AuditReader(path: path)
        return try reader.readOn()
    }

    @Test func writesOneJSONLineForEachEvent() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("audit.log")
        await write(["app-1", "app-2"], to: path)
        let lines = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")
        #expect(lines.count == 2)
        let object = try #require(JSONSerialization.jsonObject(with: Data(lines[0].utf8)) as? [String: Any])
        #expect(object["seq"] as? Int == 1 && object["time"] as? String == "2030-03-17T17:46:40Z")
        #expect(object["event"] as? String == "sign_in" && object["outcome"] as? String == "ok")
        #expect(object["uid"] as? Int == 1000 && object["pid"] as? Int == 7)
        #expect(object["executable"] as? String == "/usr/bin/x" && object["client_id"] as? String == "app-1")
        #expect(object["scopes"] as? [String] == ["User.Read"])
        #expect((object["account"] as? String)?.count == 32)
        #expect(!lines[0].lowercased().contains("oid.tid"))
        #expect(try TemporaryFolder.mode(of: path) == 0o600)
    }

    @Test func continuesTheChainAfterARestart() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("audit.log")
        for clientID in ["a", "b", "c"] { await write([clientID], to: path) }
        #expect(try read(path) == (["a", "b", "c"], []))
    }

    /// As after a kill between the renaming of the file and the first line of a new one.
    @Test func continuesTheChainOfAnOlderFile() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("audit.log")
        await write(["a", "b"], to: path)
        try FileManager.default.moveItem(atPath: path, toPath: path + ".1")
        await write(["c"], to: path)
        #expect(try read(path) == (["a", "b", "c"], []))
    }

    /// As after a restore from a backup.
    @Test func takesAccessToItsFileFromOthers() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("audit.log")
        await write(["a"], to: path)
        #expect(chmod(path, 0o644) == 0)
        await write(["b"], to: path)
        #expect(try TemporaryFolder.mode(of: path) == 0o600)
    }

    @Test(arguments: 0..<5)
    func showsThatALineIsMissingChangedOrAdded(attack: Int) async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("audit.log")
        await write((1...5).map { "app-\($0)" }, to: path)
        var lines = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").map(String.init)
        switch attack {
        case 0: lines.remove(at: 2)
        case 1: lines[2] = lines[2].replacingOccurrences(of: "app-3", with: "app-9")
        case 2: lines.swapAt(1, 2)
        case 3: lines.insert(lines[2], at: 3)
        default: lines[2] = "garbage"
        }
        try (lines.joined(separator: "\n") + "\n").write(toFile: path, atomically: false, encoding: .utf8)
        #expect(try !read(path).findings.isEmpty)
        // What is written afterwards belongs to the chain again.
        let before = try read(path).findings.count
        await write(["after"], to: path)
        let after = try read(path)
        #expect(after.clientIDs.last == "after" && after.findings.count == before)
    }

    /// The agent was killed, or the disk was full, within a line.
    @Test func goesOnBehindALineThatIsNotComplete() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("audit.log")
        await write(["a", "b"], to: path)
        let text = try String(contentsOfFile: path, encoding: .utf8)
        try String(text.dropLast(20)).write(toFile: path, atomically: false, encoding: .utf8)
        await write(["c"], to: path)
        let read = try read(path)
        #expect(read.clientIDs == ["a", "c"] && read.findings == ["line 2 is damaged"])
    }

    @Test func beginsNewFilesAndKeepsTheLatest() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("audit.log")
        let names = (1...60).map { "app-\($0)" }
        await write(names, to: path, limit: 2000)
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(Set(files) == ["audit.log", "audit.log.1", "audit.log.2", "audit.log.3", "audit.log.4"])
        for file in files {
            let size = try FileManager.default.attributesOfItem(atPath: folder.file(file))[.size] as? Int
            #expect(size ?? .max <= 2000, "\(file)")
        }
        let read = try read(path)
        #expect(read.findings.isEmpty && read.clientIDs == Array(names.suffix(read.clientIDs.count)))
        #expect(read.clientIDs.count > 10)
        // A file that was removed shows.
        try FileManager.default.removeItem(atPath: path + ".2")
        #expect(try self.read(path).findings.count == 1)
    }

    /// The files are renamed one after another, the oldest first.
    @Test func dropsNoFileForTheGapThatAKillHasLeft() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("audit.log")
        await write((1...60).map { "app-\($0)" }, to: path, limit: 2000)
        try FileManager.default.removeItem(atPath: path + ".4")
        for number in [3, 2] {
            try FileManager.default.moveItem(atPath: "\(path).\(number)", toPath: "\(path).\(number + 1)")
        }
        let before = try read(path)
        var added: [String] = []
        while !FileManager.default.fileExists(atPath: path + ".2") {
            added.append("app-\(61 + added.count)")
            await write(added.suffix(1), to: path, limit: 2000)
        }
        let after = try read(path)
        #expect(after.findings.isEmpty && after.clientIDs == before.clientIDs + added)
    }

    /// Only a log that has dropped its oldest file begins with another line than the first.
    @Test(arguments: [1, 3])
    func showsThatTheFirstLinesAreMissing(count: Int) async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("audit.log")
        await write((1...5).map { "app-\($0)" }, to: path)
        let lines = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").dropFirst(count)
        try (lines.joined(separator: "\n") + "\n").write(toFile: path, atomically: false, encoding: .utf8)
        #expect(try read(path).findings == ["the lines before \(count + 1) are missing"])
        await write(["app-6"], to: path)
        #expect(try read(path).findings.count == 1)
    }

    @Test func readsWhatIsAddedWhileItFollows() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("audit.log")
        let writer = AuditWriter(.file(path: path, limit: 1000))
        var names: [String] = []
        writer.record(event("app-0"))
        await writer.flush()
        var reader = try AuditReader(path: path)
        for number in 1...20 {
            while let item = try reader.next() {
                guard case .line(_, let line) = item else {
                    Issue.record("\(item)")
                    continue
                }
                names.append(line["client_id"] ?? "?")
            }
            writer.record(event("app-\(number)"))
            await writer.flush()
        }
        #expect(names == (0..<20).map { "app-\($0)" })
    }

    /// The newest file may be longer then than what has been read of an older one, and the oldest one is deleted in the end.
    @Test(arguments: [1, 3], 1...5)
    func readsEachLineOnceWhenTheFilesAreRenamedMeanwhile(files: Int, renamings: Int) async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("audit.log")
        var contents = (1..<files).map { ["old-\($0)"] } + [["first", "second"]]
        for content in contents { await write(asNewFile: content, to: path) }
        var reader = try AuditReader(path: path)
        let first = try reader.next()
        var items = [try #require(first)]
        for number in 1...renamings {
            contents.append(number == renamings ? ["long-1", "long-2", "long-3", "long-4"] : ["new-\(number)"])
            await write(asNewFile: contents[contents.count - 1], to: path)
        }
        while let item = try reader.next() { items.append(item) }
        let names = items.compactMap { item -> String? in
            if case .line(_, let line) = item { line["client_id"] } else { nil }
        }
        // The first file was open before it was deleted.
        let deleted = max(contents.count - 1 - AuditWriter.olderFiles, 0)
        #expect(names == contents[0] + contents.dropFirst(max(deleted, 1)).flatMap(\.self))
        #expect(items.count - names.count == (deleted > 1 ? 1 : 0))
    }

    /// Writes the lines of a new file of the log.
    private func write(asNewFile clientIDs: [String], to path: String) async {
        await write(Array(clientIDs.prefix(1)), to: path, limit: 1)
        await write(Array(clientIDs.dropFirst()), to: path)
    }

    /// An app cannot push other lines out of the log by repeating a request.
    @Test func countsEqualTokensThatWaitInOneLine() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("audit.log")
        let writer = AuditWriter(.file(path: path, limit: 1 << 20))
        for _ in 0..<50_000 { writer.record(event("app-1", .token)) }
        await writer.flush()
        var reader = try AuditReader(path: path)
        var (lines, tokens) = (0, 0)
        while case .line(_, let line)? = try reader.next() {
            lines += 1
            tokens += Int(line["count"] ?? "1") ?? 0
        }
        #expect(tokens == 50_000)
        #expect(lines < 50_000)
    }

    /// An app that repeats a request that fails costs no line for each.
    @Test(arguments: [AuditEvent.Kind.signIn, .refusal, .unlock])
    func countsEqualFailuresThatWaitInOneLine(kind: AuditEvent.Kind) async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("audit.log")
        let writer = AuditWriter(.file(path: path, limit: 8 << 20))
        var failure = event("app-1", kind)
        failure.outcome = "timedOut"
        for _ in 0..<5000 { writer.record(failure) }
        // A success of the same kind has a line of its own.
        for _ in 0..<2 { writer.record(event("app-1", .signIn)) }
        await writer.flush()
        let found = try count(path)
        #expect(found.tokens == 5002)
        #expect((3..<5000).contains(found.lines))
    }

    @Test func countsInALineUntilItIsWritten() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("audit.log")
        let writer = AuditWriter(.file(path: path, limit: 1 << 20))
        var (line, records) = (writer.record(event("app-1", .token)), 1)
        for _ in 1..<50_000 {
            if let waiting = line, writer.count(waiting) { continue }
            (line, records) = (writer.record(event("app-1", .token)), records + 1)
        }
        let last = try #require(line)
        await writer.flush()
        #expect(!writer.count(last))
        let found = try count(path)
        #expect(found.tokens == 50_000 && found.lines <= records)
        // Only equal tokens and failures share a line.
        #expect(writer.record(event("app-1", .signOut)) == nil)
    }

    /// The numbers of lines and of tokens in the log.
    private func count(_ path: String) throws -> (lines: Int, tokens: Int) {
        var reader = try AuditReader(path: path)
        var count = (lines: 0, tokens: 0)
        while case .line(_, let line)? = try reader.next() {
            count.lines += 1
            count.tokens += Int(line["count"] ?? "1") ?? 0
        }
        return count
    }

    /// Events that differ in anything but their time have lines of their own, however many of them wait.
    @Test func countsNoDifferentEventsInOneLine() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("audit.log")
        let changes: [(inout AuditEvent) -> Void] = [
            { $0.kind = .refusal }, { $0.peer = nil }, { $0.peer?.userID = 1 }, { $0.peer?.processID = 8 },
            { $0.peer?.peerClass = "sandboxed" }, { $0.peer?.executable = nil }, { $0.peer?.unit = "unit" },
            { $0.peer?.app = "app" }, { $0.socket = "socket" }, { $0.request = nil }, { $0.clientID = "app-2" },
            { $0.sharingGroup = "group" }, { $0.account = nil }, { $0.username = "ada" }, { $0.scopes = [] },
            { $0.outcome = "failed" },
        ]
        // Each field has a change, but for time and count.
        let (fields, peerFields) = (
            Mirror(reflecting: event("app-1")).children.count, Mirror(reflecting: Self.peer).children.count
        )
        #expect(changes.count == fields - 2 + peerFields)
        for batch in [1, 4, changes.count] {
            let file = "\(path).\(batch)"
            let writer = AuditWriter(.file(path: file, limit: 1 << 20))
            for first in stride(from: 0, to: changes.count, by: batch) {
                for change in changes[first..<min(first + batch, changes.count)] {
                    var changed = event("app-1", .token)
                    change(&changed)
                    writer.record(event("app-1", .token))
                    writer.record(changed)
                    changed.time += 1
                    writer.record(changed)
                }
                await writer.flush()
            }
            let found = try count(file)
            #expect(found.tokens == 3 * changes.count)
            // One for each change, and one for the event without it in each batch; more if the writer was faster.
            #expect(found.lines >= changes.count + (changes.count + batch - 1) / batch)
        }
    }

    @Test func reportsEventsThatCouldNotBeWritten() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("missing/audit.log")
        let failures = Failures()
        let writer = AuditWriter(.file(path: path, limit: 1 << 20)) { failures.add($0) }
        for name in ["a", "b"] {
            writer.record(event(name))
            await writer.flush()
        }
        // Only the first of several failures is reported.
        #expect(failures.all.count == 1 && failures.all.first?.message.contains(path) == true)
        try FileManager.default.createDirectory(atPath: folder.file("missing"), withIntermediateDirectories: false)
        writer.record(event("c"))
        await writer.flush()
        var reader = try AuditReader(path: path)
        guard case .line(_, let lost)? = try reader.next(), case .line(_, let next)? = try reader.next() else {
            Issue.record("two lines are expected")
            return
        }
        #expect(lost["event"] == "lost" && lost["count"] == "2" && next["client_id"] == "c")
    }

    /// Equal events share a line, which stands for all of them.
    @Test func countsEveryEventOfALineThatCouldNotBeWritten() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("missing/audit.log")
        let writer = AuditWriter(.file(path: path, limit: 1 << 20))
        for _ in 0..<1000 { writer.record(event("a", .token)) }
        await writer.flush()
        try FileManager.default.createDirectory(atPath: folder.file("missing"), withIntermediateDirectories: false)
        writer.record(event("b"))
        await writer.flush()
        var reader = try AuditReader(path: path)
        guard case .line(_, let lost)? = try reader.next() else {
            Issue.record("a line is expected")
            return
        }
        #expect(lost["event"] == "lost" && lost["count"] == "1000")
    }

    @Test func neverFollowsALinkToAnotherFile() async throws {
        let folder = try TemporaryFolder()
        let target = folder.file("precious")
        try "precious".write(toFile: target, atomically: false, encoding: .utf8)
        try FileManager.default.createSymbolicLink(atPath: folder.file("audit.log"), withDestinationPath: target)
        await write(["a"], to: folder.file("audit.log"))
        #expect(try String(contentsOfFile: target, encoding: .utf8) == "precious")
    }

    @Test(arguments: ["a\"b", "a\nb", "a\u{1B}[2J", "a\u{202E}b", "a\0b", String(repeating: "ü", count: 100_000)])
    func writesTextOfAnAppOnOneShortLineThatNoTerminalObeys(text: String) async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("audit.log")
        var hostile = event(text)
        hostile.scopes = Array(repeating: text, count: 1000)
        hostile.peer?.executable = text
        let writer = AuditWriter(.file(path: path, limit: 1 << 20))
        writer.record(hostile)
        await writer.flush()
        let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        #expect(bytes.count < 16 << 10)
        #expect(bytes.filter { $0 < 0x20 } == [0x0A])
        #expect(!String(decoding: bytes, as: UTF8.self).unicodeScalars.contains("\u{202E}"))
        #expect(try read(path).findings.isEmpty)
    }
}

extension AuditReader {
    /// The client IDs of the lines up to the present end, and the findings.
    mutating func readOn() throws -> (clientIDs: [String], findings: [String]) {
        var (clientIDs, findings) = ([String](), [String]())
        while let item = try next() {
            switch item {
            case .line(_, let line): clientIDs.append(line["client_id"] ?? "?")
            case .finding(let text): findings.append(text)
            }
        }
        return (clientIDs, findings)
    }
}
