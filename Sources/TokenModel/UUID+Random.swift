#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

extension UUID {
    /// A random UUID (RFC 9562 section 5.4). Foundation opens a device for each one; this asks the system's generator.
    static func random() -> UUID {
        var generator = SystemRandomNumberGenerator()
        let version: UInt64 = 4 << 12
        let variant: UInt64 = 2 << 62
        let halves = (
            (generator.next() & ~(0xF << 12) | version).bigEndian,
            (generator.next() & ~(3 << 62) | variant).bigEndian
        )
        return withUnsafeBytes(of: halves) { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
    }
}
