public import Foundation
internal import TokenModel

/// An authority of Microsoft Entra ID (Azure AD), in any cloud: `https://<host>/<tenant>`.
open class MSALAADAuthority: MSALAuthority {
    /// The authority at `url`; what follows the tenant is dropped.
    ///
    /// - Throws: `MSALError.internal` (-50000) when `url` is not `https` (`http` is taken for loopback hosts), names no
    ///   tenant, or is of another kind.
    public convenience init(url: URL) throws {
        try self.init(url: url, rawTenant: nil)
    }

    /// The authority at `url`, for the tenant `rawTenant` where one is given.
    ///
    /// - Throws: as `init(url:)`.
    public init(url: URL, rawTenant: String?) throws {
        var parsed = try MSALAuthority.authority(parsing: url)
        if parsed.kind == .b2c, url.pathComponents.dropFirst().first?.lowercased() != "tfp" {
            // The host alone makes no B2C authority where the app says that it is Entra's.
            parsed = try MSALAuthority.authority(parsing: url, kind: .entra)
        }
        guard parsed.kind == .entra else {
            throw MSALError.error(.internalErrorInvalidParameter, "\(url) is not an Entra authority")
        }
        if let tenant = rawTenant?.trimmedNonEmpty {
            super.init(authority: parsed.withRealm(tenant), writtenTenant: tenant)
        } else {
            super.init(authority: parsed, writtenTenant: Self.writtenTenant(of: url))
        }
    }

    /// The authority of a cloud of Microsoft's for an audience.
    ///
    /// - Throws: `MSALError.internal` (-50000), internal code -42000, when `rawTenant` is missing for
    ///   `azureADMyOrgOnlyAudience`, or given for another audience.
    public convenience init(
        cloudInstance: MSALAzureCloudInstance, audienceType: MSALAudienceType, rawTenant: String?
    ) throws {
        try self.init(environment: cloudInstance.environment, audienceType: audienceType, rawTenant: rawTenant)
    }

    /// The authority of the cloud at the host `environment` for an audience.
    ///
    /// - Throws: as `init(cloudInstance:audienceType:rawTenant:)`.
    public convenience init(environment: String, audienceType: MSALAudienceType, rawTenant: String?) throws {
        let tenant = try audienceType.tenant(rawTenant: rawTenant)
        guard let url = URL(string: "https://\(environment)/\(tenant)") else {
            throw MSALError.error(.internalErrorInvalidParameter, "\(environment) is not a host")
        }
        try self.init(url: url, rawTenant: nil)
    }

    override init(authority: Authority, writtenTenant tenant: String? = nil) {
        super.init(authority: authority, writtenTenant: tenant)
    }
}
