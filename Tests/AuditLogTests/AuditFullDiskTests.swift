internal import Foundation
internal import TestSupport
internal import Testing

@testable internal import AuditLog

/// The audit log on a full disk.
@Suite(.bounded) struct AuditFullDiskTests {
    @Test func keepsTheLinesThatAreWhole() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("audit.log")
        // In a process of its own, since the limit applies to the process.
        await #expect(processExitsWith: .success) { [path = path as String] in
            signal(SIGXFSZ, SIG_IGN)
            let file = AuditFile(path: path, limit: 1 << 20)
            limitFileSize(to: 400)
            let failure = #expect(throws: AuditFailure.self) { try file.append(["a", "b", "c"].map(signIn)) }
            #expect(failure?.written == 2)
            limitFileSize(to: nil)
            try file.append([signIn("d")])
        }
        var reader = try AuditReader(path: path)
        let found = try readOn(&reader)
        #expect(found.clientIDs == ["a", "b", "d"] && found.findings.isEmpty)
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
        let before = try readOn(&reader)
        try file.truncate(atOffset: UInt64(length))
        try AuditFile(path: path, limit: 1 << 20).append([signIn("b")])
        let after = try readOn(&reader)
        #expect(before.clientIDs == ["a"] && after.clientIDs == ["b"])
        #expect(before.findings.isEmpty && after.findings.isEmpty)
    }

    /// The client IDs of the lines up to the present end, and the findings.
    private func readOn(_ reader: inout AuditReader) throws -> (clientIDs: [String], findings: [String]) {
        var (clientIDs, findings) = ([String](), [String]())
        while let item = try reader.next() {
            switch item {
            case .line(_, let line): clientIDs.append(line["client_id"] ?? "?")
            case .finding(let text): findings.append(text)
            }
        }
        return (clientIDs, findings)
    }
}

/// An event whose line has about 170 bytes.
private func signIn(_ clientID: String) -> AuditEvent {
    AuditEvent(.signIn, time: 1_900_000_000, clientID: clientID)
}

/// Limits the size of files that this process may write; nil removes the limit.
private func limitFileSize(to bytes: Int?) {
    #if canImport(Glibc)
        let resource = __rlimit_resource_t(RLIMIT_FSIZE.rawValue)
    #else
        let resource = RLIMIT_FSIZE
    #endif
    var limit = rlimit()
    getrlimit(resource, &limit)
    limit.rlim_cur = bytes.map { rlim_t($0) } ?? limit.rlim_max
    setrlimit(resource, &limit)
}
