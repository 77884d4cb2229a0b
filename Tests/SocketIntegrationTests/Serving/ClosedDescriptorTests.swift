internal import AgentSocket
internal import AgentTestSupport
internal import Foundation
internal import TestSupport
internal import Testing
internal import TokenModel

@testable internal import AgentClient

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Apps that close descriptors: their standard streams before the first call, or all that they find after it.
@Suite(.bounded) struct ClosedDescriptorTests {
    /// What an app writes to a standard stream that is closed would go to the agent, which closes the connection then. The next line would end
    /// the app (SIGPIPE).
    @Test func givesNoSocketTheNumberOfAClosedStandardStream() async {
        await #expect(processExitsWith: .success) {
            for stream in STDIN_FILENO...STDERR_FILENO { close(stream) }
            let socket = try UnixSocket.make()
            #expect(socket > STDERR_FILENO)
            #expect(fcntl(socket, F_GETFD) & FD_CLOEXEC != 0)
            #expect(fcntl(socket, F_GETFL) & O_NONBLOCK != 0)
            close(socket)
        }
    }

    @Test func leavesAFileAloneThatHasTheNumberOfAClosedDescriptor() throws {
        let (number, other) = (try UnixSocket.make(), try UnixSocket.make())
        let descriptor = OwnDescriptor(number)
        #expect(descriptor.isOpen)
        try #require(dup2(other, number) == number)
        #expect(!descriptor.isOpen)
        descriptor.shutDown()
        descriptor.close()
        #expect(fcntl(number, F_GETFD) >= 0)
        close(number)
        let own = OwnDescriptor(other)
        own.close()
        #expect(!own.isOpen)
    }

    /// A server that closes every descriptor (`closefrom`) and opens files of its own, which get the same numbers.
    @Test func connectsAgainAndLeavesTheFilesOfTheAppAlone() async throws {
        try await AgentFixture.with { f in
            await #expect(processExitsWith: .success) { [path = f.socketPath as String] in
                let folder = try TemporaryFolder()
                let text = folder.file("text")
                try "What only the app reads.".write(toFile: text, atomically: false, encoding: .utf8)
                let before = channels()
                let client = AgentClient(socketPath: path)
                let list = ListAccounts(clientID: nil)
                #expect(try client.listAccountsAndWait(list).isEmpty, "before")
                let numbers = channels().subtracting(before)
                // Those of the socket and of a pipe.
                try #require(numbers.count >= 3)
                // The thread wakes when the writing end of its pipe closes, which is the last one here: it could close a descriptor at the moment
                // at which it is replaced.
                let writing = numbers.filter { fcntl($0, F_GETFL) & O_ACCMODE == O_WRONLY }
                let file = open(text, O_RDWR)
                for number in Array(numbers.subtracting(writing)) + Array(writing) {
                    try #require(dup2(file, number) == number)
                }
                #expect(try client.listAccountsAndWait(list).isEmpty, "after")
                #expect(lseek(file, 0, SEEK_CUR) == 0)
                #expect(try String(contentsOfFile: text, encoding: .utf8) == "What only the app reads.")
                #expect(numbers.allSatisfy { fcntl($0, F_GETFD) >= 0 })
                #expect(channels().isDisjoint(with: numbers))
            }
        }
    }
}

/// The numbers of the sockets and pipes of this process.
private func channels() -> Set<Int32> {
    let numbers: Range<Int32> = 0..<256
    return Set(
        numbers.filter { number in
            var status = stat()
            return fstat(number, &status) == 0 && [S_IFSOCK, S_IFIFO].contains(status.st_mode & S_IFMT)
        })
}
