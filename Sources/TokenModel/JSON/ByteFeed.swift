/// The bytes of a text that arrives in parts, in their order and one part at a time.
package struct ByteFeed {
    /// Returns the part with a number, counted from 0; nil after the last. Nil for a text in one piece.
    private let part: ((Int) -> Secret?)?
    private var nextPart = 0
    /// The part that is being read.
    package private(set) var buffer: [UInt8] = []
    /// The index in `buffer` of the next byte; at its end only if no byte is left.
    package private(set) var index = 0
    private var passed = 0

    /// Creates a feed of parts.
    ///
    /// - Parameter part: returns the part with a number, counted from 0; nil after the last. Called once for each.
    package init(parts part: @escaping (Int) -> Secret?) {
        self.part = part
        refill()
    }

    package init(_ bytes: [UInt8]) {
        part = nil
        buffer = bytes
    }

    /// The number of bytes that have been read.
    package var position: Int { passed + index }

    /// The next byte; nil at the end.
    var next: UInt8? { index < buffer.count ? buffer[index] : nil }

    mutating func advance() { advance(to: index + 1) }

    /// Continues at an index of the buffer, or in the next part if that is the buffer's end.
    mutating func advance(to index: Int) {
        self.index = index
        if index == buffer.count { refill() }
    }

    private mutating func refill() {
        while index == buffer.count, let part = part?(nextPart) {
            passed += buffer.count
            nextPart += 1
            index = 0
            // Overwritten in place, so that no copy of a token stays in memory.
            buffer.wipe()
            buffer.removeAll(keepingCapacity: true)
            part.withBytes { buffer += $0 }
        }
    }

    /// Overwrites the last part in memory.
    mutating func wipe() {
        guard part != nil else { return }
        buffer.wipe()
    }
}
