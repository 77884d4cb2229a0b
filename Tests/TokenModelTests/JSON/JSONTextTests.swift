internal import Foundation
internal import TestSupport
internal import Testing
internal import TokenModel

/// What `JSONText` writes: the same documents as Foundation's encoder.
@Suite(.bounded) struct JSONTextTests {
    private struct Sample: Encodable {
        struct Item: Encodable {
            var name: String?
            var count: Int64
        }
        enum State: String, Encodable { case signedIn }

        var zeta = "z"
        var alpha: [Item] = [Item(name: "a", count: 1), Item(name: nil, count: -2)]
        var empty: [Int] = []
        var none: String?
        var map = ["b": 1, "a": 2]
        var flags = [true, false]
        var state = State.signedIn
        var number = 1.5
        var small: UInt8 = 255
        var nested: [[String: [Item]]] = [["x": [Item(name: "deep", count: .max)]], [:]]
    }

    @Test func agreesWithFoundationsEncoder() throws {
        let text = JSONText.of(Sample())
        let encoder = JSONEncoder()
        let expected = try JSONSerialization.jsonObject(with: encoder.encode(Sample())) as? NSDictionary
        #expect(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? NSDictionary == expected)
        #expect(expected != nil)
    }

    @Test func putsEachMemberAndItemOnItsOwnLine() {
        struct Small: Encodable {
            var second = [1, 2]
            var first = "x"
            var third: [String] = []
        }
        #expect(
            JSONText.of(Small()) == """
                {
                  "first" : "x",
                  "second" : [
                    1,
                    2
                  ],
                  "third" : []
                }
                """)
        #expect(JSONText.of(Small(), isOnOneLine: true) == #"{"first":"x","second":[1,2],"third":[]}"#)
    }

    @Test func writesAnObjectThatWritesItselfAsItsSynthesisedCoding() {
        struct Plain: Encodable {
            var flag = true
            var items = [Item(name: "a\n", number: 1), Item(name: nil, number: nil)]
            var none: [String]?
            var one = Item(name: "\"b\"", number: .min)
            var texts = ["x", "é"]
            struct Item: Encodable {
                var name: String?
                var number: Int64?
            }
        }
        struct Direct: JSONObject {
            func write(to output: inout JSONOutput) {
                output.member("flag", true)
                output.member("items", [Item(name: "a\n", number: 1), Item(name: nil, number: nil)])
                output.member("none", nil as [String]?)
                output.member("nothing", nil as Item?)
                output.member("one", Item(name: "\"b\"", number: .min))
                output.member("texts", ["x", "é"])
            }
            struct Item: JSONObject {
                var name: String?
                var number: Int64?
                func write(to output: inout JSONOutput) {
                    output.member("name", name)
                    output.member("number", number)
                }
            }
        }
        for isOnOneLine in [false, true] {
            let direct = JSONText.of(["b": [Direct()], "a": []], isOnOneLine: isOnOneLine)
            #expect(direct == JSONText.of(["b": [Plain()], "a": []], isOnOneLine: isOnOneLine))
            #expect(JSONText.of(Direct(), isOnOneLine: isOnOneLine) == JSONText.of(Plain(), isOnOneLine: isOnOneLine))
        }
    }

    @Test func sortsMembersWithinSortedMembers() {
        #expect(
            JSONText.of(["b": ["d": 1, "c": 2], "a": ["f": 3, "e": 4]], isOnOneLine: true)
                == #"{"a":{"e":4,"f":3},"b":{"c":2,"d":1}}"#)
    }

    @Test func sortsTheMembersOfEveryObjectOfALongList() {
        struct Item: Encodable {
            var number: Int
            var name = "x"
        }
        let numbers = 0..<20_000
        let expected = numbers.map { #"{"name":"x","number":\#($0)}"# }.joined(separator: ",")
        let written = JSONText.of(numbers.map { Item(number: $0) }, isOnOneLine: true)
        // Not compared within `#expect`, which would describe both texts.
        let isEqual = written == "[\(expected)]"
        #expect(isEqual)
    }

    @Test func keepsTheLastOfMembersWithOneName() {
        struct Name: CodingKey {
            let stringValue: String
            var intValue: Int? { nil }
            init(stringValue: String) { self.stringValue = stringValue }
            init?(intValue: Int) { nil }
        }
        struct Twice: Encodable {
            func encode(to encoder: any Encoder) throws {
                var container = encoder.container(keyedBy: Name.self)
                for (name, value) in [("a", 1), ("b", 2), ("a", 3)] {
                    try container.encode(value, forKey: Name(stringValue: name))
                }
            }
        }
        #expect(JSONText.of(Twice(), isOnOneLine: true) == #"{"a":3,"b":2}"#)
    }

    @Test func escapesWhatAStringMustNotHold() throws {
        let text = "\u{0}\u{1f}\"\\\n\r\t/é\u{7f}😀"
        let written = JSONText.of([text], isOnOneLine: true)
        #expect(written == #"["\u0000\u001f\"\\\n\r\t/é\u007f😀"]"#)
        #expect(try JSONSerialization.jsonObject(with: Data(written.utf8)) as? [String] == [text])
    }

    @Test(arguments: [(0, "0"), (2, "2"), (-0.25, "-0.25"), (1e300, "1e+300"), (.infinity, "null"), (.nan, "null")])
    func writesNumbersAsJSONHasThem(_ number: Double, _ expected: String) {
        #expect(JSONText.of([number], isOnOneLine: true) == "[\(expected)]")
    }

    @Test func writesAScalarAlone() {
        #expect(JSONText.of("a") == #""a""#)
        #expect(JSONText.of(Int?.none) == "null")
    }
}
