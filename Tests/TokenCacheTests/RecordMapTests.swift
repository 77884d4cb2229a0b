internal import TestSupport
internal import Testing

@testable internal import TokenCache

/// The map of an account's records is a dictionary, in whatever form it keeps them.
@Suite(.bounded) struct RecordMapTests {
    @Test(arguments: [2, 8, 9, 40])
    func isADictionary(keys: Int) {
        var seed = TestSeed()
        var (map, dictionary) = (RecordMap<Int>(), [String: Int]())
        for round in 0..<500 {
            let key = "key-\(Int.random(in: 0..<keys, using: &seed))"
            let value = Int.random(in: 0..<3, using: &seed) > 0 ? round : nil
            map[key] = value
            dictionary[key] = value
            #expect(map[key] == value && map.count == dictionary.count && map.isEmpty == dictionary.isEmpty, "\(seed)")
            #expect(map.keys.sorted() == dictionary.keys.sorted(), "\(seed)")
            #expect(map.values.sorted() == dictionary.values.sorted(), "\(seed)")
        }
        let even = map.filter { $0.value.isMultiple(of: 2) }
        #expect(even.values.sorted() == dictionary.values.filter { $0.isMultiple(of: 2) }.sorted(), "\(seed)")
    }

    /// A copy does not change with its original.
    @Test(arguments: [1, 8, 20])
    func isAValue(count: Int) {
        var map = RecordMap<Int>()
        for number in 0..<count { map["\(number)"] = number }
        let copy = map
        map["0"] = -1
        map["new"] = 0
        #expect(copy["0"] == 0 && copy["new"] == nil && copy != map)
        map["0"] = 0
        map["new"] = nil
        #expect(copy == map)
    }

    @Test func isEqualWhateverTheOrder() {
        var (left, right) = (RecordMap<Int>(), RecordMap<Int>())
        for number in 0..<5 { left["\(number)"] = number }
        for number in (0..<5).reversed() { right["\(number)"] = number }
        #expect(left == right)
        right["5"] = 5
        #expect(left != right)
        #expect(RecordMap(dictionaryLiteral: ("1", 1)) != RecordMap(dictionaryLiteral: ("1", 2)))
    }

    /// As on the disk: canonically equivalent keys with other bytes are other keys.
    @Test func comparesTheBytesOfKeys() {
        for others in [0, 20] {
            var map = RecordMap<Int>()
            for number in 0..<others { map["\(number)"] = number }
            map["caf\u{E9}"] = 100
            map["cafe\u{301}"] = 200
            #expect(map["caf\u{E9}"] == 100 && map["cafe\u{301}"] == 200 && map.count == others + 2)
            map["caf\u{E9}"] = nil
            #expect(map["caf\u{E9}"] == nil && map["cafe\u{301}"] == 200)
        }
    }
}
