internal import Dispatch

/// An app's completion block and where to call it.
struct Completion<Value: Sendable>: Sendable {
    /// Nil: wherever the work ended.
    let queue: DispatchQueue?
    let block: @Sendable (Result<Value, any Error>) -> Void

    /// Does the work and calls the block, once.
    ///
    /// Unstructured on purpose: whoever passes a block is not waiting for a task.
    func call(with work: @escaping @Sendable () async throws -> Value) {
        Task {
            let outcome: Result<Value, any Error>
            do {
                outcome = .success(try await work())
            } catch {
                outcome = .failure(error)
            }
            guard let queue else { return block(outcome) }
            queue.async { block(outcome) }
        }
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
