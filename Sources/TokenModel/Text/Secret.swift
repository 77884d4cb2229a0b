internal import Synchronization

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// The bytes of a credential. They are not printed, are compared in constant time, and are wiped with the last reference.
/// Their memory is excluded from core dumps.
///
/// Secrets are UTF-8 by convention. Safe to use from any thread: the bytes never change after `init`.
public final class Secret: Sendable {
    // A pointer is not Sendable. The memory is written in `init`, wiped in `deinit`, and only read in between.
    private nonisolated(unsafe) let storage: UnsafeMutableRawBufferPointer

    /// Copies the UTF-8 bytes of `text`.
    public convenience init(_ text: String) {
        self.init(bytes: Array(text.utf8))
    }

    /// Copies `bytes`.
    public init(bytes: some Collection<UInt8>) {
        storage = SecretMemory.shared.allocate(bytes.count)
        storage.copyBytes(from: bytes)
    }

    /// Copies `bytes`, faster than the initialiser for any collection.
    package init(copying bytes: UnsafeRawBufferPointer) {
        storage = SecretMemory.shared.allocate(bytes.count)
        storage.copyMemory(from: bytes)
    }

    deinit { SecretMemory.shared.deallocate(storage) }

    /// Stands for a secret whose bytes are in the agent's store and not in memory. It is equal to itself only.
    package static let unread = Secret(bytes: [])

    /// Whether this stands for a secret whose bytes are not in memory.
    package var isUnread: Bool { self === Secret.unread }

    /// Gives the memory of secrets that do not exist any more back to the system, after work with very many of them.
    package static func releaseUnusedMemory() { SecretMemory.shared.releaseUnused() }

    /// The number of bytes.
    public var count: Int { storage.count }

    /// Whether there are no bytes.
    public var isEmpty: Bool { storage.isEmpty }

    /// Calls `body` with the bytes. The pointer is valid during the call only.
    public func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        body(UnsafeRawBufferPointer(storage))
    }

    /// The secret as text, in memory that is not wiped. Invalid UTF-8 is repaired.
    public func reveal() -> String {
        String(decoding: storage, as: UTF8.self)
    }
}

extension Secret: Equatable {
    /// Compares every byte, so that the duration does not reveal where two secrets differ.
    public static func == (left: Secret, right: Secret) -> Bool {
        guard left.count == right.count, left.isUnread == right.isUnread else { return false }
        var difference: UInt8 = 0
        for index in 0..<left.count { difference |= left.storage[index] ^ right.storage[index] }
        return difference == 0
    }
}

extension Secret: Hashable {
    /// Hashes the bytes with Swift's per-process seed.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(bytes: UnsafeRawBufferPointer(storage))
    }
}

extension Secret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The length only.
    public var description: String { "<secret, \(count) bytes>" }
    /// The text of `description`.
    public var debugDescription: String { description }
    /// Shows nothing, so that `dump` of an enclosing value shows nothing either.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// Overwrites memory with zeros, which the optimiser must not remove.
package func wipeMemory(_ memory: UnsafeMutableRawBufferPointer) {
    guard let base = memory.baseAddress else { return }
    #if canImport(Glibc)
        explicit_bzero(base, memory.count)
    #elseif canImport(Darwin)
        _ = memset_s(base, memory.count, 0, memory.count)
    #endif
}

extension [UInt8] {
    /// Overwrites the bytes with zeros. The array must not share its storage with a copy.
    package mutating func wipe() { withUnsafeMutableBytes { wipeMemory($0) } }
}

/// An allocator for secrets. Its pages are excluded from core dumps and, up to a limit, from swap.
///
/// If the system refuses that, the memory is ordinary memory, and wiped all the same.
final class SecretMemory: Sendable {
    /// The allocator of the process. Secrets share pages, which are too large for one secret each.
    static let shared = SecretMemory()

    /// Addresses rather than pointers, which are not Sendable.
    private struct State {
        /// The first free block of each size, by `sizeClass`; 0 is none. A free block begins with the address of the next one.
        var free = [UInt](repeating: 0, count: SecretMemory.sizeClass(SecretMemory.largest) + 1)
        /// Further free blocks of each size, whose memory has been given back to the system. They are not linked, since
        /// a link in a block would allocate its memory again.
        var released = [[UInt]](repeating: [], count: SecretMemory.sizeClass(SecretMemory.largest) + 1)
        var next: UInt = 0
        var end: UInt = 0
        var locked = 0
        /// Blocks with pages of their own, and the number of locked bytes of each.
        var mapped: [UInt: Int] = [:]
    }

    private let state = Mutex(State())
    /// The size of the system's pages, in bytes: 4,096 on x86-64, up to 65,536 on AArch64.
    private let pageSize: Int

    init(pageSize: Int = sysconf(Int32(_SC_PAGESIZE))) { self.pageSize = pageSize }

    /// Allocates `count` bytes, which are 0.
    func allocate(_ count: Int) -> UnsafeMutableRawBufferPointer {
        let size = Self.size(for: count)
        let address = state.withLock { state in
            allocate(size, from: &state)
        }
        return UnsafeMutableRawBufferPointer(
            start: UnsafeMutableRawPointer(bitPattern: address) ?? Self.ordinary(size), count: count)
    }

    /// Ordinary memory, for when no pages can be mapped.
    private static func ordinary(_ size: Int) -> UnsafeMutableRawPointer {
        let start = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 16)
        start.initializeMemory(as: UInt8.self, repeating: 0, count: size)
        return start
    }

    /// Wipes the memory and keeps it for the next secret of its size. Large blocks are unmapped, since their sizes rarely
    /// recur.
    func deallocate(_ memory: UnsafeMutableRawBufferPointer) {
        wipeMemory(memory)
        guard let start = memory.baseAddress else { return }
        let (size, address) = (Self.size(for: memory.count), UInt(bitPattern: start))
        state.withLock { state in
            guard size > Self.largest else {
                return Self.pushLinked(address, Self.sizeClass(size), &state)
            }
            // Ordinary memory.
            guard let locked = state.mapped.removeValue(forKey: address) else { return start.deallocate() }
            munmap(start, size)
            state.locked -= locked
        }
    }

    /// Gives whole pages of free blocks back to the system. The blocks stay free: their memory is 0 when they are used again.
    func releaseUnused() {
        #if canImport(Glibc)
            var run: [FreeBlock] = []
            for block in removeFreeBlocks().sorted(by: { $0.start < $1.start }) {
                if let last = run.last, last.end != block.start {
                    release(run)
                    run = []
                }
                run.append(block)
            }
            release(run)
        #endif
    }

    #if canImport(Glibc)
        private struct FreeBlock {
            let start: UInt
            let sizeClass: Int
            var end: UInt { start + UInt(SecretMemory.size(ofClass: sizeClass)) }
        }

        /// Empties the lists of free blocks. The lock is held for a moment only: other threads make secrets meanwhile.
        private func removeFreeBlocks() -> [FreeBlock] {
            var lists = state.withLock { state in
                let lists = state.free
                for index in state.free.indices { state.free[index] = 0 }
                return lists
            }
            var blocks: [FreeBlock] = []
            for index in lists.indices {
                while let address = Self.popLinked(from: &lists[index]) {
                    blocks.append(FreeBlock(start: address, sizeClass: index))
                }
            }
            return blocks
        }

        /// Gives the whole pages of blocks that follow one another back, but for locked ones, and adds the blocks to the lists again.
        private func release(_ run: [FreeBlock]) {
            guard let start = run.first?.start, let end = run.last?.end else { return }
            let page = UInt(pageSize)
            let first = (start + page - 1) / page * page
            let last = max(end / page * page, first)
            if last > first, let pointer = UnsafeMutableRawPointer(bitPattern: first) {
                madvise(pointer, Int(last - first), Int32(MADV_DONTNEED))
            }
            state.withLock { state in
                for block in run {
                    if block.start < last, block.end > first {
                        state.released[block.sizeClass].append(block.start)
                    } else {
                        Self.pushLinked(block.start, block.sizeClass, &state)
                    }
                }
            }
        }
    #endif

    /// The number of locked bytes.
    var lockedCount: Int { state.withLock(\.locked) }

    private func allocate(_ size: Int, from state: inout State) -> UInt {
        if size <= Self.largest {
            let index = Self.sizeClass(size)
            if let address = Self.popLinked(from: &state.free[index]) ?? state.released[index].popLast() {
                return address
            }
        } else {
            let before = state.locked
            let address = map(size, &state.locked)
            if address != 0 { state.mapped[address] = state.locked - before }
            return address
        }
        if state.end - state.next < UInt(size) {
            state.next = map(Self.chunk, &state.locked)
            state.end = state.next == 0 ? 0 : state.next + UInt(Self.chunk)
        }
        guard state.next != 0 else { return 0 }
        defer { state.next += UInt(size) }
        return state.next
    }

    /// Adds a block, whose bytes are 0, to the list of its size.
    private static func pushLinked(_ address: UInt, _ index: Int, _ state: inout State) {
        UnsafeMutableRawPointer(bitPattern: address)?.storeBytes(of: state.free[index], as: UInt.self)
        state.free[index] = address
    }

    /// Removes the first block of a list; its bytes are 0.
    private static func popLinked(from list: inout UInt) -> UInt? {
        guard let block = UnsafeMutableRawPointer(bitPattern: list) else { return nil }
        list = block.load(as: UInt.self)
        block.storeBytes(of: 0, as: UInt.self)
        return UInt(bitPattern: block)
    }

    /// Maps new pages; returns 0 if that fails.
    private func map(_ count: Int, _ locked: inout Int) -> UInt {
        let flags = MAP_PRIVATE | MAP_ANONYMOUS
        guard let start = mmap(nil, count, PROT_READ | PROT_WRITE, flags, -1, 0), start != MAP_FAILED else { return 0 }
        #if canImport(Glibc)
            madvise(start, count, Int32(MADV_DONTDUMP))
        #endif
        // The app needs locked memory too: at most `lockLimit` is locked, and memory that the system refuses to lock is used.
        // The system locks, and counts, whole pages.
        let counted = (count + pageSize - 1) / pageSize * pageSize
        if locked + counted <= Self.lockLimit, mlock(start, count) == 0 { locked += counted }
        return UInt(bitPattern: start)
    }

    /// The size of the block, rounded up so that blocks can be reused.
    private static func size(for count: Int) -> Int {
        let step = count <= 1024 ? 64 : count <= 4096 ? 128 : count <= largest ? 512 : 4096
        return max((count + step - 1) / step * step, 64)
    }

    /// The number of sizes up to this one, less one.
    private static func sizeClass(_ size: Int) -> Int {
        switch size {
        case ...1024: size / 64 - 1
        case ...4096: 15 + (size - 1024) / 128
        default: 39 + (size - 4096) / 512
        }
    }

    /// The size of a class.
    private static func size(ofClass index: Int) -> Int {
        switch index {
        case ...15: (index + 1) * 64
        case ...39: 1024 + (index - 15) * 128
        default: 4096 + (index - 39) * 512
        }
    }

    private static let chunk = 64 * 1024
    private static let largest = 16 * 1024
    private static let lockLimit = 1024 * 1024
}
