internal import Synchronization

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif
#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// The identifier of one operation in the logs of the app, the agent and the token endpoint.
public struct CorrelationID: Sendable, Hashable, CustomStringConvertible {
    /// The UUID, sent as `client-request-id`.
    public let uuid: UUID

    /// Creates the identifier of an operation that the app has named.
    public init(_ uuid: UUID) {
        self.uuid = uuid
    }

    /// Creates a random identifier.
    public init() {
        self.uuid = .random()
    }

    /// Returns nil unless `text` is a UUID.
    public init?(_ text: String) {
        guard let uuid = UUID(text: text) else { return nil }
        self.uuid = uuid
    }

    /// Returns nil unless the bytes are the text of a UUID.
    package init?(_ text: UnsafeRawBufferPointer) {
        guard let bytes = UUID.bytes(of: text) else { return nil }
        self.uuid = UUID(uuid: bytes)
    }

    /// The UUID in lower case.
    public var description: String { uuid.lowercaseText }

    /// Writes the UUID in lower case, 36 bytes.
    package func write(to target: UnsafeMutableRawBufferPointer) { uuid.writeLowercase(to: target) }
}

/// Numbers for UUIDs, which need not be secret: the system's generator is asked for many at a time, since each time is a system call.
///
/// A child of the process begins with the numbers of its parent.
private struct UniqueNumbers {
    private var numbers: [UInt64] = []

    mutating func pair() -> (UInt64, UInt64) {
        if numbers.count < 2 {
            var generator = SystemRandomNumberGenerator()
            var fresh = [UInt64](repeating: 0, count: Self.stock)
            #if os(Linux)
                let isFilled = fresh.withUnsafeMutableBytes { getentropy($0.baseAddress, $0.count) == 0 }
            #else
                // The generator needs no system call there.
                let isFilled = false
            #endif
            if !isFilled { for index in fresh.indices { fresh[index] = generator.next() } }
            numbers = fresh
        }
        return (numbers.removeLast(), numbers.removeLast())
    }

    /// The number of UUIDs that are made at a time: `getentropy` gives 256 bytes.
    private static let stock = 32
}

extension UUID {
    private static let numbers = Mutex(UniqueNumbers())

    /// A random UUID (RFC 9562 section 5.4). Foundation opens a device for each one.
    static func random() -> UUID {
        let version: UInt64 = 4 << 12
        let variant: UInt64 = 2 << 62
        let random = numbers.withLock { $0.pair() }
        let halves = (
            (random.0 & ~(0xF << 12) | version).bigEndian,
            (random.1 & ~(3 << 62) | variant).bigEndian
        )
        return withUnsafeBytes(of: halves) { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
    }
}

/// UUIDs as text (RFC 9562 section 4), for speed: every request has one, and Foundation uses `scanf` and `printf`.
extension UUID {
    /// Returns nil unless `text` is a UUID of 36 characters, in upper or lower case.
    init?(text: String) {
        var text = text
        guard let bytes = text.withUTF8({ Self.bytes(of: UnsafeRawBufferPointer($0)) }) else { return nil }
        self.init(uuid: bytes)
    }

    fileprivate static func bytes(of text: UnsafeRawBufferPointer) -> uuid_t? {
        guard text.count == 36 else { return nil }
        var bytes: uuid_t = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
        let isValid = withUnsafeMutableBytes(of: &bytes) { bytes in
            var position = 0
            for index in bytes.indices {
                if hasDash(before: index) {
                    guard text[position] == UInt8(ascii: "-") else { return false }
                    position += 1
                }
                guard let high = digit(text[position]), let low = digit(text[position + 1]) else { return false }
                bytes[index] = high << 4 | low
                position += 2
            }
            return true
        }
        return isValid ? bytes : nil
    }

    /// The UUID in lower case, 36 characters.
    var lowercaseText: String {
        String(unsafeUninitializedCapacity: 36) {
            writeLowercase(to: UnsafeMutableRawBufferPointer($0))
            return 36
        }
    }

    /// Writes the 36 characters of the UUID in lower case.
    fileprivate func writeLowercase(to text: UnsafeMutableRawBufferPointer) {
        withUnsafeBytes(of: uuid) { bytes in
            var position = 0
            for index in bytes.indices {
                if Self.hasDash(before: index) {
                    text[position] = UInt8(ascii: "-")
                    position += 1
                }
                text[position] = Self.character(bytes[index] >> 4)
                text[position + 1] = Self.character(bytes[index] & 0xF)
                position += 2
            }
        }
    }

    private static func hasDash(before index: Int) -> Bool {
        switch index {
        case 4, 6, 8, 10: true
        default: false
        }
    }

    private static func character(_ digit: UInt8) -> UInt8 {
        digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10
    }

    private static func digit(_ character: UInt8) -> UInt8? {
        switch character {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): character - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): character - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): character - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
