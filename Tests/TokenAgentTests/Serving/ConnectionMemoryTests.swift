internal import AccessPolicy
internal import AgentTestSupport
internal import CHeapCount
internal import Foundation
internal import TestSupport
internal import Testing
internal import TokenEndpoint
internal import TokenModel

@testable internal import TokenAgent

/// The memory of connections, counted in bytes of the heap.
@Suite(
    .bounded, .enabled(if: heap_count() > 0, "the C library counts its heap"),
    .disabled(if: Sanitizer.isOn, "a sanitizer has a heap of its own"))
struct ConnectionMemoryTests {
    /// Both ends of it: they are in one process here.
    @Test func keepsAConnectionThatWasUsedInEightKilobytes() async {
        await #expect(processExitsWith: .success) {
            let (folder, clock) = (try TemporaryFolder(), TestClock())
            let options = AgentOptions(
                socketPath: folder.file("agent.sock"), stateDirectory: folder.file("state"), allowsLoopbackHTTP: false,
                network: try NetworkSettings(environment: [:]), policy: PeerPolicy(userID: geteuid()),
                now: { clock.now }, logger: LogCollector.Messages().logger())
            let server = try await AgentServer.start(options)
            // The first ones also create what stays for the life of the process, which is not counted.
            let first = try (0..<10).map { _ in try RawPeer.answered(options.socketPath) }
            let before = heap_count()
            let peers = try (0..<100).map { _ in try RawPeer.answered(options.socketPath) }
            let bytes = (heap_count() - before) / 100
            withExtendedLifetime((first, peers)) {}
            await server.stop()
            guard bytes < 8_000 else {
                FileHandle.standardError.write(Data("\(bytes) bytes a connection\n".utf8))
                exit(1)
            }
        }
    }
}
