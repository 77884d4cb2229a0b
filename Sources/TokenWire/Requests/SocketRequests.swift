internal import CTokenProtos
package import TokenModel

extension PublishSocket: WireRequest {
    package static let type = WireType(sso__publish_socket__init)

    package init(_ value: PublishSocket?, _ fields: inout WireFields) throws(TokenError) {
        self.init(
            path: try fields.required("path", value?.path),
            userIDs: try fields.numbers("user_ids", value?.userIDs),
            clientIDs: try fields.clientIDs("client_ids", value?.clientIDs),
            sharingGroup: try fields.sharingGroup(value?.sharingGroup),
            scopes: try fields.scopes("scopes", value?.scopes),
            authorities: try fields.messages("authorities", value?.authorities),
            account: try fields.text("account", value?.account),
            lifetime: fields.number("lifetime", value?.lifetime) ?? PublishSocket.standardLifetime,
            label: try fields.text("label", value?.label))
    }
}

extension PublishedSocket: WireMessage {
    package static let type = WireType(sso__published_socket__init)

    package init(_ value: PublishedSocket?, _ fields: inout WireFields) throws(TokenError) {
        self.init(
            path: try fields.text("path", value?.path) ?? "",
            label: try fields.text("label", value?.label) ?? "",
            userIDs: try fields.numbers("user_ids", value?.userIDs),
            clientIDs: try fields.clientIDs("client_ids", value?.clientIDs),
            sharingGroup: try fields.sharingGroup(value?.sharingGroup),
            scopes: try fields.scopes("scopes", value?.scopes),
            authorities: try fields.messages("authorities", value?.authorities),
            account: try fields.account(value?.account),
            expiresOn: fields.number("expires_on", value?.expiresOn) ?? 0,
            connections: fields.number("connections", value?.connections) ?? 0)
    }
}

extension ListSockets: WireRequest {
    package static let type = WireType(sso__list_sockets__init)

    package init(_ value: ListSockets?, _ fields: inout WireFields) throws(TokenError) { self.init() }
}

extension ListSockets.Reply: WireMessage {
    package static let type = WireType(sso__list_sockets_reply__init)

    package init(_ value: ListSockets.Reply?, _ fields: inout WireFields) throws(TokenError) {
        self.init(
            sockets: try fields.messages("sockets", value?.sockets))
    }
}

extension UnpublishSocket: WireRequest {
    package static let type = WireType(sso__unpublish_socket__init)

    package init(_ value: UnpublishSocket?, _ fields: inout WireFields) throws(TokenError) {
        self.init(
            name: try fields.required("name", value?.name))
    }
}

extension UnpublishSocket.Reply: WireMessage {
    package static let type = WireType(sso__unpublish_socket_reply__init)

    package init(_ value: UnpublishSocket.Reply?, _ fields: inout WireFields) throws(TokenError) {
        self.init(
            label: try fields.text("label", value?.label))
    }
}
