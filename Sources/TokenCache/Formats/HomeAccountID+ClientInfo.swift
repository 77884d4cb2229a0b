internal import TokenModel

extension HomeAccountID {
    /// The account that a token response's `client_info` names: base64url-encoded JSON.
    static func named(in clientInfo: String) -> HomeAccountID? {
        guard let json = Base64URL.decode(clientInfo), let object = try? JSONReader.read(Array(json)) else {
            return nil
        }
        return HomeAccountID(uid: object["uid"]?.string, utid: object["utid"]?.string)
    }
}
