internal import Synchronization

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Memory for secrets, in pages of their own: left out of core dumps and, for the first of them, out of swap.
///
/// Nothing depends on the system's help: where it refuses, the memory is ordinary, and wiped all the same.
final class SecretMemory: Sendable {
    /// One for the process: pages are too large to give each secret its own.
    static let shared = SecretMemory()

    /// Addresses, since pointers may not cross the lock.
    private struct State {
        var free: [Int: [UInt]] = [:]
        var next: UInt = 0
        var end: UInt = 0
        var locked = 0
        /// What is too large to be kept for the next, and how much of it is locked.
        var mapped: [UInt: Int] = [:]
    }

    private let state = Mutex(State())

    /// Room for `count` bytes, which are 0.
    func take(_ count: Int) -> UnsafeMutableRawBufferPointer {
        let size = Self.size(for: count)
        let address = state.withLock { state in
            Self.take(size, from: &state)
        }
        return UnsafeMutableRawBufferPointer(
            start: UnsafeMutableRawPointer(bitPattern: address) ?? Self.ordinary(size), count: count)
    }

    /// Memory like any other, where there are no pages to be had.
    private static func ordinary(_ size: Int) -> UnsafeMutableRawPointer {
        let start = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 16)
        start.initializeMemory(as: UInt8.self, repeating: 0, count: size)
        return start
    }

    /// Wipes it and takes it back; what is large goes back to the system, since hardly two are of one size.
    func give(_ memory: UnsafeMutableRawBufferPointer) {
        wipeMemory(memory)
        guard let start = memory.baseAddress else { return }
        let (size, address) = (Self.size(for: memory.count), UInt(bitPattern: start))
        state.withLock { state in
            guard size > Self.largest else { return state.free[size, default: []].append(address) }
            // Ordinary memory.
            guard let locked = state.mapped.removeValue(forKey: address) else { return start.deallocate() }
            munmap(start, size)
            state.locked -= locked
        }
    }

    /// How many bytes are locked.
    var lockedCount: Int { state.withLock(\.locked) }

    private static func take(_ size: Int, from state: inout State) -> UInt {
        if let address = state.free[size]?.popLast() { return address }
        if size > largest {
            let before = state.locked
            let address = map(size, &state.locked)
            if address != 0 { state.mapped[address] = state.locked - before }
            return address
        }
        if state.end - state.next < UInt(size) {
            state.next = map(chunk, &state.locked)
            state.end = state.next == 0 ? 0 : state.next + UInt(chunk)
        }
        guard state.next != 0 else { return 0 }
        defer { state.next += UInt(size) }
        return state.next
    }

    /// New pages; 0 when there are none.
    private static func map(_ count: Int, _ locked: inout Int) -> UInt {
        let flags = MAP_PRIVATE | MAP_ANONYMOUS
        guard let start = mmap(nil, count, PROT_READ | PROT_WRITE, flags, -1, 0), start != MAP_FAILED else { return 0 }
        #if canImport(Glibc)
            madvise(start, count, Int32(MADV_DONTDUMP))
        #endif
        // An app may need what it may lock for itself: take little, and do without when refused.
        if locked + count <= lockLimit, mlock(start, count) == 0 { locked += count }
        return UInt(bitPattern: start)
    }

    /// In steps, so that what one secret gave back fits the next.
    private static func size(for count: Int) -> Int {
        let step = count <= 1024 ? 64 : count <= largest ? 512 : 4096
        return max((count + step - 1) / step * step, 64)
    }

    private static let chunk = 64 * 1024
    private static let largest = 16 * 1024
    private static let lockLimit = 1024 * 1024
}
