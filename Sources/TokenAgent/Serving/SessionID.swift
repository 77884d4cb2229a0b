/// One connection, by a number that no other has had.
struct SessionID: Hashable, Sendable {
    var number: UInt64
}
