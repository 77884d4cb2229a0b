#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// The bytes of a credential: they do not print, are wiped when the last reference goes, and compare in constant time. They
/// lie in memory that is left out of core dumps.
///
/// UTF-8 by convention. Copies share one buffer. Safe to use from any thread: the bytes never change after `init`.
public final class Secret: Sendable {
    // Unsafe only in being a pointer: written in `init`, wiped in `deinit`, read-only between the two.
    private nonisolated(unsafe) let storage: UnsafeMutableRawBufferPointer

    /// Copies the UTF-8 bytes of `text`.
    public convenience init(_ text: String) {
        self.init(bytes: Array(text.utf8))
    }

    /// Copies `bytes`.
    public init(bytes: some Collection<UInt8>) {
        storage = SecretMemory.shared.take(bytes.count)
        storage.copyBytes(from: bytes)
    }

    deinit { SecretMemory.shared.give(storage) }

    /// The number of bytes.
    public var count: Int { storage.count }

    /// Whether there is nothing in it.
    public var isEmpty: Bool { storage.isEmpty }

    /// Lends the bytes for the time of `body`; do not keep the pointer.
    public func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        body(UnsafeRawBufferPointer(storage))
    }

    /// The secret as text, for the moment it has to leave this type. Ill-formed UTF-8 is repaired.
    public func reveal() -> String {
        String(decoding: storage, as: UTF8.self)
    }
}

extension Secret: Equatable {
    /// Compares every byte, so that the time taken says nothing about where two secrets differ.
    public static func == (left: Secret, right: Secret) -> Bool {
        guard left.count == right.count else { return false }
        var difference: UInt8 = 0
        for index in 0..<left.count { difference |= left.storage[index] ^ right.storage[index] }
        return difference == 0
    }
}

extension Secret: Hashable {
    /// Hashes the bytes with Swift's per-process seed.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(bytes: UnsafeRawBufferPointer(storage))
    }
}

extension Secret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Says only how long it is.
    public var description: String { "<secret, \(count) bytes>" }
    /// The same as `description`.
    public var debugDescription: String { description }
    /// Shows nothing, so that `dump` of an enclosing value shows nothing either.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// Overwrites memory in a way that the optimiser may not drop.
package func wipeMemory(_ memory: UnsafeMutableRawBufferPointer) {
    guard let base = memory.baseAddress else { return }
    #if canImport(Glibc)
        explicit_bzero(base, memory.count)
    #elseif canImport(Darwin)
        _ = memset_s(base, memory.count, 0, memory.count)
    #endif
}
