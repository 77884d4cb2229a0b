internal import Foundation

/// Another user of the machine, with whose rights a test runs scripts. Only root can do that.
package enum OtherUser {
    /// Whether tests can become another user, for `.enabled(if:)`.
    package static var isPossible: Bool { geteuid() == 0 }

    /// The ID of the user, `nobody`.
    package static let id: UInt32 = 65534

    /// The command of root's that runs the words after it with the user's rights.
    package static let command = ["setpriv", "--reuid=\(id)", "--regid=\(id)", "--clear-groups"]

    /// Whether the system lets the user create a user namespace, in which it is root.
    package static func canBeRootOfANamespace() async throws -> Bool {
        guard isPossible else { return false }
        return try await start("exit 0", isRootOfANamespace: true).finish().status == 0
    }

    /// Starts a script of bash, whose arguments are `$0`, `$1` and so on.
    ///
    /// - Parameter isRootOfANamespace: whether the user is root in a user namespace of its own.
    package static func start(
        _ script: String, _ arguments: [String] = [], isRootOfANamespace: Bool = false
    ) throws -> TestProcess {
        let namespace = isRootOfANamespace ? ["unshare", "--user", "--map-root-user"] : []
        return try TestProcess("/usr/bin/env", command + namespace + ["bash", "-c", script] + arguments)
    }

    /// Sends a GET request to a server at an address of this machine, and returns what it answers; empty if it closes the
    /// connection.
    package static func get(
        _ target: String, at address: String, port: Int, isRootOfANamespace: Bool = false
    ) async throws -> String {
        let script = """
            exec 3<>"/dev/tcp/$0/$1" || exit 3
            printf 'GET %s HTTP/1.1\\r\\nHost: localhost\\r\\n\\r\\n' "$2" >&3
            cat <&3 2>/dev/null
            exit 0
            """
        let ended = try await start(
            script, [address, String(port), target], isRootOfANamespace: isRootOfANamespace
        ).finish()
        guard ended.status == 0 else { throw NotConnected(errors: ended.errors) }
        return ended.output
    }

    /// Opens a number of connections to a server, and keeps them open until the process is killed. The process prints
    /// `connected` when all are open.
    package static func connections(_ count: Int, to address: String, port: Int) throws -> TestProcess {
        let script = """
            for _ in $(seq "$2"); do exec {connection}<>"/dev/tcp/$0/$1" || exit 3; done
            echo connected
            exec sleep 1000
            """
        return try start(script, [address, String(port), String(count)])
    }

    /// The server could not be connected to.
    package struct NotConnected: Error {
        package let errors: String
    }
}
