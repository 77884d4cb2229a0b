internal import Synchronization
package import TokenModel

/// A cache of another library, in the parts in which it was received. A part is released as soon as it has been read for the
/// last time, so that a long file and the records read from it are not in memory at the same time.
package final class ForeignFile: Sendable {
    /// The length in bytes.
    package let count: Int
    private let parts: Mutex<[Secret?]>
    /// The time within which the file has to be read.
    private let budget = Mutex(ImportBudget.unlimited)

    package init(_ parts: [Secret]) {
        count = parts.reduce(0) { $0 + $1.count }
        self.parts = Mutex(parts)
    }

    /// Limits the time for reading. The file ends early when it has passed; the reader has to check the budget.
    func limit(to budget: ImportBudget) { self.budget.withLock { $0 = budget } }

    /// A part; nil after the last, if it has been released, and when the time for reading has passed.
    ///
    /// - Parameter isLast: whether the part is read for the last time, and released.
    func part(_ index: Int, isLast: Bool) -> Secret? {
        guard !budget.withLock({ $0.isOver }) else { return nil }
        return parts.withLock { parts in
            guard index < parts.count else { return nil }
            defer { if isLast { parts[index] = nil } }
            return parts[index]
        }
    }

    /// A JSON reader of the file.
    ///
    /// - Parameter isLast: whether the file is read for the last time, and its parts are released.
    func jsonReader(isLast: Bool) -> JSONReader {
        JSONReader(ByteFeed { [self] in part($0, isLast: isLast) }, as: Self.jsonDescription)
    }

    private static let jsonDescription = "a token cache in JSON"

    /// The file in one piece; the parts are released one by one.
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
