package import TokenModel

/// Fields of a record that another library wrote and this version does not know. They are preserved for that library, and
/// written again on export. Two names are the same if their bytes are: other libraries compare them so.
package struct UnknownFields {
    package private(set) var members: [JSONTree.Member] = []

    /// The value of `unknownFields` for a record from another library that has none.
    package static let none = "{}"

    /// Reads the JSON object of a record. Of fields of one name the last value counts. Without fields if `json` cannot be read.
    package init(_ json: String?) {
        guard let json, json != Self.none, let tree = try? JSONReader.read(Array(json.utf8)) else { return }
        var places: [ExactText: Int] = [:]
        for member in tree.members {
            if let place = places[ExactText(member.name)] {
                members[place].value = member.value
            } else {
                places[ExactText(member.name)] = members.count
                members.append(member)
            }
        }
    }

    package var json: String { JSONTree.object(members).json }

    /// Adds the name that the library gave the cloud, unless there is one.
    package mutating func addEnvironment(_ environment: String) {
        guard !members.contains(where: { $0.name == Self.environment }) else { return }
        members.append(JSONTree.Member(name: Self.environment, value: .text(environment)))
    }

    /// Adds the fields of another that are missing here.
    package mutating func add(_ other: UnknownFields) {
        let names = Set(members.map { ExactText($0.name) })
        members += other.members.filter { !names.contains(ExactText($0.name)) }
    }

    package mutating func remove(_ name: String) { members.removeAll { $0.name.hasSameBytes(as: name) } }

    private static let environment = "environment"
}
