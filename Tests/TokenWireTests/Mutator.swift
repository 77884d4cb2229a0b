/// Mutates bytes, with the same mutations in every run.
struct Mutator {
    private var state: UInt64 = 0x5eed

    /// Applies one to four mutations: of a bit, a byte or a length, or of a range that is removed, repeated or copied from another sample.
    mutating func damage(_ sample: [UInt8], with others: [[UInt8]]) -> [UInt8] {
        var bytes = sample
        for _ in 0...pick(4) {
            let position = pick(bytes.count + 1)
            let end = min(position + pick(16), bytes.count)
            switch pick(7) {
            case 0 where position < bytes.count: bytes[position] ^= 1 << UInt8(pick(8))
            case 1 where position < bytes.count: bytes[position] = [0, 1, 0x7f, 0x80, 0xff][pick(5)]
            case 2: bytes.insert(UInt8(pick(256)), at: position)
            case 3: bytes.removeSubrange(position..<end)
            case 4: bytes.insert(contentsOf: bytes[position..<end], at: position)
            case 5: bytes.removeSubrange(position...)
            default:
                let other = others[pick(others.count)]
                bytes.insert(contentsOf: other[pick(other.count + 1)...].prefix(64), at: position)
            }
        }
        return bytes
    }

    private mutating func pick(_ count: Int) -> Int {
        count == 0 ? 0 : Int(next() % UInt64(count))
    }

    /// SplitMix64: https://prng.di.unimi.it/splitmix64.c
    private mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }
}
