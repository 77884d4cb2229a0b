internal import Foundation

/// A source of randomness that can be repeated: the same seed gives the same run. Expectations print the seed when they fail;
/// `SSO_AGENT_SEED` sets it.
package struct TestSeed: RandomNumberGenerator, CustomStringConvertible {
    package let seed: UInt64
    private var state: UInt64

    package init() {
        let chosen = ProcessInfo.processInfo.environment["SSO_AGENT_SEED"].flatMap { UInt64($0) }
        self.init(chosen ?? UInt64.random(in: 1...999_999))
    }

    package init(_ seed: UInt64) {
        self.seed = seed
        state = seed
    }

    /// SplitMix64.
    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var word = state
        word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        return word ^ (word >> 31)
    }

    package var description: String { "to run it again: SSO_AGENT_SEED=\(seed)" }
}
