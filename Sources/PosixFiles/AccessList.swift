internal import CAgentSystem

/// The POSIX access control list of a file, as Linux has it in the extended attribute `system.posix_acl_access`
/// (`linux/posix_acl_xattr.h`).
///
/// The group permissions in the mode of such a file are the list's mask. So if the mode lets neither group nor others write, no entry of
/// the list lets anybody but the owner write.
package struct AccessList: Sendable, Equatable {
    /// A user or a group that the list names and that may write to the file.
    package enum Writer: Sendable, Equatable {
        case user(UInt32)
        case group(UInt32)
    }

    /// The users and groups named in the list that may write, as far as its mask allows it; the owner, the owning group and others are
    /// not among them.
    package let writers: [Writer]

    /// Parses the value of the attribute.
    ///
    /// - Returns: nil if it is not a list that Linux writes.
    package init?(attribute bytes: some Collection<UInt8>) {
        let bytes = Array(bytes)
        guard bytes.count >= 4, bytes.count <= Self.limit, (bytes.count - 4).isMultiple(of: 8),
            Self.number(bytes[0..<4]) == 2
        else { return nil }
        var named: [Writer] = []
        var mask: UInt32 = 0o7
        for start in stride(from: 4, to: bytes.count, by: 8) {
            let tag = Self.number(bytes[start..<start + 2])
            let permissions = Self.number(bytes[start + 2..<start + 4])
            let identifier = Self.number(bytes[start + 4..<start + 8])
            let mayWrite = permissions & 0o2 != 0
            switch tag {
            // The owner, the owning group, and others.
            case 0x01, 0x04, 0x20: break
            case 0x02: if mayWrite { named.append(.user(identifier)) }
            case 0x08: if mayWrite { named.append(.group(identifier)) }
            case 0x10: mask = permissions
            default: return nil
            }
        }
        writers = mask & 0o2 != 0 ? named : []
    }

    /// Reads the list of a file or directory, not of what a symbolic link leads to. It has no writers if there is none, and on
    /// systems without such lists.
    ///
    /// - Returns: nil if it cannot be read.
    init?(ofFileAt path: String) {
        var status = 0
        let attribute = [UInt8](unsafeUninitializedCapacity: Self.limit) { buffer, count in
            status = agent_read_access_list(path, buffer.baseAddress, buffer.count)
            count = max(status, 0)
        }
        guard status >= 0 else { return nil }
        self.init(attribute: attribute.isEmpty ? Self.empty : attribute)
    }

    /// A list without entries: the version alone.
    private static let empty: [UInt8] = [2, 0, 0, 0]

    /// The length of the longest attribute, in bytes (`XATTR_SIZE_MAX`).
    private static let limit = 65536

    /// A number of up to four bytes, the lowest first.
    private static func number(_ bytes: ArraySlice<UInt8>) -> UInt32 {
        bytes.reversed().reduce(0) { $0 << 8 | UInt32($1) }
    }
}
