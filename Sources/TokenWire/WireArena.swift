internal import CProtobufC
internal import TokenModel

/// The memory of one message while it is packed or unpacked: taken in a few chunks, wiped and freed together.
///
/// It is also the allocator that protobuf-c unpacks with: past `limit` it refuses, and unpacking fails cleanly.
final class WireArena {
    private var chunks: [UnsafeMutableRawBufferPointer] = []
    private var free: UnsafeMutableRawBufferPointer
    private var left: Int
    /// Whether memory was refused; a message encoded here then lacks fields, and must not be sent.
    private(set) var isExhausted = false

    /// - Parameter limit: how many bytes may be taken in all.
    init(limit: Int) {
        left = limit
        free = UnsafeMutableRawBufferPointer(start: nil, count: 0)
    }

    deinit {
        // All chunks but the last are full.
        if let last = chunks.last { wipeMemory(UnsafeMutableRawBufferPointer(rebasing: last.dropLast(free.count))) }
        for chunk in chunks.dropLast() { wipeMemory(chunk) }
        for chunk in chunks { chunk.deallocate() }
    }

    /// Aligned, uninitialised memory, or nil past the limit.
    func take(_ size: Int) -> UnsafeMutableRawPointer? {
        let rounded = (max(size, 1) + 15) & ~15
        guard rounded <= left else {
            isExhausted = true
            return nil
        }
        left -= rounded
        if rounded > free.count {
            let chunk = UnsafeMutableRawBufferPointer.allocate(byteCount: max(rounded, Self.chunkSize), alignment: 16)
            chunks.append(chunk)
            free = chunk
        }
        defer { free = UnsafeMutableRawBufferPointer(rebasing: free.dropFirst(rounded)) }
        return free.baseAddress
    }

    /// An empty message; nil past the limit.
    func message(_ type: WireType) -> UnsafeMutableRawPointer? {
        guard let memory = take(type.descriptor.pointee.sizeof_message) else { return nil }
        type.descriptor.pointee.message_init?(memory.assumingMemoryBound(to: ProtobufCMessage.self))
        return memory
    }

    /// A copy of bytes; empty past the limit.
    func copy(_ bytes: UnsafeRawBufferPointer) -> ProtobufCBinaryData {
        guard !bytes.isEmpty, let memory = take(bytes.count), let base = bytes.baseAddress else {
            return ProtobufCBinaryData(len: 0, data: nil)
        }
        memory.copyMemory(from: base, byteCount: bytes.count)
        return ProtobufCBinaryData(len: bytes.count, data: memory.assumingMemoryBound(to: UInt8.self))
    }

    /// Room for `count` elements; nil when there are none or no room.
    func array<Element>(of type: Element.Type, count: Int) -> UnsafeMutablePointer<Element>? {
        guard count > 0, let memory = take(MemoryLayout<Element>.stride * count) else { return nil }
        return memory.bindMemory(to: type, capacity: count)
    }

    /// Lends this arena to protobuf-c's `unpack`.
    func withAllocator<Result>(_ body: (UnsafeMutablePointer<ProtobufCAllocator>) -> Result) -> Result {
        var allocator = ProtobufCAllocator(
            alloc: { data, size in data.flatMap { Unmanaged<WireArena>.fromOpaque($0).takeUnretainedValue().take(size) }
            },
            // Freed with the arena.
            free: { _, _ in },
            allocator_data: Unmanaged.passUnretained(self).toOpaque())
        return body(&allocator)
    }

    /// Most messages fit in one.
    private static let chunkSize = 8 * 1024
}
