internal import TestSupport
internal import Testing

@testable internal import TokenCache

/// A dictionary in the order of its keys, compared with Swift's dictionary.
@Suite(.bounded) struct SortedMapTests {
    @Test func agreesWithADictionary() {
        var (random, map, dictionary) = (TestSeed(), SortedMap<Int>(), [String: Int]())
        let seed = "\(random)"
        for step in 0..<20_000 {
            let key = String(random.next() % 3000)
            // Grows, then shrinks.
            let value = random.next() % 10 < (step < 10_000 ? 7 : 3) ? step : nil
            map[key] = value
            dictionary[key] = value
        }
        #expect(map.count == dictionary.count, "\(seed)")
        let sorted = dictionary.sorted { $0.key < $1.key }
        #expect(map.values == sorted.map(\.value), "\(seed)")
        for key in (0..<3000).map(String.init) { #expect(map[key] == dictionary[key], "\(seed)") }
        for first in ["", "0", "1500", "15000", "99999"] {
            var keys: [String] = []
            map.forEach(from: first) { key, _ in
                keys.append(key)
                return keys.count < 7
            }
            #expect(keys == Array(sorted.map(\.key).drop { $0 < first }.prefix(7)), "\(seed)")
        }
    }

    @Test func isEqualToAnotherWithTheSameEntries() {
        var (left, right) = (SortedMap<Int>(), SortedMap<Int>())
        for number in 0..<1000 { left["\(number)"] = number }
        for number in (0..<1500).reversed() { right["\(number)"] = number }
        #expect(left != right)
        for number in 1000..<1500 { right["\(number)"] = nil }
        #expect(left == right)
    }

    @Test func isEmptyAfterTheLastRemoval() {
        var map = SortedMap<Int>()
        for number in 0..<600 { map["\(number)"] = number }
        for number in 0..<600 { map["\(number)"] = nil }
        #expect(map.isEmpty)
        #expect(map == SortedMap())
        map["a"] = 1
        #expect(map.values == [1])
    }

    /// As on the disk: canonically equivalent keys with other bytes are other keys.
    @Test func comparesTheBytesOfKeys() {
        for others in [0, 20, 2000] {
            var map = SortedMap<Int>()
            for number in 0..<others { map["\(number)"] = number }
            for number in 0..<others { map["e\u{301}\(number)"] = number }
            for number in 0..<others { map["f\(number)"] = number }
            var keys: [String] = []
            map.forEach(from: "e\u{301}") { key, _ in
                keys.append(key)
                return true
            }
            #expect(keys.count == 2 * others)
            #expect(zip(keys, keys.dropFirst()).allSatisfy { Array($0.utf8).lexicographicallyPrecedes(Array($1.utf8)) })
            map["caf\u{E9}"] = 100
            map["cafe\u{301}"] = 200
            #expect(map["caf\u{E9}"] == 100 && map["cafe\u{301}"] == 200 && map.count == 3 * others + 2)
            map["caf\u{E9}"] = nil
            #expect(map["caf\u{E9}"] == nil && map["cafe\u{301}"] == 200)
        }
    }
}
