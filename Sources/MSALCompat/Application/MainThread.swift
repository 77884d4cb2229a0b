internal import Dispatch
internal import Foundation

/// The main thread, where the completion blocks of interactive methods are called.
enum MainThread {
    /// Marks the main queue.
    private static let mark: DispatchSpecificKey<Bool> = {
        let mark = DispatchSpecificKey<Bool>()
        DispatchQueue.main.setSpecific(key: mark, value: true)
        return mark
    }()

    /// Whether the calling code runs on the main thread or on the main queue. On Linux these differ: under `dispatchMain()` or an
    /// async `main`, other threads serve the main queue and the main actor.
    static var isCurrent: Bool { Thread.isMainThread || DispatchQueue.getSpecific(key: mark) == true }
}
