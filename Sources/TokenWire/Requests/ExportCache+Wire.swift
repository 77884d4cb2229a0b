internal import CTokenProtos
internal import TokenModel

extension ExportCache {
    init(_ pointer: UnsafeMutablePointer<Sso__ExportCache>?) throws(TokenError) {
        let message = try WireFields.needed("export_cache", pointer).pointee
        let group = try WireFields.text("sharing_group", message.has_sharing_group, message.sharing_group)
        self.init(
            format: try CacheFormat(wire: message.has_format, message.format.rawValue),
            sharingGroup: try SharingGroup(wire: group),
            includesSecrets: WireFields.flag(
                message.has_includes_secrets, message.includes_secrets, default: false),
            exportID: try WireFields.text("export_id", message.has_export_id, message.export_id))
    }

    func encode(_ arena: WireArena) -> UnsafeMutablePointer<Sso__ExportCache>? {
        guard let message = arena.message(sso__export_cache__init) else { return nil }
        arena.put(format.wire, &message.pointee.has_format, &message.pointee.format)
        arena.put(sharingGroup.name, &message.pointee.has_sharing_group, &message.pointee.sharing_group)
        arena.put(includesSecrets, &message.pointee.has_includes_secrets, &message.pointee.includes_secrets)
        arena.put(exportID, &message.pointee.has_export_id, &message.pointee.export_id)
        return message
    }
}

extension ExportCache.Reply {
    init(_ pointer: UnsafeMutablePointer<Sso__ExportCacheReply>?) throws(TokenError) {
        let message = try WireFields.needed("export_cache", pointer).pointee
        self.init(
            data: try WireFields.data("data", message.has_data, message.data) ?? Secret(""),
            remaining: WireFields.number(message.has_remaining, message.remaining) ?? 0,
            next: try WireFields.text("next", message.has_next, message.next))
    }

    func encode(_ arena: WireArena) -> UnsafeMutablePointer<Sso__ExportCacheReply>? {
        guard let message = arena.message(sso__export_cache_reply__init) else { return nil }
        arena.put(data, &message.pointee.has_data, &message.pointee.data)
        arena.put(remaining, &message.pointee.has_remaining, &message.pointee.remaining)
        arena.put(next, &message.pointee.has_next, &message.pointee.next)
        return message
    }
}
