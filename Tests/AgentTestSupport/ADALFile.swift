package import TokenModel

/// A cache of ADAL for Python.
package enum ADALFile {
    /// Accounts that are known by their usernames, each with a refresh token.
    ///
    /// - Parameter name: the beginning of the usernames.
    package static func accounts(_ count: Int, named name: String = "user") -> Secret {
        let entries = (0..<count).map { index in
            #"{"_authority":"https://login.windows.net/common","_clientId":"app","isMRRT":true,"#
                + #""userId":"\#(name)-\#(index)@contoso.com","refreshToken":"r-\#(index)"}"#
        }
        return Secret("[\(entries.joined(separator: ","))]")
    }
}
