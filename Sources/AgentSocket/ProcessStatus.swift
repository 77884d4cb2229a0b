/// The fields of `/proc/PID/status` that describe a sandbox.
package struct ProcessStatus: Sendable, Equatable {
    /// The number of PID namespaces in which the process has an ID, from that of `/proc` to its own.
    package let namespaceDepth: Int
    /// Whether the process can gain no privileges by `execve` (`no_new_privs`).
    package let hasNoNewPrivileges: Bool
    /// The capabilities that the process and the programs that it runs can have at most, one bit for each; 0 if not reported.
    package let capabilityBounds: UInt64

    /// Parses the content of the file.
    package init(_ text: String) {
        var (depth, hasNoNewPrivileges, bounds) = (1, false, UInt64(0))
        for line in text.split(separator: "\n") {
            if let values = Self.value(of: "NSpid", in: line) {
                depth = values.split(whereSeparator: \.isWhitespace).count
            } else if let value = Self.value(of: "NoNewPrivs", in: line) {
                hasNoNewPrivileges = value.contains("1")
            } else if let value = Self.value(of: "CapBnd", in: line) {
                bounds = value.split(whereSeparator: \.isWhitespace).first.flatMap { UInt64($0, radix: 16) } ?? 0
            }
        }
        (namespaceDepth, self.hasNoNewPrivileges, capabilityBounds) = (depth, hasNoNewPrivileges, bounds)
    }

    private static func value(of name: String, in line: Substring) -> Substring? {
        line.hasPrefix(name + ":") ? line.dropFirst(name.count + 1) : nil
    }
}
