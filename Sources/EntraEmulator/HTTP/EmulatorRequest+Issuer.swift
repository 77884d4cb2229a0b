extension EmulatorRequest {
    /// Whether the app can be sent to another cloud.
    var isInstanceAware: Bool { parameters["instance_aware"]?.lowercased() == "true" }

    /// The cloud to send an app to that can be sent; nil when the user is at home in this one.
    func homeCloud(of user: User, _ settings: EmulatorSettings) -> EmulatedCloud? {
        guard isInstanceAware, authority.kind == .entra, let home = settings.cloud(of: user),
            home != settings.cloud(ofHost: environment)
        else { return nil }
        return home
    }

    /// Who a code or a refresh token is issued by, and so has to be redeemed at: a cloud with all its tenants, a user flow, a
    /// farm, a provider.
    func issuer(_ settings: EmulatorSettings, _ directory: Directory, in cloud: EmulatedCloud? = nil) -> String {
        let cloud = (cloud ?? settings.cloud(ofHost: environment))?.hosts.first ?? ""
        let part =
            switch authority.kind {
            case .entra, .ciam: ""
            case .adfs, .openID: authority.path.lowercased()
            case .b2c:
                "\(directory.tenantID(realm: authority.realm) ?? authority.realm)/\(authority.policy ?? "")"
                    .lowercased()
            }
        return "\(cloud)|\(part)"
    }
}
