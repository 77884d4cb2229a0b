internal import Synchronization
package import TokenModel

/// Another library's cache as it came in: in parts, each of which is let go of once it has been read for good, so that a long
/// file and what is made of it are not in memory at the same time.
package final class ForeignFile: Sendable {
    /// The length in bytes.
    package let count: Int
    private let parts: Mutex<[Secret?]>

    package init(_ parts: [Secret]) {
        count = parts.reduce(0) { $0 + $1.count }
        self.parts = Mutex(parts)
    }

    package convenience init(_ bytes: [UInt8]) { self.init([Secret(bytes: bytes)]) }

    /// A part; nil after the last, and where it has been let go of.
    ///
    /// - Parameter isLast: whether nobody reads it again.
    func part(_ index: Int, isLast: Bool) -> Secret? {
        parts.withLock { parts in
            guard index < parts.count else { return nil }
            defer { if isLast { parts[index] = nil } }
            return parts[index]
        }
    }

    /// All of it in one piece; the parts are let go of one by one.
    func joined() -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count)
        var index = 0
        while let part = part(index, isLast: true) {
            part.withBytes { bytes += $0 }
            index += 1
        }
        return bytes
    }
}

/// The bytes of a file in their order, a part at a time.
struct ByteFeed {
    private let file: ForeignFile?
    private let isLast: Bool
    private var nextPart = 0
    /// The part that is being read.
    private(set) var buffer: [UInt8] = []
    /// Where in it; before its end unless nothing follows.
    private(set) var index = 0
    private var passed = 0

    /// - Parameter isLast: whether the file is read for the last time, so that parts may be let go of.
    init(_ file: ForeignFile, isLast: Bool) {
        self.file = file
        self.isLast = isLast
        refill()
    }

    init(_ bytes: [UInt8]) {
        file = nil
        isLast = false
        buffer = bytes
    }

    /// How many bytes have been read.
    var position: Int { passed + index }

    /// The next byte; nil at the end.
    var next: UInt8? { index < buffer.count ? buffer[index] : nil }

    mutating func advance() { advance(to: index + 1) }

    /// Goes to an index of the buffer, and on to the next part where that is its end.
    mutating func advance(to index: Int) {
        self.index = index
        if index == buffer.count { refill() }
    }

    private mutating func refill() {
        while index == buffer.count, let part = file?.part(nextPart, isLast: isLast) {
            passed += buffer.count
            nextPart += 1
            index = 0
            // In place, so that no copy of a token is left behind.
            buffer.withUnsafeMutableBytes { wipeMemory($0) }
            buffer.removeAll(keepingCapacity: true)
            part.withBytes { buffer += $0 }
        }
    }

    /// Overwrites what is left of the bytes.
    mutating func wipe() {
        guard file != nil else { return }
        buffer.withUnsafeMutableBytes { wipeMemory($0) }
    }
}
