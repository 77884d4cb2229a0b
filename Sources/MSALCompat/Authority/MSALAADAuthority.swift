public import Foundation
internal import TokenModel

/// An authority of Microsoft Entra ID (Azure AD) in any cloud: `https://<host>/<tenant>`.
open class MSALAADAuthority: MSALAuthority {
    /// Creates the authority at `url`; what follows the tenant is dropped.
    ///
    /// - Throws: `MSALError.internal` (-50000), internal code -42000, if `url` is not `https` (`http` is accepted for
    ///   loopback hosts), names no tenant, or is an authority of another kind.
    public convenience init(url: URL) throws {
        try self.init(url: url, rawTenant: nil)
    }

    /// Creates the authority at `url`, for the tenant `rawTenant` if it is given.
    ///
    /// - Throws: as `init(url:)`.
    public init(url: URL, rawTenant: String?) throws {
        var parsed = try MSALAuthority.authority(parsing: url)
        if parsed.kind == .b2c, url.pathComponents.dropFirst().first?.lowercased() != "tfp" {
            // The app says that it is an authority of Entra, although its host is one of B2C.
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

    /// Creates the authority of a cloud of Microsoft for an audience.
    ///
    /// - Throws: `MSALError.internal` (-50000), internal code -42000, if `rawTenant` is missing for
    ///   `azureADMyOrgOnlyAudience`, or given for another audience.
    public convenience init(
        cloudInstance: MSALAzureCloudInstance, audienceType: MSALAudienceType, rawTenant: String?
    ) throws {
        try self.init(environment: cloudInstance.environment, audienceType: audienceType, rawTenant: rawTenant)
    }

    /// Creates the authority of the cloud at the host `environment` for an audience.
    ///
    /// - Throws: as `init(cloudInstance:audienceType:rawTenant:)`, also if `environment` is not a host.
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

/// The accounts that may sign in to an Entra app.
@nonexhaustive(warn) public enum MSALAudienceType: Int, Sendable {
    /// Work, school and personal accounts: `common`.
    case azureADAndPersonalMicrosoftAccountAudience = 0
    /// Work and school accounts of any organisation: `organizations`.
    case azureADMultipleOrgsAudience = 1
    /// Accounts of one tenant, which has to be given.
    case azureADMyOrgOnlyAudience = 2
    /// Personal accounts only: `consumers`.
    case personalMicrosoftAccountAudience = 3
}

extension MSALAudienceType {
    /// The path segment for the audience.
    func tenant(rawTenant: String?) throws(NSError) -> String {
        let rawTenant = rawTenant?.trimmedNonEmpty
        if self == .azureADMyOrgOnlyAudience {
            guard let rawTenant else {
                throw MSALError.error(
                    .internalErrorInvalidParameter, "an audience of one organization needs its tenant")
            }
            return rawTenant
        }
        guard rawTenant == nil else {
            throw MSALError.error(
                .internalErrorInvalidParameter, "a tenant is accepted for azureADMyOrgOnlyAudience only")
        }
        return switch self {
        case .azureADMultipleOrgsAudience: "organizations"
        case .personalMicrosoftAccountAudience: "consumers"
        default: "common"
        }
    }
}

/// A cloud of Microsoft.
@nonexhaustive(warn) public enum MSALAzureCloudInstance: Int, Sendable {
    /// The public cloud, `login.microsoftonline.com`.
    case publicCloudInstance = 0
    /// China, `login.chinacloudapi.cn`.
    case chinaCloudInstance = 1
    /// The former German cloud, `login.microsoftonline.de`.
    case germanyCloudInstance = 2
    /// US Government, `login.microsoftonline.us`.
    case usGovernmentCloudInstance = 3
    /// Bleu in France, `login.sovcloud-identity.fr`.
    case franceCloudInstance = 4
    /// Delos in Germany, `login.sovcloud-identity.de`.
    case delosCloudInstance = 5
    /// Singapore's government, `login.sovcloud-identity.sg`.
    case govSGCloudInstance = 6
}

extension MSALAzureCloudInstance {
    /// The host of the cloud.
    var environment: String {
        switch self {
        case .publicCloudInstance: "login.microsoftonline.com"
        case .chinaCloudInstance: "login.chinacloudapi.cn"
        case .germanyCloudInstance: "login.microsoftonline.de"
        case .usGovernmentCloudInstance: "login.microsoftonline.us"
        case .franceCloudInstance: "login.sovcloud-identity.fr"
        case .delosCloudInstance: "login.sovcloud-identity.de"
        case .govSGCloudInstance: "login.sovcloud-identity.sg"
        }
    }
}
