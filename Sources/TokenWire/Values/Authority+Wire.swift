internal import CTokenProtos
package import TokenModel

extension Authority: WireMessage {
    package static let type = WireType(sso__authority__init)

    package init(_ value: Authority?, _ fields: inout WireFields) throws(TokenError) {
        let url = try WireFields.required("authority", fields.text("url", value?.url))
        let kind = fields.choice("kind", value?.kind)
        if let value { self = value } else { try self.init(url, kind: kind) }
    }
}
