package import TokenModel

/// Whose credentials they are: an account by its home account ID, or by its name when an older ADAL knew nothing better.
package enum OwnerID: Sendable, Hashable {
    case home(HomeAccountID)
    /// The username in lower case; empty for AD FS sign-ins without a user.
    case name(String)

    package init(homeAccountID: HomeAccountID?, username: String?) {
        self = homeAccountID.map(OwnerID.home) ?? .name(username?.lowercased() ?? "")
    }

    package var homeAccountID: HomeAccountID? {
        if case .home(let identifier) = self { identifier } else { nil }
    }

    /// The name, where nothing better is known.
    var name: String? {
        if case .name(let name) = self { name } else { nil }
    }

    /// The first part of a record's key.
    var key: String {
        switch self {
        case .home(let identifier): identifier.text
        case .name(let name): "\(Self.namePrefix)\(name)"
        }
    }

    /// Whether an identifier looks like a name, so that its records would be stored in the place of somebody else's.
    var isMistakable: Bool { homeAccountID?.text.hasPrefix(Self.namePrefix) ?? false }

    private static let namePrefix = "name:"
}
