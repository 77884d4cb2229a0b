internal import ArgumentParser
internal import TokenModel

/// A kind of identity provider, as the command line names it.
enum AuthorityKind: String, ExpressibleByArgument, CaseIterable {
    case entra, b2c, adfs, ciam, openid

    var kind: Authority.Kind {
        switch self {
        case .entra: .entra
        case .b2c: .b2c
        case .adfs: .adfs
        case .ciam: .ciam
        case .openid: .openID
        }
    }
}
