internal import TokenModel

/// A dictionary in the order of the bytes of its keys, in which any position is found, and a key added or removed, in logarithmic time and
/// a short move of memory.
///
/// The entries are in blocks of limited length; no block is empty.
package struct SortedMap<Value> {
    package typealias Entry = (key: String, value: Value)

    private var blocks: [[Entry]] = []
    package private(set) var count = 0

    package init() {}

    package var isEmpty: Bool { count == 0 }

    package subscript(key: String) -> Value? {
        get {
            let (block, index, isFound) = position(of: key)
            return isFound ? blocks[block][index].value : nil
        }
        set {
            let (block, index, isFound) = position(of: key)
            switch (newValue, isFound) {
            case (let value?, true): blocks[block][index].value = value
            case (let value?, false): insert((key, value), block, index)
            case (nil, true): remove(block, index)
            case (nil, false): break
            }
        }
    }

    /// Calls `body` with the entries in order, until it returns false.
    ///
    /// - Parameter first: the entries before this key are left out; nil for none.
    package func forEach(from first: String? = nil, _ body: (_ key: String, _ value: Value) -> Bool) {
        let start = first.map { position(of: $0) } ?? (block: 0, index: 0, isFound: false)
        for block in blocks.indices.dropFirst(start.block) {
            for entry in blocks[block].dropFirst(block == start.block ? start.index : 0) {
                guard body(entry.key, entry.value) else { return }
            }
        }
    }

    package var values: [Value] { blocks.flatMap { $0.map(\.value) } }

    /// The position of a key, or where to insert it.
    private func position(of key: String) -> (block: Int, index: Int, isFound: Bool) {
        guard !blocks.isEmpty else { return (0, 0, false) }
        let following = blocks.firstSortedIndex { key.precedes($0[0].key) }
        let block = max(following - 1, 0)
        let index = blocks[block].firstSortedIndex { !$0.key.precedes(key) }
        return (block, index, index < blocks[block].count && blocks[block][index].key.hasSameBytes(as: key))
    }

    private mutating func insert(_ entry: Entry, _ block: Int, _ index: Int) {
        count += 1
        guard !blocks.isEmpty else { return blocks.append([entry]) }
        blocks[block].insert(entry, at: index)
        guard blocks[block].count > Self.blockLength else { return }
        let half = Self.blockLength / 2
        // Both halves are copied, without unused capacity: keys are often added in order, so that the first half does
        // not grow any more.
        let (first, second) = (Array(blocks[block][..<half]), Array(blocks[block][half...]))
        blocks[block] = first
        blocks.insert(second, at: block + 1)
    }

    private mutating func remove(_ block: Int, _ index: Int) {
        count -= 1
        blocks[block].remove(at: index)
        if blocks[block].isEmpty { blocks.remove(at: block) }
    }

    private static var blockLength: Int { 256 }
}

extension Array {
    /// The first index whose element has a property that all later ones have too, found by halves; the count if none has it.
    func firstSortedIndex(where property: (Element) -> Bool) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if property(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}

extension SortedMap: Sendable where Value: Sendable {}

extension SortedMap: Equatable where Value: Equatable {
    package static func == (left: Self, right: Self) -> Bool {
        guard left.count == right.count else { return false }
        let (left, right) = (left.blocks.joined(), right.blocks.joined())
        return zip(left, right).allSatisfy { $0.key.hasSameBytes(as: $1.key) && $0.value == $1.value }
    }
}
