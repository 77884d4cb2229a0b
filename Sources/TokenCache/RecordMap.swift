internal import TokenModel

/// The records of one kind that an account or a group has, by their keys, whose bytes are compared: on the disk, keys that differ in their
/// bytes name different records.
///
/// Nearly all accounts have one or two of a kind. A few are in an array, which takes half of the memory of a dictionary; more are in a
/// dictionary. The order is that of neither.
package struct RecordMap<Record> {
    package typealias Element = (key: String, value: Record)

    fileprivate enum Storage {
        case few([Element])
        case many([ExactText: Record])
    }

    private var storage = Storage.few([])

    package init() {}

    package var count: Int {
        switch storage {
        case .few(let records): records.count
        case .many(let records): records.count
        }
    }

    package var isEmpty: Bool { count == 0 }
    package var keys: [String] { map(\.key) }
    package var values: Values { Values(map: self) }

    package subscript(key: String) -> Record? {
        get {
            switch storage {
            case .few(let records): records.first { $0.key.hasSameBytes(as: key) }?.value
            case .many(let records): records[ExactText(key)]
            }
        }
        set {
            // Taken out of `self`, so that the storage is not shared while it is changed.
            let old = storage
            storage = .few([])
            switch consume old {
            case .few(var records):
                Self.set(newValue, key, in: &records)
                storage =
                    records.count > recordsExamined
                    ? .many(Dictionary(uniqueKeysWithValues: records.map { (ExactText($0.key), $0.value) }))
                    : .few(records)
            case .many(var records):
                records[ExactText(key)] = newValue
                storage = records.isEmpty ? .few([]) : .many(records)
            }
        }
    }

    private static func set(_ record: Record?, _ key: String, in records: inout [Element]) {
        let index = records.firstIndex { $0.key.hasSameBytes(as: key) }
        switch (record, index) {
        case (let record?, let index?): records[index].value = record
        case (let record?, nil):
            // Arrays grow by more than one otherwise.
            records.reserveCapacity(records.count + 1)
            records.append((key, record))
        case (nil, let index?): records.remove(at: index)
        case (nil, nil): break
        }
    }

    package func filter(_ isIncluded: (Element) -> Bool) -> RecordMap {
        var filtered = RecordMap()
        for element in self where isIncluded(element) { filtered[element.key] = element.value }
        return filtered
    }

    /// The records without their keys.
    package struct Values: Sequence {
        fileprivate let map: RecordMap

        package var first: Record? { map.first { _ in true }?.value }

        package struct Iterator: IteratorProtocol {
            fileprivate var elements: RecordMap.Iterator

            package mutating func next() -> Record? { elements.next()?.value }
        }

        package func makeIterator() -> Iterator { Iterator(elements: map.makeIterator()) }
    }
}

extension RecordMap: Sequence {
    package struct Iterator: IteratorProtocol {
        fileprivate var few: IndexingIterator<[Element]>?
        fileprivate var many: Dictionary<ExactText, Record>.Iterator?

        package mutating func next() -> Element? { few?.next() ?? many?.next().map { ($0.key.text, $0.value) } }
    }

    package var underestimatedCount: Int { count }

    package func makeIterator() -> Iterator {
        switch storage {
        case .few(let records): Iterator(few: records.makeIterator())
        case .many(let records): Iterator(many: records.makeIterator())
        }
    }
}

extension RecordMap: Sendable where Record: Sendable {}
extension RecordMap.Storage: Sendable where Record: Sendable {}

extension RecordMap: Equatable where Record: Equatable {
    package static func == (left: Self, right: Self) -> Bool {
        left.count == right.count && left.allSatisfy { right[$0.key] == $0.value }
    }
}

extension RecordMap: ExpressibleByDictionaryLiteral {
    package init(dictionaryLiteral elements: (String, Record)...) {
        for (key, record) in elements { self[key] = record }
    }
}
