internal import CTokenProtos
package import TokenModel

extension ListCredentials: WireRequest {
    package static let type = WireType(sso__list_credentials__init)

    package init(_ value: ListCredentials?, _ fields: inout WireFields) throws(TokenError) {
        self.init(
            sharingGroup: try fields.sharingGroup(value?.sharingGroup),
            version: try fields.choice("version", value?.version),
            after: try fields.text("after", value?.after),
            withoutSecrets: fields.wish("without_secrets", value?.withoutSecrets))
    }
}

extension ListCredentials.Reply: WirePage {
    package static let type = WireType(sso__list_credentials_reply__init)

    package init(_ value: ListCredentials.Reply?, _ fields: inout WireFields) throws(TokenError) {
        let listed = try fields.messages("credentials", value?.credentials.map { ListedCredential(credential: $0) })
        self.init(
            credentials: listed.compactMap(\.credential),
            next: try fields.text("next", value?.next))
    }
}

/// A credential of a list. One of a kind that only a later agent knows is passed over, so that an app still gets the others.
struct ListedCredential: WireMessage {
    /// Nil if this version does not know the kind.
    let credential: Credential?

    static let type = WireType(sso__credential__init)

    fileprivate init(credential: Credential) { self.credential = credential }

    init(_ value: Self?, _ fields: inout WireFields) throws(TokenError) {
        let value = value?.credential
        // Of an unknown kind, nothing else is read: a later agent may have other rules for it.
        guard let kind = try fields.choice("kind", value?.kind) else {
            credential = nil
            return
        }
        credential = Credential(
            id: try fields.required("id", value?.id), kind: kind,
            clientID: try fields.required("client_id", value?.clientID),
            familyID: try fields.text("family_id", value?.familyID),
            authority: try fields.text("authority", value?.authority) ?? "",
            version: try fields.choice("version", value?.version),
            scopes: try fields.scopes("scopes", value?.scopes),
            accessToken: try fields.secret("access_token", value?.accessToken),
            tokenType: try fields.text("token_type", value?.tokenType),
            expiresOn: fields.number("expires_on", value?.expiresOn),
            extendedExpiresOn: fields.number("extended_expires_on", value?.extendedExpiresOn),
            idToken: try fields.text("id_token", value?.idToken, limit: WireLimits.token),
            account: try fields.account(value?.account))
    }
}

extension RemoveCredential: WireRequest {
    package static let type = WireType(sso__remove_credential__init)

    package init(_ value: RemoveCredential?, _ fields: inout WireFields) throws(TokenError) {
        self.init(
            sharingGroup: try fields.sharingGroup(value?.sharingGroup),
            id: try fields.required("id", value?.id))
    }
}

extension RemoveCredential.Reply: WireMessage {
    package static let type = WireType(sso__remove_credential_reply__init)

    package init(_ value: RemoveCredential.Reply?, _ fields: inout WireFields) throws(TokenError) {
        self.init(
            removed: fields.flag("removed", value?.removed) ?? false)
    }
}
