internal import Foundation
internal import TestSupport
internal import Testing

@testable internal import PosixFiles

@Suite(.bounded) struct FileDescriptorTests {
    /// The flag belongs to the pipe, so that a program that sets it for itself also sets it for those that it starts.
    @Test func writesAllToAPipeThatWasSetNotToWait() async throws {
        let ends = try PipeEnds()
        try #require(fcntl(ends.write, F_SETFL, fcntl(ends.write, F_GETFL) | O_NONBLOCK) == 0)
        // More than a pipe takes.
        let bytes = [UInt8](repeating: 7, count: 1 << 20)
        async let received = offPool {
            let file = try FileDescriptor(opened: ends.read)
            return try file.readStream(limit: 2 << 20).count
        }
        try await offPool {
            defer { close(ends.write) }
            try bytes.withUnsafeBytes { try FileDescriptor.writeAll($0, to: ends.write) }
        }
        let count = try await received
        #expect(count == bytes.count)
    }
}
