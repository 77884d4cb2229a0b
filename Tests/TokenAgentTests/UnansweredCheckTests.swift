internal import AccessPolicy
internal import AgentTestSupport
internal import AuditLog
internal import Dispatch
internal import Foundation
internal import Logging
internal import NIOCore
internal import TestSupport
internal import Testing
internal import TokenEndpoint
internal import TokenModel
internal import TokenStore

@testable internal import TokenAgent

/// The health checks of files whose file system does not answer, and the stop of an agent on one.
@Suite(.bounded) struct UnansweredCheckTests {
    private let parts = Parts()
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// An audit log whose thread waits, once a line could not be written, until the semaphore is signalled.
    private func makeHangingLog(_ hangs: Mailbox<Void>, _ end: DispatchSemaphore) -> (AuditWriter, AuditTrail) {
        let writer = AuditWriter(.file(path: folder.file("missing/audit.log"), limit: 1024)) { _ in
            hangs.put(())
            end.wait()
        }
        return (writer, AuditTrail(writer, hasNames: false, now: { 0 }) { _, _ in })
    }

    @Test func saysThatTheAuditLogDoesNotAnswer() async throws {
        let (hangs, end) = (Mailbox<Void>(), DispatchSemaphore(value: 0))
        let (writer, trail) = makeHangingLog(hangs, end)
        trail.record(.agentStarted)
        await hangs.next()
        let checks = try await parts.diagnose(in: folder, trail)
        try await parts.settle()
        #expect(!checks.isDone)
        try await parts.timers.advance(by: 30)
        let made = try await checks.value()
        let audit = try #require(made.first { $0.name == "audit log" })
        #expect(!audit.ok && audit.hint != nil)
        #expect(audit.detail == "\(folder.file("audit.log")) does not answer")
        end.signal()
        await writer.flush()
    }

    /// The agent would not stop, and keep the next one from opening the store.
    @Test func waitsForTheLastLineOfTheAuditLogForALimitedTime() async {
        let (hangs, end) = (Mailbox<Void>(), DispatchSemaphore(value: 0))
        let (writer, trail) = makeHangingLog(hangs, end)
        trail.record(.agentStarted)
        await hangs.next()
        #expect(await !trail.stopped(by: .now()))
        end.signal()
        #expect(await writer.flush())
    }

    /// What looks at the folder runs beside the event loop, which goes on.
    @Test func saysThatTheStateFolderDoesNotAnswer() async throws {
        let (hangs, end) = (Mailbox<Void>(), DispatchSemaphore(value: 0))
        let wait: @Sendable () -> Void = {
            hangs.put(())
            end.wait()
        }
        let checks = try await parts.diagnose(in: folder) { $0.files.thread.start(wait) { _ in } }
        await hangs.next()
        try await parts.settle()
        #expect(!checks.isDone)
        try await parts.timers.advance(by: 30)
        let made = try await checks.value()
        let state = try #require(made.first { $0.name == "state folder" })
        #expect(!state.ok && state.detail == "\(folder.path) does not answer")
        end.signal()
    }

    /// The agent would answer nobody meanwhile. Requests at the same time share the list, which may never be made.
    @Test func namesTheFilesInQuarantineThoughTheFolderDoesNotAnswer() async throws {
        parts.store.updateReport { $0.quarantined = ["cache.sqlite.quarantine-1"] }
        let (hangs, end) = (Mailbox<Void>(), DispatchSemaphore(value: 0))
        let wait: @Sendable () -> Void = {
            hangs.put(())
            end.wait()
        }
        let lists = await parts.listQuarantine { $0.thread.start(wait) { _ in } }
        await hangs.next()
        try await parts.settle()
        #expect(!lists.isDone)
        try await parts.timers.advance(by: 1)
        #expect(try await lists.value() == [["cache.sqlite.quarantine-1"], ["cache.sqlite.quarantine-1"]])
        end.signal()
    }

    /// Each of them may never be made, and would leave a task behind.
    @Test func makesOneListOfTheFilesInQuarantineForRequestsAtTheSameTime() async throws {
        parts.store.updateReport { $0.quarantined = ["cache.sqlite.quarantine-1"] }
        let lists = await parts.listQuarantine { _ in }
        #expect(try await lists.value() == [["cache.sqlite.quarantine-1"], ["cache.sqlite.quarantine-1"]])
        #expect(parts.store.listings == 1)
    }

    /// The user may not see its prompt, which may be on another screen. The store does without it, or is opened later.
    @Test func namesTheKeyringThatHasNotAnswered() async throws {
        parts.store.askKeyring()
        let checks = try await parts.diagnose(in: folder).value()
        let key = try #require(checks.first { $0.name == "key" })
        #expect(key.ok && key.detail.hasSuffix("; the Secret Service has not answered yet") && key.hint != nil)
    }

    /// Each diagnosis would otherwise leave a task behind that never ends. A check that has ended is made again.
    @Test func sharesTheCheckThatAnEarlierDiagnosisHasBegun() async throws {
        let (begins, end) = (Mailbox<Void>(), parts.loop.makePromise(of: Void.self))
        let checks = await parts.start { parts async throws(TokenError) -> [Bool] in
            let files = FileChecks(parts.core)
            func begin() -> EventLoopFuture<Result<HealthCheck, TokenError>> {
                files.begin(unanswered: .unanswered("key", at: "/state")) { () async throws(TokenError) in
                    begins.put(())
                    _ = try? await end.futureResult.get()
                    return HealthCheck(name: "key", ok: true, detail: "/state/key")
                }
            }
            let first = begin()
            try? await parts.timers.advance(by: 30)
            let unanswered = try await first.outcome()
            let second = begin()
            end.succeed()
            let answered = try await second.outcome()
            let third = try await begin().outcome()
            return [unanswered.ok, answered.ok, third.ok]
        }
        #expect(try await checks.value() == [false, true, true])
        #expect(begins.count == 2)
    }

    @Test func waitsForNothingIfTheFilesAnswer() async throws {
        let writer = AuditWriter(.file(path: folder.file("audit.log"), limit: 1024))
        let trail = AuditTrail(writer, hasNames: false, now: { 0 }) { _, _ in }
        let checks = try await parts.diagnose(in: folder, trail).value()
        for name in ["state folder", "key", "audit log"] {
            #expect(checks.first { $0.name == name }?.detail.contains("does not answer") == false)
        }
        #expect(parts.timers.count == 0)
    }
}

extension Parts {
    /// Makes the health checks of an agent whose files are in a folder.
    ///
    /// - Parameter prepare: called before the first check begins.
    fileprivate func diagnose(
        in folder: TemporaryFolder, _ audit: AuditTrail? = nil,
        _ prepare: @escaping @Sendable (AgentHealth) -> Void = { _ in }
    ) throws -> Pending<[HealthCheck]> {
        let options = try self.options(in: folder)
        return start { parts async throws(TokenError) in
            let sockets = PublishedSockets(parts.core, userID: geteuid(), uptime: { 0 })
            let health = AgentHealth(
                parts.core, lifecycle: parts.lifecycle, sockets: sockets, audit: audit, options: options)
            prepare(health)
            return try await health.checks(Diagnose(), for: ConnectionID.sample.peer)
        }
    }

    /// Lists the files in quarantine twice at the same time.
    fileprivate func listQuarantine(_ prepare: @escaping @Sendable (FileChecks) -> Void) -> Pending<[[String]]> {
        start { parts async throws(TokenError) in
            let files = FileChecks(parts.core)
            prepare(files)
            let (first, second) = (files.beginListing(parts.store), files.beginListing(parts.store))
            return [try await first.outcome(), try await second.outcome()]
        }
    }

    private func options(in folder: TemporaryFolder) throws -> AgentOptions {
        let clock = clock
        var options = AgentOptions(
            socketPath: folder.file("agent.sock"), stateDirectory: folder.path, allowsLoopbackHTTP: false,
            network: try NetworkSettings(environment: [:]), policy: PeerPolicy(userID: geteuid()),
            now: { clock.now }, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        options.audit = .file(path: folder.file("audit.log"), limit: 1024)
        return options
    }
}
