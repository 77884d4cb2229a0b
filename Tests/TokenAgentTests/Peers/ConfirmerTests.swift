internal import AccessPolicy
internal import Foundation
internal import NIOCore
internal import NIOPosix
internal import TestSupport
internal import Testing
internal import TokenModel

@testable internal import TokenAgent

/// Questions that wait for a person, who is a program here.
@Suite(.bounded) struct ConfirmerTests {
    private let request = PolicyRequest(name: "set_key", subject: RequestSubject(isLimitedToApp: false))

    /// A process that asks again and again must not keep another one's question from being asked.
    @Test func limitsTheQuestionsOfOneProcess() async throws {
        let folder = try TemporaryFolder()
        let (confirmer, gate) = try await waitingConfirmer(in: folder)
        let loop = MultiThreadedEventLoopGroup.singleton.any()
        let flooder = PeerIdentity(userID: geteuid(), processID: 1, startTime: 1)
        let accepted = (0..<2).map { _ in confirmer.ask(request, from: flooder, on: loop) }
        for _ in 0..<20 {
            guard case .failure(let error) = try await confirmer.ask(request, from: flooder, on: loop).get() else {
                Issue.record("asked more than two questions of one process")
                return
            }
            #expect(error.code == .requestDenied && error.message.contains("too many"))
        }
        // Another process with the same ID, after the first has ended.
        let other = confirmer.ask(request, from: PeerIdentity(userID: geteuid(), processID: 1, startTime: 2), on: loop)
        for question in accepted + [other] {
            // The program ends when its pipe has been opened and closed.
            _ = try await offPool { close(open(gate, O_WRONLY)) }
            await #expect(throws: Never.self) { try await question.get().get() }
        }
        // Their places are free again.
        let later = confirmer.ask(request, from: flooder, on: loop)
        _ = try await offPool { close(open(gate, O_WRONLY)) }
        await #expect(throws: Never.self) { try await later.get().get() }
    }

    /// A user has any number of processes. Each question waits for all before it, for a minute each.
    @Test func limitsTheQuestionsOfAllProcessesTogether() async throws {
        let folder = try TemporaryFolder()
        let (confirmer, gate) = try await waitingConfirmer(in: folder)
        let loop = MultiThreadedEventLoopGroup.singleton.any()
        let processes: [Int32] = [1, 2, 3, 4, 5, 6, 7, 8]
        let accepted = processes.map { process in
            confirmer.ask(
                request, from: PeerIdentity(userID: geteuid(), processID: process, startTime: 1), on: loop)
        }
        let refused = confirmer.ask(
            request, from: PeerIdentity(userID: geteuid(), processID: 9, startTime: 1), on: loop)
        // A question that is asked ends with the confirmer, too.
        let asked = try await openForWriting(gate)
        await confirmer.stop()
        close(asked)
        guard case .failure(let error) = try await refused.get() else {
            Issue.record("a ninth question was asked")
            return
        }
        #expect(error.message.contains("too many"))
        for question in accepted { await expectRefusal(of: question) }
    }

    /// The person would be asked about a request that nobody waits for, and the questions of others would wait for the answer.
    @Test func withdrawsTheQuestionsOfAConnectionThatIsClosed() async throws {
        let folder = try TemporaryFolder()
        // Each question has a pipe of its own: a writer of the first one's would be one of the second's, too.
        let (gates, count) = ((1...2).map { folder.file("gate\($0)") }, folder.file("count"))
        for gate in gates { try #require(mkfifo(gate, 0o600) == 0) }
        let program = try await folder.makeProgram(
            "askpass", "echo >>'\(count)'; exec cat '\(folder.file("gate"))'$(($(wc -l <'\(count)')))")
        let confirmer = Confirmer(askpass: program, helper: nil)
        let loop = MultiThreadedEventLoopGroup.singleton.any()
        let (closed, staying) = (Confirmer.Connection(), Confirmer.Connection())
        let peer = PeerIdentity(userID: geteuid(), processID: 1, startTime: 1)
        let first = confirmer.ask(request, from: peer, of: closed, on: loop)
        let other = PeerIdentity(userID: geteuid(), processID: 2, startTime: 2)
        let second = confirmer.ask(request, from: other, of: staying, on: loop)
        let third = confirmer.ask(request, from: peer, of: closed, on: loop)
        let asked = try await openForWriting(gates[0])
        confirmer.withdrawQuestions(of: closed)
        await expectRefusal(of: first)
        close(asked)
        close(try await openForWriting(gates[1]))
        await #expect(throws: Never.self) { try await second.get().get() }
        await expectRefusal(of: third)
    }

    /// In a sandbox, another file may be at the path of a program of the system's.
    @Test func saysWhetherTheProcessIsSandboxed() async throws {
        let folder = try TemporaryFolder()
        let asked = folder.file("asked")
        let program = try await folder.makeProgram("askpass", "printf '%s' \"$1\" >'\(asked)'")
        let confirmer = Confirmer(askpass: program, helper: nil)
        let loop = MultiThreadedEventLoopGroup.singleton.any()
        let executable = PeerIdentity.Executable(path: "/usr/bin/backup", isInstalled: true, isAtPath: false)
        let sandboxes: [PeerIdentity.Sandbox?] = [PeerIdentity.Sandbox(app: nil), nil]
        for sandbox in sandboxes {
            let peer = PeerIdentity(
                userID: geteuid(), processID: 7, startTime: 1, executable: executable, sandbox: sandbox)
            try await confirmer.ask(request, from: peer, on: loop).get().get()
            let question = try String(contentsOfFile: asked, encoding: .utf8)
            let article = sandbox == nil ? "" : "the sandboxed "
            #expect(question.contains("sso-agent: \(article)/usr/bin/backup (process 7) asks"), "\(question)")
        }
    }

    @Test func asksNobodyOnceItHasStopped() async throws {
        let folder = try TemporaryFolder()
        let (confirmer, gate) = try await waitingConfirmer(in: folder)
        let loop = MultiThreadedEventLoopGroup.singleton.any()
        let peer = PeerIdentity(userID: geteuid(), processID: 1, startTime: 1)
        let questions = (0..<2).map { _ in confirmer.ask(request, from: peer, on: loop) }
        let asked = try await openForWriting(gate)
        await confirmer.stop()
        for question in questions { await expectRefusal(of: question) }
        await expectRefusal(of: confirmer.ask(request, from: peer, on: loop))
        close(asked)
    }

    /// A confirmer, and the pipe that its program reads: a question is answered with yes when that has been opened and closed.
    private func waitingConfirmer(in folder: TemporaryFolder) async throws -> (confirmer: Confirmer, gate: String) {
        let gate = folder.file("gate")
        try #require(mkfifo(gate, 0o600) == 0)
        let program = try await folder.makeProgram("askpass", "exec cat '\(gate)'")
        return (Confirmer(askpass: program, helper: nil), gate)
    }

    /// Opens the pipe that the program reads, when it does.
    private func openForWriting(_ gate: String) async throws -> Int32 { try await offPool { open(gate, O_WRONLY) } }

    private func expectRefusal(of question: EventLoopFuture<Result<Void, TokenError>>) async {
        let error = await #expect(throws: TokenError.self) { try await question.get().get() }
        #expect(error?.code == .requestDenied)
    }
}
