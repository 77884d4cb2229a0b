internal import Dispatch
internal import Foundation

/// Called once with a result or an error.
public typealias MSALCompletionBlock = (MSALResult?, (any Error)?) -> Void

/// Called once with accounts, perhaps none, or an error.
public typealias MSALAccountsCompletionBlock = ([MSALAccount]?, (any Error)?) -> Void

/// Called once with the current account, the one before it, and an error.
public typealias MSALCurrentAccountCompletionBlock = (MSALAccount?, MSALAccount?, (any Error)?) -> Void

/// Called once with whether the account was signed out, and an error when not.
public typealias MSALSignoutCompletionBlock = (Bool, (any Error)?) -> Void

/// Called once with what is known of the device. Inert: here that is nothing.
public typealias MSALDeviceInformationCompletionBlock = (MSALDeviceInformation?, (any Error)?) -> Void

/// Called for each log message: its level, its text, and whether it may contain personal data (never, here).
public typealias MSALLogCallback = (MSALLogLevel, String?, Bool) -> Void

/// Called with telemetry events on Apple's platforms. Inert: never called.
public typealias MSALTelemetryCallback = ([String: String]) -> Void

/// An app's completion block, and where MSAL calls it.
struct Completion<Value: Sendable>: Sendable {
    /// The queue that the app asked for.
    let queue: DispatchQueue?
    /// Whether the block belongs on the main thread when the app asked for no queue.
    var isForMainThread = false
    let block: @Sendable (Result<Value, any Error>) -> Void

    /// Prepares the work on the calling thread, does it later, and calls the block once: on `queue`, else on the main queue
    /// where it belongs there, else where the work ended. An error of `prepare` is reported as `report(_:)` does.
    ///
    /// The task is unstructured on purpose: whoever passes a block is not waiting for a task.
    func call(_ prepare: () throws -> @Sendable () async throws -> Value) {
        let work: @Sendable () async throws -> Value
        do {
            work = try prepare()
        } catch {
            return report(.failure(error))
        }
        Task {
            let outcome: Result<Value, any Error>
            do {
                outcome = .success(try await work())
            } catch {
                outcome = .failure(error)
            }
            guard let queue = queue ?? (isForMainThread ? .main : nil) else { return block(outcome) }
            queue.async { block(outcome) }
        }
    }

    /// Calls the block with what is known already: before this returns, unless the app asked for a queue or the block belongs
    /// on the main thread and this is another.
    func report(_ outcome: Result<Value, any Error>) {
        guard queue == nil, !isForMainThread || MainThread.isCurrent else {
            return (queue ?? .main).async { block(outcome) }
        }
        block(outcome)
    }
}

extension Result {
    /// The value, for a block that takes value and error side by side.
    var value: Success? { try? get() }

    /// The error, likewise.
    var error: (any Error)? {
        if case .failure(let error) = self { error } else { nil }
    }
}

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
