internal import CStoreFaults
internal import Foundation
internal import TestSupport

/// A SQLite VFS whose operations fail on demand. It has to outlive every store that is opened with it.
///
/// Unchecked because the C side has a lock of its own.
package final class FaultyDisk: @unchecked Sendable {
    package enum Failure: Int32, Sendable, CaseIterable {
        /// The disk is full: ENOSPC.
        case full = 1
        /// A write fails half way: EIO.
        case write = 2
        /// A flush fails: EIO.
        case sync = 3
        /// A read fails: EIO.
        case read = 4
    }

    /// The name of the VFS to open a store with.
    package let name: String
    private let faults: OpaquePointer

    package init() throws {
        name = "faults-" + UUID().uuidString
        guard let faults = store_faults_make(name) else { throw POSIXError(.ENOMEM) }
        self.faults = faults
    }

    deinit { store_faults_free(faults) }

    /// Lets `count` operations of a kind fail, after `after` successful ones; with nil, all later ones fail.
    package func fail(_ failure: Failure, after: Int = 0, count: Int? = nil) {
        store_faults_arm(faults, failure.rawValue, Int64(after), Int64(count ?? -1))
    }

    /// Lets the next write report a damaged file.
    package func findDamage() { store_faults_arm(faults, Int32(store_fault_corrupt), 0, 1) }

    /// Lets all reads after the next `after` ones report a damaged file.
    package func findDamageInReads(after: Int = 0) {
        store_faults_arm(faults, Int32(store_fault_corrupt_read), Int64(after), -1)
    }

    /// Lets all later truncations and deletions of files fail, as on a file system that the kernel has made read-only.
    package func failToShrink() { store_faults_arm(faults, Int32(store_fault_shrink), 0, -1) }

    package func recover() { store_faults_disarm(faults) }

    /// The number of operations that have failed.
    package var failed: Int { Int(store_faults_failed(faults)) }

    /// Holds flushes, after `count` of them, until `releaseFlushes` is called.
    package func holdFlushes(after count: Int = 0) { store_faults_hold(faults, Int64(count)) }

    /// Returns when a flush is held.
    package func waitForHeldFlush() async throws {
        try await offPool { [self] in store_faults_wait(faults) }
    }

    package func releaseFlushes() { store_faults_open(faults) }
}
