internal import Dispatch
internal import Synchronization

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

extension Array where Element: Sendable {
    /// The same as `map`, done on every processor where there is enough to do for it.
    func concurrentMap<Value: Sendable>(_ transform: @Sendable (Element) -> Value) -> [Value] {
        let pieces = Swift.min(ProcessInfo.processInfo.activeProcessorCount, count / 64)
        guard pieces > 1 else { return map(transform) }
        let done = Mutex([[Value]](repeating: [], count: pieces))
        DispatchQueue.concurrentPerform(iterations: pieces) { piece in
            let values = self[(count * piece / pieces)..<(count * (piece + 1) / pieces)].map(transform)
            done.withLock { $0[piece] = values }
        }
        return done.withLock { $0.flatMap(\.self) }
    }
}
