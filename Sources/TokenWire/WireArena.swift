internal import CProtobufC
internal import TokenModel

/// The memory of one message while it is packed or unpacked, allocated in a few chunks, and wiped and freed together.
///
/// It is also the allocator with which protobuf-c unpacks: past `limit` an allocation fails, and so does unpacking.
final class WireArena {
    private var chunks: [UnsafeMutableRawBufferPointer] = []
    private var free: UnsafeMutableRawBufferPointer
    private var remaining: Int
    private let firstChunk: Int
    /// Whether an allocation has failed; a message encoded in this arena is then incomplete, and must not be sent.
    private(set) var isExhausted = false

    /// - Parameters:
    ///   - limit: the number of bytes that can be allocated in all.
    ///   - estimate: the number of bytes that most messages of the kind need, which are allocated at once.
    init(limit: Int, estimate: Int) {
        remaining = limit
        firstChunk = min(estimate, limit)
        free = UnsafeMutableRawBufferPointer(start: nil, count: 0)
    }

    deinit {
        // The rest of the last chunk was never written to.
        if let last = chunks.last { wipeMemory(UnsafeMutableRawBufferPointer(rebasing: last.dropLast(free.count))) }
        for chunk in chunks.dropLast() { wipeMemory(chunk) }
        for chunk in chunks { chunk.deallocate() }
    }

    /// Allocates aligned, uninitialised memory; nil past the limit.
    func allocate(_ size: Int) -> UnsafeMutableRawPointer? {
        let rounded = (max(size, 1) + 15) & ~15
        guard rounded <= remaining else {
            isExhausted = true
            return nil
        }
        remaining -= rounded
        if rounded > free.count {
            let chunk = UnsafeMutableRawBufferPointer.allocate(
                byteCount: max(rounded, chunks.isEmpty ? firstChunk : Self.chunkSize), alignment: 16)
            chunks.append(chunk)
            free = chunk
        }
        defer { free = UnsafeMutableRawBufferPointer(rebasing: free.dropFirst(rounded)) }
        return free.baseAddress
    }

    /// Allocates an empty message; nil past the limit.
    func message(_ type: WireType) -> UnsafeMutableRawPointer? {
        guard let memory = allocate(type.descriptor.pointee.sizeof_message) else { return nil }
        type.descriptor.pointee.message_init?(memory.assumingMemoryBound(to: ProtobufCMessage.self))
        return memory
    }

    /// A copy of bytes; empty past the limit.
    func copy(_ bytes: UnsafeRawBufferPointer) -> ProtobufCBinaryData {
        guard !bytes.isEmpty, let memory = allocate(bytes.count), let base = bytes.baseAddress else {
            return ProtobufCBinaryData(len: 0, data: nil)
        }
        memory.copyMemory(from: base, byteCount: bytes.count)
        return ProtobufCBinaryData(len: bytes.count, data: memory.assumingMemoryBound(to: UInt8.self))
    }

    /// Allocates uninitialised memory for `count` elements; nil for no elements or past the limit.
    func array<Element>(of type: Element.Type, count: Int) -> UnsafeMutablePointer<Element>? {
        guard count > 0, let memory = allocate(MemoryLayout<Element>.stride * count) else { return nil }
        return memory.bindMemory(to: type, capacity: count)
    }

    /// Calls `body` with an allocator of protobuf-c that allocates in this arena.
    func withAllocator<Result>(_ body: (UnsafeMutablePointer<ProtobufCAllocator>) -> Result) -> Result {
        var allocator = ProtobufCAllocator(
            alloc: { data, size in
                data.flatMap { Unmanaged<WireArena>.fromOpaque($0).takeUnretainedValue().allocate(size) }
            },
            // The memory is freed with the arena.
            free: { _, _ in },
            allocator_data: Unmanaged.passUnretained(self).toOpaque())
        return body(&allocator)
    }

    /// The size of the further chunks in bytes.
    private static let chunkSize = 8 * 1024
}
