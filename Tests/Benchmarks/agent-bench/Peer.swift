internal import CBenchSystem
internal import Foundation

/// A program of others for the same job, started by peers.py, with one cached token or as many bytes of keys.
struct Peer {
    let server: ServerProcess
    let level: any Level

    /// Starts the peers that this machine has; says on standard error which it has not, and why.
    static func installed(in folder: String, replyLength: Int) throws -> [Peer] {
        try Kind.allCases.compactMap { kind in
            let socketPath = "\(folder)/\(kind.rawValue)"
            let server: ServerProcess
            do {
                server = try ServerProcess(
                    script, [kind.rawValue, socketPath, "\(replyLength)"], socketPath: socketPath)
            } catch let error as BenchError {
                FileHandle.standardError.write(Data("left out: \(error)\n".utf8))
                return nil
            }
            return Peer(server: server, level: try kind.level(socketPath))
        }
    }

    /// The resident memory of the program, without that of the script if it only starts the program.
    var residentKilobytes: Double {
        let processes = server.processes
        return (processes.count > 1 ? processes.dropFirst() : processes[...]).map(ServerProcess.residentKilobytes)
            .reduce(0, +)
    }

    private static let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "peers.py").path

    private enum Kind: String, CaseIterable {
        case sshAgent = "ssh-agent"
        case oidcAgent = "oidc-agent"
        case msalPython = "msal-python"

        func level(_ socketPath: String) throws -> any Level {
            switch self {
            case .sshAgent:
                // The list of keys: length 1, and the number of the request.
                try FramedLevel(name: "ssh-agent, its keys", socketPath: socketPath, request: [0, 0, 0, 1, 11])
            case .oidcAgent:
                ConnectingLevel(
                    name: "oidc-agent, connecting", socketPath: socketPath,
                    request: Array(#"{"request":"access_token","account":"bench","min_valid_period":60}"#.utf8),
                    isFramed: false)
            case .msalPython: try MSALPythonLevel(socketPath: socketPath)
            }
        }
    }
}

/// The silent method of MSAL Python, in its own process: peers.py makes the calls, and returns their durations.
private final class MSALPythonLevel: Level {
    let name = "MSAL Python, in process"
    private let socket: Int32

    init(socketPath: String) throws {
        socket = bench_connect(socketPath)
        guard socket >= 0 else { throw BenchError("cannot connect to \(socketPath) (errno \(-socket))") }
    }

    deinit { close(socket) }

    func sample(_ count: Int) throws -> Sample {
        let line = Array("\(count)\n".utf8)
        guard write(socket, line, line.count) == line.count else { throw BenchError("\(name): it has ended") }
        var nanoseconds = [UInt64](repeating: 0, count: count)
        let isRead = nanoseconds.withUnsafeMutableBytes { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                let read = recv(socket, UnsafeMutableRawBufferPointer(rebasing: rest).baseAddress, rest.count, 0)
                guard read > 0 else { return false }
                rest = rest.dropFirst(read)
            }
            return true
        }
        guard isRead else { throw BenchError("\(name): it has ended") }
        return Sample(nanoseconds)
    }
}
