/// The secrets that have been issued, with what each stands for.
///
/// Past the limit the oldest are forgotten, those that cannot be used any more before others: a long run needs no more memory.
struct IssuedSecrets<Value: Sendable>: Sendable {
    private let limit: Int
    private var values: [String: Value] = [:]
    /// The secrets in the order of issue. Those that have been removed stay until the limit is reached.
    private var order: [String] = []

    init(limit: Int) { self.limit = limit }

    /// The value for which a secret was issued; nil if it has not been issued, or is forgotten. A change of an unknown secret has no effect.
    subscript(secret: String) -> Value? {
        get { values[secret] }
        set { if values[secret] != nil { values[secret] = newValue } }
    }

    /// Adds a new secret.
    ///
    /// - Parameter isSpent: whether the secret of a value cannot be used any more.
    mutating func issue(_ value: Value, as secret: String, isSpent: (Value) -> Bool = { _ in false }) {
        if order.count >= limit { makeRoom(isSpent) }
        values[secret] = value
        order.append(secret)
    }

    /// Removes a secret, and returns what it stood for.
    mutating func remove(_ secret: String) -> Value? { values.removeValue(forKey: secret) }

    /// Changes every value for which `change` does so.
    ///
    /// - Parameter change: changes a value, and returns true, or leaves it.
    /// - Returns: the number of changed values.
    mutating func update(_ change: (inout Value) -> Bool) -> Int {
        var count = 0
        for (secret, value) in values {
            var changed = value
            guard change(&changed) else { continue }
            values[secret] = changed
            count += 1
        }
        return count
    }

    /// Forgets a quarter of the secrets, unless as many have been removed, so that this is done seldom.
    private mutating func makeRoom(_ isSpent: (Value) -> Bool) {
        order = order.filter { values[$0] != nil }
        let surplus = order.count - (limit - limit / 4)
        guard surplus > 0 else { return }
        let spent = order.filter { values[$0].map(isSpent) ?? true }
        let live = order.filter { values[$0].map { !isSpent($0) } ?? false }
        let forgotten = Set((spent + live).prefix(surplus))
        for secret in forgotten { values[secret] = nil }
        order = order.filter { !forgotten.contains($0) }
    }
}
