internal import CTokenProtos
internal import TokenModel

extension ImportCache {
    init(_ pointer: UnsafeMutablePointer<Sso__ImportCache>?) throws(TokenError) {
        let message = try WireFields.needed("import_cache", pointer).pointee
        let group = try WireFields.text("sharing_group", message.has_sharing_group, message.sharing_group)
        self.init(
            format: try CacheFormat(wire: message.has_format, message.format.rawValue),
            sharingGroup: try SharingGroup(wire: group),
            isDryRun: WireFields.flag(message.has_is_dry_run, message.is_dry_run, default: false),
            importID: try WireFields.text("import_id", message.has_import_id, message.import_id),
            data: try WireFields.data("data", message.has_data, message.data) ?? Secret(""),
            isLast: WireFields.flag(message.has_is_last, message.is_last, default: true))
    }

    func encode(_ arena: WireArena) -> UnsafeMutablePointer<Sso__ImportCache>? {
        guard let message = arena.message(sso__import_cache__init) else { return nil }
        arena.put(format.wire, &message.pointee.has_format, &message.pointee.format)
        arena.put(sharingGroup.name, &message.pointee.has_sharing_group, &message.pointee.sharing_group)
        arena.put(isDryRun, &message.pointee.has_is_dry_run, &message.pointee.is_dry_run)
        arena.put(importID, &message.pointee.has_import_id, &message.pointee.import_id)
        arena.put(data, &message.pointee.has_data, &message.pointee.data)
        arena.put(isLast, &message.pointee.has_is_last, &message.pointee.is_last)
        return message
    }
}

extension ImportCache.Reply {
    init(_ pointer: UnsafeMutablePointer<Sso__ImportCacheReply>?) throws(TokenError) {
        let message = try WireFields.needed("import_cache", pointer).pointee
        self.init(
            importID: try WireFields.text("import_id", message.has_import_id, message.import_id) ?? "",
            report: try message.report.map { (report) throws(TokenError) in try ImportCache.Report(report) })
    }

    func encode(_ arena: WireArena) -> UnsafeMutablePointer<Sso__ImportCacheReply>? {
        guard let message = arena.message(sso__import_cache_reply__init) else { return nil }
        arena.put(importID, &message.pointee.has_import_id, &message.pointee.import_id)
        message.pointee.report = report?.encode(arena)
        return message
    }
}

extension ImportCache.Report {
    fileprivate init(_ pointer: UnsafeMutablePointer<Sso__ImportReport>) throws(TokenError) {
        let message = pointer.pointee
        var skipped: [ImportCache.Skipped] = []
        for entry in try WireFields.messages("skipped", message.n_skipped, message.skipped) {
            skipped.append(
                ImportCache.Skipped(
                    entry: try WireFields.text("entry", entry.pointee.has_entry, entry.pointee.entry) ?? "",
                    reason: try WireFields.text("reason", entry.pointee.has_reason, entry.pointee.reason) ?? ""))
        }
        self.init(
            accounts: WireFields.number(message.has_accounts, message.accounts) ?? 0,
            refreshTokens: WireFields.number(message.has_refresh_tokens, message.refresh_tokens) ?? 0,
            accessTokens: WireFields.number(message.has_access_tokens, message.access_tokens) ?? 0,
            idTokens: WireFields.number(message.has_id_tokens, message.id_tokens) ?? 0, skipped: skipped,
            skippedCount: WireFields.number(message.has_skipped_count, message.skipped_count) ?? Int64(skipped.count))
    }

    fileprivate func encode(_ arena: WireArena) -> UnsafeMutablePointer<Sso__ImportReport>? {
        guard let message = arena.message(sso__import_report__init) else { return nil }
        arena.put(accounts, &message.pointee.has_accounts, &message.pointee.accounts)
        arena.put(refreshTokens, &message.pointee.has_refresh_tokens, &message.pointee.refresh_tokens)
        arena.put(accessTokens, &message.pointee.has_access_tokens, &message.pointee.access_tokens)
        arena.put(idTokens, &message.pointee.has_id_tokens, &message.pointee.id_tokens)
        arena.put(skipped.map { $0.encode(arena) }, &message.pointee.n_skipped, &message.pointee.skipped)
        arena.put(skippedCount, &message.pointee.has_skipped_count, &message.pointee.skipped_count)
        return message
    }
}

extension ImportCache.Skipped {
    fileprivate func encode(_ arena: WireArena) -> UnsafeMutablePointer<Sso__SkippedEntry>? {
        guard let message = arena.message(sso__skipped_entry__init) else { return nil }
        arena.put(entry, &message.pointee.has_entry, &message.pointee.entry)
        arena.put(reason, &message.pointee.has_reason, &message.pointee.reason)
        return message
    }
}
