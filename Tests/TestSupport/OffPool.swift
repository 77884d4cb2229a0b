internal import Dispatch
internal import Foundation

/// Runs blocking work on a thread of its own and waits for it.
///
/// An app, its agent and the emulator are processes of their own; in a test they share the few threads of Swift's pool,
/// and two blocked ones can be all there are.
package func offPool<Value>(_ work: @escaping () throws -> Value) async throws -> Value {
    let box = Handover(work)
    let result = await withCheckedContinuation { continuation in
        Thread.detachNewThread { continuation.resume(returning: Handover(Result { try box.value() })) }
    }
    return try result.value.get()
}

/// The same, one piece of work after the other: work that only computes takes one processor and leaves the rest to other tests.
package func inBackground<Value>(_ work: @escaping () throws -> Value) async throws -> Value {
    let box = Handover(work)
    let result = await withCheckedContinuation { continuation in
        background.async { continuation.resume(returning: Handover(Result { try box.value() })) }
    }
    return try result.value.get()
}

private let background = DispatchQueue(label: "tests in the background")

/// A value on its way to another thread and back.
///
/// Unchecked because the test waits meanwhile: only one thread has it at a time.
private struct Handover<Value>: @unchecked Sendable {
    let value: Value

    init(_ value: Value) { self.value = value }
}
