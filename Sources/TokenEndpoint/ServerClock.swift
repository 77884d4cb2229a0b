/// What time it is at an authority, as far as its answer says.
package struct ServerClock: Sendable, Equatable {
    /// The `Date` field of its answer in seconds since 1970; nil when there was none that can be read.
    package var secondsSince1970: Int64?

    package init(secondsSince1970: Int64?) {
        self.secondsSince1970 = secondsSince1970
    }
}
