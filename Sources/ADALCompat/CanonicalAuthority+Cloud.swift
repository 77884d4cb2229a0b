internal import TokenModel

extension CanonicalAuthority {
    /// This authority, or the same tenant in the cloud of `issuer` where that is another one.
    func inCloud(of issuer: String) -> String {
        guard let issuer = try? Authority(issuer) else { return text }
        let (asked, answered) = (authority.environment, issuer.environment)
        let isForeign =
            Self.clouds.knows(asked) && Self.clouds.knows(answered) && !Self.clouds.sameCloud(asked, answered)
        return isForeign ? authority.withEnvironment(answered).url : text
    }

    /// This authority under the one name that its cloud keeps tokens under.
    ///
    /// A refresh token serves every tenant, so that its own says nothing.
    func kept(isTenantless: Bool) -> String {
        var kept = authority.withEnvironment(Self.clouds.cloud(of: authority.environment).preferredCache)
        if isTenantless || kept.realm == "organizations" { kept = kept.withRealm("common") }
        return kept.url
    }

    private static let clouds = CloudDirectory()
}
