internal import AgentClient
internal import AgentTestSupport
internal import Foundation
internal import TestSupport
internal import Testing
internal import TokenModel

/// Calls of an app that has no file descriptors left (EMFILE).
@Suite(.bounded) struct DescriptorLimitTests {
    /// A connection needs two descriptors of a pipe, and that of the socket.
    @Test func endsCallsWithTheReasonIfNoConnectionIsPossible() async throws {
        try await AgentFixture.with { f in
            await #expect(processExitsWith: .success) { [path = f.socketPath as String] in
                // They stay connected: descriptors that are closed later would be free for the calls that shall fail.
                var clients = [AgentClient(socketPath: path)]
                _ = try await clients[0].status()
                for count in 0...2 {
                    let client = AgentClient(socketPath: path)
                    clients.append(client)
                    let taken = TakenDescriptors(leaving: count)
                    let error = await #expect(throws: TokenError.self) { try await client.status() }
                    taken.release()
                    #expect(error?.code == .agentUnavailable, "\(count) are free")
                    #expect(
                        error?.message.hasSuffix(": \(String(cString: strerror(EMFILE)))") == true, "\(count) are free")
                    _ = try await client.status()
                }
                let client = AgentClient(socketPath: path)
                let taken = TakenDescriptors(leaving: 3)
                _ = try await client.status()
                taken.release()
                withExtendedLifetime(clients) {}
            }
        }
    }

    @Test func losesNoDescriptorsToAPathThatIsTooLong() async {
        await #expect(processExitsWith: .success) {
            let client = AgentClient(socketPath: "/" + String(repeating: "a", count: 200))
            let taken = TakenDescriptors(leaving: 16)
            for _ in 0..<40 {
                let error = await #expect(throws: TokenError.self) { try await client.status() }
                #expect(error?.code == .agentUnavailable)
                #expect(error?.message.contains("is longer than") == true, "\(error?.message ?? "")")
            }
            taken.release()
        }
    }
}

/// Every descriptor that the process may have, but some.
private struct TakenDescriptors {
    private let numbers: [Int32]

    /// - Parameter count: how many are left.
    init(leaving count: Int) {
        var limit = rlimit()
        getrlimit(Self.resource, &limit)
        limit.rlim_cur = min(limit.rlim_cur, 128)
        setrlimit(Self.resource, &limit)
        var numbers: [Int32] = []
        while case let number = dup(STDIN_FILENO), number >= 0 { numbers.append(number) }
        for number in numbers.suffix(count) { close(number) }
        self.numbers = numbers.dropLast(count)
    }

    #if canImport(Glibc)
        private static let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    #else
        private static let resource = RLIMIT_NOFILE
    #endif

    func release() { for number in numbers { close(number) } }
}
