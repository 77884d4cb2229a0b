internal import Foundation
internal import TestSupport
internal import TokenModel
package import TokenWire

extension [UInt8] {
    /// Lower-case hexadecimal, as an argument of a script.
    package var hex: String { map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() }
}

/// A connection of another process to the agent, which counts as another peer than those of the test.
package struct OtherProcess {
    private let process: TestProcess

    /// Starts a process that connects, and returns when one request has been answered.
    package static func connected(to socketPath: String) async throws -> OtherProcess {
        try await connected(to: socketPath, asking: GetStatus())
    }

    /// Starts a process that connects, and returns when its request has been answered.
    package static func connected(
        to socketPath: String, asking request: some WireRequest
    ) async throws -> OtherProcess {
        let frame = try RequestFrame.encode(request, id: 1)
        let process = try TestProcess("/usr/bin/env", ["python3", "-c", script, socketPath, frame.hex])
        try await process.waitForOutput("answered")
        return OtherProcess(process: process)
    }

    /// Sends the request once more on the connection, and returns whether it is answered; false if the agent has closed the connection.
    package func isAnswered() async throws -> Bool {
        process.signal(SIGUSR1)
        return try await process.waitForOutput("ed").contains("answered")
    }

    /// Ends the process, which closes its connection.
    package func end() async throws { try await process.killHard() }

    private static let script = """
        from signal import SIG_BLOCK, SIGUSR1, pthread_sigmask, sigwait
        from socket import AF_UNIX, socket
        from sys import argv
        pthread_sigmask(SIG_BLOCK, {SIGUSR1})
        connection = socket(AF_UNIX)
        connection.connect(argv[1])
        while True:
            try:
                connection.sendall(bytes.fromhex(argv[2]))
                print("answered" if connection.recv(65536) else "closed", flush=True)
            except OSError:
                print("closed", flush=True)
            sigwait({SIGUSR1})
        """
}
