internal import TokenModel

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Plain memory that has held a key, and goes on to be used for something else.
extension [UInt8] {
    /// Overwrites the bytes, which nobody else may hold a copy of.
    mutating func wipe() { withUnsafeMutableBytes { wipeMemory($0) } }
}

extension Data {
    /// Overwrites the bytes, which nobody else may hold a copy of.
    mutating func wipe() { withUnsafeMutableBytes { wipeMemory($0) } }
}
