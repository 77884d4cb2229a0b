internal import CTokenProtos
internal import TokenModel

extension Diagnose {
    init(_ pointer: UnsafeMutablePointer<Sso__Diagnose>?) throws(TokenError) {
        let message = try WireFields.needed("diagnose", pointer).pointee
        self.init(authority: try Authority(message.authority))
    }

    func encode(_ arena: WireArena) -> UnsafeMutablePointer<Sso__Diagnose>? {
        guard let message = arena.message(sso__diagnose__init) else { return nil }
        message.pointee.authority = authority?.encode(arena)
        return message
    }
}

extension Diagnose.Reply {
    init(_ pointer: UnsafeMutablePointer<Sso__DiagnoseReply>?) throws(TokenError) {
        let message = try WireFields.needed("diagnose", pointer).pointee
        var checks: [HealthCheck] = []
        for check in try WireFields.messages("checks", message.n_checks, message.checks) {
            checks.append(try HealthCheck(check))
        }
        self.init(checks: checks)
    }

    func encode(_ arena: WireArena) -> UnsafeMutablePointer<Sso__DiagnoseReply>? {
        guard let message = arena.message(sso__diagnose_reply__init) else { return nil }
        arena.put(checks.map { $0.encode(arena) }, &message.pointee.n_checks, &message.pointee.checks)
        return message
    }
}

extension HealthCheck {
    fileprivate init(_ pointer: UnsafeMutablePointer<Sso__HealthCheck>) throws(TokenError) {
        let message = pointer.pointee
        self.init(
            name: try WireFields.text("name", message.has_name, message.name) ?? "",
            ok: WireFields.flag(message.has_ok, message.ok, default: false),
            detail: try WireFields.text("detail", message.has_detail, message.detail) ?? "",
            hint: try WireFields.text("hint", message.has_hint, message.hint))
    }

    fileprivate func encode(_ arena: WireArena) -> UnsafeMutablePointer<Sso__HealthCheck>? {
        guard let message = arena.message(sso__health_check__init) else { return nil }
        arena.put(name, &message.pointee.has_name, &message.pointee.name)
        arena.put(ok, &message.pointee.has_ok, &message.pointee.ok)
        arena.put(cut: detail, &message.pointee.has_detail, &message.pointee.detail)
        arena.put(cut: hint, &message.pointee.has_hint, &message.pointee.hint)
        return message
    }
}
