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

    /// What an app writes to a standard stream that is closed would go into the pipe.
    @Test func makesNoPipeWithTheNumberOfAClosedStandardStream() async {
        await #expect(processExitsWith: .success) {
            for stream in STDIN_FILENO...STDERR_FILENO { close(stream) }
            let ends = try PipeEnds(isNonBlocking: true)
            for end in [ends.read, ends.write] {
                #expect(end > STDERR_FILENO)
                #expect(fcntl(end, F_GETFD) & FD_CLOEXEC != 0)
                #expect(fcntl(end, F_GETFL) & O_NONBLOCK != 0)
            }
            var byte: UInt8 = 7
            let written = write(ends.write, &byte, 1)
            byte = 0
            let count = read(ends.read, &byte, 1)
            #expect(written == 1 && count == 1 && byte == 7)
        }
    }
}
