internal import CTokenProtos
package import TokenModel

extension ImportCache: WireRequest {
    package static let type = WireType(sso__import_cache__init)

    package init(_ value: ImportCache?, _ fields: inout WireFields) throws(TokenError) {
        self.init(
            // There is no default format.
            format: try WireFields.required("format", fields.choice("format", value?.format)),
            sharingGroup: try fields.sharingGroup(value?.sharingGroup),
            isDryRun: fields.flag("is_dry_run", value?.isDryRun) ?? false,
            importID: try fields.text("import_id", value?.importID),
            data: try fields.data("data", value?.data) ?? Secret(""),
            isLast: fields.flag("is_last", value?.isLast) ?? true,
            keepsSignOuts: fields.wish("keeps_sign_outs", value?.keepsSignOuts))
    }
}

extension ImportCache.Reply: WireMessage {
    package static let type = WireType(sso__import_cache_reply__init)

    package init(_ value: ImportCache.Reply?, _ fields: inout WireFields) throws(TokenError) {
        self.init(
            importID: try fields.text("import_id", value?.importID) ?? "",
            report: try fields.message("report", value?.report))
    }
}

extension ImportCache.Report: WireMessage {
    package static let type = WireType(sso__import_report__init)

    package init(_ value: ImportCache.Report?, _ fields: inout WireFields) throws(TokenError) {
        self.init(
            accounts: fields.entries("accounts", value?.accounts) ?? 0,
            refreshTokens: fields.entries("refresh_tokens", value?.refreshTokens) ?? 0,
            accessTokens: fields.entries("access_tokens", value?.accessTokens) ?? 0,
            idTokens: fields.entries("id_tokens", value?.idTokens) ?? 0,
            skipped: try fields.messages("skipped", value?.skipped))
        if let count = fields.entries("skipped_count", value?.skippedCount) { skippedCount = count }
    }
}

extension WireFields {
    /// A number of entries of a cache, which is never negative and can be added up, whatever the message says: a cache has at most
    /// 256 MiB.
    fileprivate mutating func entries(_ name: StaticString, _ value: Int64?) -> Int64? {
        number(name, value).map { min(max($0, 0), Int64(Int32.max)) }
    }
}

extension ImportCache.Skipped: WireMessage {
    package static let type = WireType(sso__skipped_entry__init)

    package init(_ value: ImportCache.Skipped?, _ fields: inout WireFields) throws(TokenError) {
        self.init(
            entry: try fields.text("entry", value?.entry) ?? "",
            reason: try fields.text("reason", value?.reason) ?? "")
    }
}

extension ExportCache: WireRequest {
    package static let type = WireType(sso__export_cache__init)

    package init(_ value: ExportCache?, _ fields: inout WireFields) throws(TokenError) {
        self.init(
            // There is no default format.
            format: try WireFields.required("format", fields.choice("format", value?.format)),
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
