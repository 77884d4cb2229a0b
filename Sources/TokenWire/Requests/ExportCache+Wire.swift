internal import CTokenProtos
package import TokenModel

extension ExportCache: WireRequest {
    package static let type = WireType(sso__export_cache__init)

    package init(_ value: ExportCache?, _ fields: inout WireFields) throws(TokenError) {
        self.init(
            // A guess would give a format that nobody asked for.
            format: try WireFields.required("format", fields.knownChoice("format", value?.format)),
            sharingGroup: try fields.sharingGroup(value?.sharingGroup),
            includesSecrets: fields.flag("includes_secrets", value?.includesSecrets) ?? false,
            exportID: try fields.text("export_id", value?.exportID))
    }
}

extension ExportCache.Reply: WireMessage {
    package static let type = WireType(sso__export_cache_reply__init)

    package init(_ value: ExportCache.Reply?, _ fields: inout WireFields) throws(TokenError) {
        self.init(
            data: try fields.data("data", value?.data) ?? Secret(""),
            remaining: fields.number("remaining", value?.remaining) ?? 0,
            next: try fields.text("next", value?.next))
    }
}
