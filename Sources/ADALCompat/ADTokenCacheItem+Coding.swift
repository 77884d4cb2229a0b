public import Foundation

/// Archives under the keys ADAL uses.
extension ADTokenCacheItem {
    /// Archives are read securely.
    public static var supportsSecureCoding: Bool { true }

    /// Archives every value, tokens too: keep the archive as you would keep them.
    public func encode(with coder: NSCoder) {
        for (key, path) in Self.textKeys {
            coder.encode(self[keyPath: path].map { $0 as NSString }, forKey: key)
        }
        coder.encode(authority as NSString, forKey: "authority")
        coder.encode(sessionKey.map { $0 as NSData }, forKey: "sessionKey")
        coder.encode(expiresOn.map { $0 as NSDate }, forKey: "expiresOn")
        coder.encode(userInformation, forKey: "userInformation")
    }

    /// Reads an archive; keys that are missing leave their values nil.
    public convenience init?(coder: NSCoder) {
        self.init()
        for (key, path) in Self.textKeys { self[keyPath: path] = coder.text(forKey: key) }
        authority = coder.text(forKey: "authority") ?? ""
        sessionKey = coder.object(NSData.self, forKey: "sessionKey").map { Data(referencing: $0) }
        expiresOn = coder.object(NSDate.self, forKey: "expiresOn").map {
            Date(timeIntervalSinceReferenceDate: $0.timeIntervalSinceReferenceDate)
        }
        userInformation = coder.object(ADUserInformation.self, forKey: "userInformation")
    }

    private static var textKeys: [(key: String, path: ReferenceWritableKeyPath<ADTokenCacheItem, String?>)] {
        [
            ("resource", \.resource), ("clientId", \.clientId), ("familyId", \.familyId),
            ("accessToken", \.accessToken), ("accessTokenType", \.accessTokenType), ("refreshToken", \.refreshToken),
        ]
    }
}
