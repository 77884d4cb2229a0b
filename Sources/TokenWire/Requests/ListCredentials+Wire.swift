internal import CTokenProtos
package import TokenModel

extension ListCredentials: WireRequest {
    package static let type = WireType(sso__list_credentials__init)

    package init(_ value: ListCredentials?, _ fields: inout WireFields) throws(TokenError) {
        self.init(
            sharingGroup: try fields.sharingGroup(value?.sharingGroup),
            version: fields.choice("version", value?.version),
            after: try fields.text("after", value?.after))
    }
}

extension ListCredentials.Reply: WireMessage {
    package static let type = WireType(sso__list_credentials_reply__init)

    package init(_ value: ListCredentials.Reply?, _ fields: inout WireFields) throws(TokenError) {
        self.init(
            credentials: try fields.messages("credentials", value?.credentials),
            next: try fields.text("next", value?.next))
    }
}
