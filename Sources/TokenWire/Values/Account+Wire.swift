internal import CTokenProtos
internal import TokenModel

extension Account {
    init(_ pointer: UnsafeMutablePointer<Sso__Account>) throws(TokenError) {
        let message = pointer.pointee
        let homeAccountID = try WireFields.text(
            "home_account_id", message.has_home_account_id, message.home_account_id)
        var profiles: [TenantProfile] = []
        for profile in try WireFields.messages(
            "tenant_profiles", message.n_tenant_profiles, message.tenant_profiles)
        {
            profiles.append(try TenantProfile(profile))
        }
        self.init(
            homeAccountID: homeAccountID.flatMap(HomeAccountID.init),
            username: try WireFields.text("username", message.has_username, message.username),
            environment: try WireFields.text("environment", message.has_environment, message.environment) ?? "",
            source: WireFields.choice(message.has_source, message.source.rawValue) ?? .msal,
            tenantProfiles: profiles,
            homeIDToken: try WireFields.text(
                "home_id_token", message.has_home_id_token, message.home_id_token, limit: WireLimits.token))
    }

    func encode(_ arena: WireArena) -> UnsafeMutablePointer<Sso__Account>? {
        guard let message = arena.message(sso__account__init) else { return nil }
        arena.put(homeAccountID?.text, &message.pointee.has_home_account_id, &message.pointee.home_account_id)
        arena.put(username, &message.pointee.has_username, &message.pointee.username)
        arena.put(environment, &message.pointee.has_environment, &message.pointee.environment)
        arena.put(
            Sso__AccountSource(rawValue: numericCast(source.rawValue)), &message.pointee.has_source,
            &message.pointee.source)
        arena.put(
            tenantProfiles.map { $0.encode(arena) }, &message.pointee.n_tenant_profiles,
            &message.pointee.tenant_profiles)
        arena.put(homeIDToken, &message.pointee.has_home_id_token, &message.pointee.home_id_token)
        return message
    }
}

extension TenantProfile {
    init(_ pointer: UnsafeMutablePointer<Sso__TenantProfile>) throws(TokenError) {
        let message = pointer.pointee
        self.init(
            realm: try WireFields.text("realm", message.has_realm, message.realm) ?? "",
            localAccountID: try WireFields.text(
                "local_account_id", message.has_local_account_id, message.local_account_id),
            username: try WireFields.text("username", message.has_username, message.username),
            environment: try WireFields.text("environment", message.has_environment, message.environment) ?? "",
            isHome: WireFields.flag(message.has_is_home, message.is_home, default: false),
            idToken: try WireFields.text(
                "id_token", message.has_id_token, message.id_token, limit: WireLimits.token))
    }

    func encode(_ arena: WireArena) -> UnsafeMutablePointer<Sso__TenantProfile>? {
        guard let message = arena.message(sso__tenant_profile__init) else { return nil }
        arena.put(realm, &message.pointee.has_realm, &message.pointee.realm)
        arena.put(localAccountID, &message.pointee.has_local_account_id, &message.pointee.local_account_id)
        arena.put(username, &message.pointee.has_username, &message.pointee.username)
        arena.put(environment, &message.pointee.has_environment, &message.pointee.environment)
        arena.put(isHome, &message.pointee.has_is_home, &message.pointee.is_home)
        arena.put(idToken, &message.pointee.has_id_token, &message.pointee.id_token)
        return message
    }
}

extension AccountReference {
    /// Absent is the empty reference.
    init(_ pointer: UnsafeMutablePointer<Sso__AccountReference>?) throws(TokenError) {
        guard let message = pointer?.pointee else {
            self.init()
            return
        }
        let homeAccountID = try WireFields.text(
            "home_account_id", message.has_home_account_id, message.home_account_id)
        self.init(
            homeAccountID: homeAccountID.flatMap(HomeAccountID.init),
            username: try WireFields.text("username", message.has_username, message.username))
    }

    func encode(_ arena: WireArena) -> UnsafeMutablePointer<Sso__AccountReference>? {
        guard !isEmpty, let message = arena.message(sso__account_reference__init) else { return nil }
        arena.put(homeAccountID?.text, &message.pointee.has_home_account_id, &message.pointee.home_account_id)
        arena.put(username, &message.pointee.has_username, &message.pointee.username)
        return message
    }
}
