internal import TestSupport
internal import Testing

@testable internal import AuditLog

#if os(Linux)
    /// The audit log in the journal.
    @Suite(.bounded) struct AuditJournalTests {
        private static func event(_ clientID: String, _ kind: AuditEvent.Kind = .signIn) -> AuditEvent {
            AuditEvent(kind, time: 1_900_000_000, clientID: clientID)
        }

        @Test func sendsEachLineToTheJournal() async throws {
            let folder = try TemporaryFolder()
            let socket = folder.file("journal")
            let journal = try DatagramSocket(at: socket)
            let writer = AuditWriter(.journal(socket: socket))
            writer.record(Self.event("app-1"))
            writer.record(Self.event("app-2"))
            await writer.flush()
            for (number, name) in [(1, "app-1"), (2, "app-2")] {
                let fields = try journal.receive().split(separator: "\n").map(String.init)
                #expect(fields.contains("PRIORITY=5") && fields.contains("SYSLOG_IDENTIFIER=sso-agent"))
                #expect(fields.contains("SSO_AGENT_EVENT=sign_in") && fields.contains("SSO_AGENT_SEQ=\(number)"))
                let message = try #require(fields.first { $0.hasPrefix("MESSAGE=") })
                #expect(AuditLine(Array(message.dropFirst(8).utf8))?["client_id"] == name)
            }
        }

        /// Nobody reads the socket, so that it takes the first lines of a batch only.
        @Test func countsNoLineAsLostThatTheJournalHasTaken() async throws {
            let folder = try TemporaryFolder()
            let socket = folder.file("journal")
            let journal = try DatagramSocket(at: socket)
            let writer = AuditWriter(.journal(socket: socket))
            let count = 1000
            for number in 0..<count { writer.record(Self.event("app-\(number)", .token)) }
            await writer.flush()
            func receive() throws -> AuditLine {
                let fields = try journal.receive().split(separator: "\n")
                let message = try #require(fields.first { $0.hasPrefix("MESSAGE=") })
                return try #require(AuditLine(message.dropFirst(8).utf8))
            }
            // Makes room for two further lines.
            var lines = try (0..<4).map { _ in try receive() }
            writer.record(Self.event("last"))
            await writer.flush()
            while lines.last?["client_id"] != "last" { lines.append(try receive()) }
            let lost = try #require(lines.first { $0["event"] == "lost" })
            #expect(lost["count"] == "\(count - (lines.count - 2))")
        }
    }
#endif
