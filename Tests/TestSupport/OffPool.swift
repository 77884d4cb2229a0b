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

/// As `offPool`, one after the other: work that takes all there is of a processor leaves the others to other tests.
package func inBackground<Value>(_ work: @escaping () throws -> Value) async throws -> Value {
    let box = Handover(work)
    let result = await withCheckedContinuation { continuation in
        background.async { continuation.resume(returning: Handover(Result { try box.value() })) }
    }
    return try result.value.get()
}

private let background = DispatchQueue(label: "tests in the background")

/// Carries something to the other thread and back.
///
/// Unchecked because the test waits meanwhile: only one thread has it at a time.
private struct Handover<Value>: @unchecked Sendable {
    let value: Value

    init(_ value: Value) { self.value = value }
}
