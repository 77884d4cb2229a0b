internal import CStoreFaults
internal import Foundation
internal import TestSupport

/// SQLite's way to the disk, failing when a test says so. Outlives every store that is opened with it.
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

    /// What to open a store with.
    package let name: String
    private let faults: OpaquePointer

    package init() throws {
        name = "faults-" + UUID().uuidString
        guard let faults = store_faults_make(name) else { throw POSIXError(.ENOMEM) }
        self.faults = faults
    }

    deinit { store_faults_free(faults) }

    /// From the `after`th operation of its kind on, `count` fail; nil is all of them.
    package func fail(_ failure: Failure, after: Int = 0, count: Int? = nil) {
        store_faults_arm(faults, failure.rawValue, Int64(after), Int64(count ?? -1))
    }

    /// The next write finds that the file is damaged.
    package func findDamage() { store_faults_arm(faults, Int32(store_fault_corrupt), 0, 1) }

    package func recover() { store_faults_disarm(faults) }

    /// How many operations failed since it was told to.
    package var failed: Int { Int(store_faults_failed(faults)) }

    /// Holds flushes, after letting some through, until `letGo`.
    package func holdFlushes(after count: Int = 0) { store_faults_hold(faults, Int64(count)) }

    /// Returns when a flush is held.
    package func waitForHeldFlush() async throws {
        try await offPool { [self] in store_faults_wait(faults) }
    }

    package func letGo() { store_faults_open(faults) }
}
