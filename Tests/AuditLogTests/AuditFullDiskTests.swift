internal import Foundation
internal import TestSupport
internal import Testing
internal import TokenModel

@testable internal import AuditLog

/// The audit log on a full disk.
@Suite(.bounded) struct AuditFullDiskTests {
    @Test func keepsTheLinesThatAreWhole() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("audit.log")
        // In a process of its own, since the limit applies to the process.
        await #expect(processExitsWith: .success) { [path = path as String] in
            let file = AuditFile(path: path, limit: 1 << 20)
            FileSizeLimit.set(400)
            let failure = #expect(throws: AuditFailure.self) { try file.append(["a", "b", "c"].map(signIn)) }
            #expect(failure?.written == 2)
            FileSizeLimit.set(nil)
            try file.append([signIn("d")])
        }
        var reader = try AuditReader(path: path)
        let found = try reader.readOn()
        #expect(found.clientIDs == ["a", "b", "d"] && found.findings.isEmpty)
    }

    /// A doctor that reports a problem until the next event would do so for days.
    @Test func triesAgainWhenItIsAskedForItsProblem() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("missing/audit.log")
        let writer = AuditWriter(.file(path: path, limit: 1 << 20))
        #expect(await writer.problem(at: 1) == nil)
        writer.record(signIn("a"))
        for _ in 0..<2 { #expect(await writer.problem(at: 2)?.message.contains(path) == true) }
        try FileManager.default.createDirectory(atPath: folder.file("missing"), withIntermediateDirectories: false)
        for _ in 0..<2 { #expect(await writer.problem(at: 3) == nil) }
        var reader = try AuditReader(path: path)
        guard case .line(_, let lost)? = try reader.next() else {
            Issue.record("a line is expected")
            return
        }
        #expect(lost["event"] == "lost" && lost["count"] == nil, "one event")
        #expect(try reader.next() == nil)
    }

    /// The agent was ended within the line, and the file has another name since.
    @Test func reportsALineOfAnOlderFileThatIsNotComplete() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("audit.log")
        try AuditFile(path: path, limit: 1 << 20).append(["a", "b"].map(signIn))
        let length = try Data(contentsOf: URL(filePath: path)).count
        let file = try FileHandle(forWritingTo: URL(filePath: path))
        try file.truncate(atOffset: UInt64(length - 20))
        try FileManager.default.moveItem(atPath: path, toPath: path + ".1")
        try AuditFile(path: path, limit: 1 << 20).append([signIn("c")])
        var reader = try AuditReader(path: path)
        let found = try reader.readOn()
        #expect(found.clientIDs == ["a", "c"] && found.findings == ["line 2 is damaged"])
    }

    /// The reader has seen a part of the withdrawn line.
    @Test func readsTheLineThatTakesThePlaceOfAWithdrawnOne() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("audit.log")
        try AuditFile(path: path, limit: 1 << 20).append([signIn("a")])
        let length = try Data(contentsOf: URL(filePath: path)).count
        try AuditFile(path: path, limit: 1 << 20).append([signIn("withdrawn")])
        let end = try Data(contentsOf: URL(filePath: path)).count
        let file = try FileHandle(forWritingTo: URL(filePath: path))
        try file.truncate(atOffset: UInt64(end - 20))
        var reader = try AuditReader(path: path)
        let before = try reader.readOn()
        try file.truncate(atOffset: UInt64(length))
        try AuditFile(path: path, limit: 1 << 20).append([signIn("b")])
        let after = try reader.readOn()
        #expect(before.clientIDs == ["a"] && after.clientIDs == ["b"])
        #expect(before.findings.isEmpty && after.findings.isEmpty)
    }
}

/// An event whose line has about 170 bytes.
private func signIn(_ clientID: String) -> AuditEvent {
    AuditEvent(.signIn, time: 1_900_000_000, clientID: clientID)
}
