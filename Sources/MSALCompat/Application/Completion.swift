internal import AgentClient
internal import Dispatch
internal import Foundation

/// Called once, with a result or an error.
public typealias MSALCompletionBlock = (MSALResult?, (any Error)?) -> Void

/// Called once, with a list of accounts, which may be empty, or an error.
public typealias MSALAccountsCompletionBlock = ([MSALAccount]?, (any Error)?) -> Void

/// Called once, with the current account and the previous one, or an error.
public typealias MSALCurrentAccountCompletionBlock = (MSALAccount?, MSALAccount?, (any Error)?) -> Void

/// Called once, with whether the account was signed out, and an error if it was not.
public typealias MSALSignoutCompletionBlock = (Bool, (any Error)?) -> Void

/// Called once, with information about the device. Inert: it is empty.
public typealias MSALDeviceInformationCompletionBlock = (MSALDeviceInformation?, (any Error)?) -> Void

/// Called for each log message, with its level, its text, and whether it may contain personal data, which is always
/// false here.
public typealias MSALLogCallback = (MSALLogLevel, String?, Bool) -> Void

/// Called with telemetry events on Apple's platforms. Inert: never called.
public typealias MSALTelemetryCallback = ([String: String]) -> Void

/// The completion block of an app, and the thread on which MSAL calls it.
struct Completion<Value: Sendable>: Sendable {
    /// The queue that the app set.
    let queue: DispatchQueue?
    /// Whether the block is called on the main thread if the app set no queue.
    var isForMainThread = false
    let block: @Sendable (Result<Value, any Error>) -> Void

    /// Runs `prepare` on the calling thread, then the work that it returns, and calls the block once: on `queue`, or
    /// else on the main queue if `isForMainThread`, or else on a background queue. An error of `prepare` is reported as
    /// `report(_:)` does.
    ///
    /// The task is unstructured, because nothing waits for a completion block.
    func call(_ prepare: () throws -> @Sendable () async throws -> Value) {
        let work: @Sendable () async throws -> Value
        do {
            if let error = AgentClient.errorOfCopiedProcess { throw MSALError.error(for: error) }
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
            // Outside of Swift's cooperative pool, which a block that waits for another request would starve.
            (queue ?? (isForMainThread ? .main : .global())).async { block(outcome) }
        }
    }

    /// Calls the block with a result that is known already: before this method returns, unless the app set a queue, or
    /// the block belongs on the main thread and this is another thread. In a copy (`fork`) of the process, where queues may never run,
    /// always before this method returns.
    func report(_ outcome: Result<Value, any Error>) {
        let isForThisThread = queue == nil && (!isForMainThread || MainThread.isCurrent)
        guard isForThisThread || AgentClient.errorOfCopiedProcess != nil else {
            return (queue ?? .main).async { block(outcome) }
        }
        block(outcome)
    }
}

extension Result {
    /// The value, or nil, for a block that takes value and error as two arguments.
    var value: Success? { try? get() }

    /// The error, or nil, for a block that takes value and error as two arguments.
    var error: (any Error)? {
        if case .failure(let error) = self { error } else { nil }
    }
}

/// Identifies the main thread, on which the completion blocks of interactive methods are called.
enum MainThread {
    /// A key whose value marks the main queue.
    private static let mark: DispatchSpecificKey<Bool> = {
        let mark = DispatchSpecificKey<Bool>()
        DispatchQueue.main.setSpecific(key: mark, value: true)
        return mark
    }()

    /// Whether the calling code runs on the main thread or on the main queue. These differ on Linux: under
    /// `dispatchMain()` or an async `main`, other threads serve the main queue and the main actor.
    static var isCurrent: Bool { Thread.isMainThread || DispatchQueue.getSpecific(key: mark) == true }
}
