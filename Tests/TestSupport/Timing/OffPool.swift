internal import Dispatch
internal import Foundation

/// Runs blocking work on a thread of its own and waits for it.
///
/// In a test, app, agent and emulator are in one process and share the few threads of Swift's pool. Two blocked threads may be
/// all of them.
package func offPool<Value>(_ work: @escaping () throws -> Value) async throws -> Value {
    let box = Handover(work)
    let result = await withCheckedContinuation { continuation in
        Thread.detachNewThread { continuation.resume(returning: Handover(Result { try box.value() })) }
    }
    return try result.value.get()
}

/// Runs computing work on a queue, one piece after the other, and waits for it: it uses one processor, and leaves the others to
/// other tests.
package func inBackground<Value>(_ work: @escaping () throws -> Value) async throws -> Value {
    let box = Handover(work)
    let result = await withCheckedContinuation { continuation in
        background.async { continuation.resume(returning: Handover(Result { try box.value() })) }
    }
    return try result.value.get()
}

private let background = DispatchQueue(label: "tests in the background")

/// A value that is passed to another thread and back.
///
/// Unchecked because the test waits meanwhile: only one thread uses the value at a time.
private struct Handover<Value>: @unchecked Sendable {
    let value: Value

    init(_ value: Value) { self.value = value }
}
