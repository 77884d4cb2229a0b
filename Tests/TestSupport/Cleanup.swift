/// Runs `body`, then `cleanUp`, whether `body` returns or throws: a `defer` that may suspend.
package func withCleanup<Value>(
    _ body: () async throws -> Value, cleanUp: () async throws -> Void
) async throws -> Value {
    let value: Value
    do {
        value = try await body()
    } catch {
        try? await cleanUp()
        throw error
    }
    try await cleanUp()
    return value
}
