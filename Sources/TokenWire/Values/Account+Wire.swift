internal import CTokenProtos
package import TokenModel

extension Account: WireMessage {
    package static let type = WireType(sso__account__init)

    package init(_ value: Account?, _ fields: inout WireFields) throws(TokenError) {
        self.init(
            homeAccountID: try fields.text("home_account_id", value?.homeAccountID),
            username: try fields.text("username", value?.username),
            environment: try fields.text("environment", value?.environment) ?? "",
            source: try fields.choice("source", value?.source) ?? .msal,
            tenantProfiles: try fields.messages("tenant_profiles", value?.tenantProfiles),
            homeIDToken: try fields.text("home_id_token", value?.homeIDToken, limit: WireLimits.token))
    }
}

extension TenantProfile: WireMessage {
    package static let type = WireType(sso__tenant_profile__init)

    package init(_ value: TenantProfile?, _ fields: inout WireFields) throws(TokenError) {
        self.init(
            realm: try fields.text("realm", value?.realm) ?? "",
            localAccountID: try fields.text("local_account_id", value?.localAccountID),
            username: try fields.text("username", value?.username),
            environment: try fields.text("environment", value?.environment) ?? "",
            isHome: fields.flag("is_home", value?.isHome) ?? false,
            idToken: try fields.text("id_token", value?.idToken, limit: WireLimits.token))
    }
}

extension AccountReference: WireMessage {
    package static let type = WireType(sso__account_reference__init)

    package init(_ value: AccountReference?, _ fields: inout WireFields) throws(TokenError) {
        self.init(
            homeAccountID: try fields.text("home_account_id", value?.homeAccountID),
            username: try fields.text("username", value?.username))
    }
}

extension WireFields {
    /// The reference to an account; an empty reference is not written.
    mutating func account(_ value: AccountReference?) throws(TokenError) -> AccountReference {
        try message("account", value.flatMap { $0.isEmpty ? nil : $0 }) ?? AccountReference()
    }
}
