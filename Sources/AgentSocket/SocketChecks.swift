internal import PosixFiles
package import TokenModel

/// What can be said of a socket's surroundings without the agent.
package enum SocketChecks {
    /// The folder's owner and mode: nobody else may be able to put another socket there.
    package static func folder(of socketPath: String) -> HealthCheck {
        let folder = socketPath.lastIndex(of: "/").map { String(socketPath[..<$0]) } ?? "."
        guard let status = FileStatus(folder) else {
            return HealthCheck(
                name: "socket folder", ok: false, detail: "\(folder) does not exist",
                hint: "starting sso-agent makes it")
        }
        let mode = String(status.mode & 0o777, radix: 8)
        guard status.isOwn, !status.isAccessibleToOthers else {
            return HealthCheck(
                name: "socket folder", ok: false, detail: "\(folder) has mode \(mode) and owner \(status.owner)",
                hint: "chmod 0700 \(folder)")
        }
        return HealthCheck(name: "socket folder", ok: true, detail: "\(folder) has mode \(mode)")
    }
}
