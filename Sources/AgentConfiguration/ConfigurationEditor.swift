internal import PosixFiles
package import TokenModel

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif
#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Changes the user's configuration file: what a person wrote in it is kept, and the file has the old or the new content at any
/// time.
package struct ConfigurationEditor {
    /// The values of an app to be written.
    package struct App: Sendable {
        package var name: String
        package var clientID: String
        package var authority: String?
        package var kind: AuthorityKindName?
        package var tenant: String?
        package var cloud: CloudName?
        package var scopes: [String] = []
        package var resource: String?
        package var redirectURI: String?
        package var sharingGroup: String?

        package init(name: String, clientID: String) {
            self.name = name
            self.clientID = clientID
        }

        fileprivate var values: [(key: String, value: TOMLDocument.Value?)] {
            [
                ("client_id", .text(clientID)), ("authority", authority.map { .text($0) }),
                ("authority_kind", kind.map { .text($0.rawValue) }), ("tenant", tenant.map { .text($0) }),
                ("cloud", cloud.map { .text($0.rawValue) }), ("scopes", scopes.isEmpty ? nil : .texts(scopes)),
                ("resource", resource.map { .text($0) }), ("redirect_uri", redirectURI.map { .text($0) }),
                ("sharing_group", sharingGroup.map { .text($0) }),
            ]
        }
    }

    /// The file, which a symbolic link may lead to.
    private let path: String
    private var text: ConfigurationText
    private static let files = PrivateFiles(errorCode: .invalidDeveloperParameter)

    /// Changes the file at a path, which is created if it does not exist. Several programs at the same time change it one after the other.
    ///
    /// - Parameters:
    ///   - limit: for how long the other programs are waited for. Blocks the calling thread.
    ///   - body: changes the content; no other program does meanwhile.
    /// - Throws: `invalidDeveloperParameter` (-51112) if the file cannot be used, other programs change it for too long, or it would
    ///   not be a configuration afterwards, and the error of the body; it is unchanged then.
    package static func change(
        _ path: String, waitingFor limit: Duration = .seconds(10), _ body: (inout ConfigurationEditor) throws -> Void
    ) throws {
        let path = URL(filePath: path).resolvingSymlinksInPath().path
        try files.makeDirectory(
            PrivateFiles.parent(of: path), parentMode: 0o700,
            alternative: "set SSO_AGENT_CONFIG to a file in a folder of yours")
        try requireOwn(path)
        let lock = try lock(path, until: .now + limit)
        // Before the lock is released: a program that waits for it finds that its lock has no name any more, and opens the next one.
        defer { withExtendedLifetime(lock) { files.remove(lockFile(of: path)) } }
        var editor = try ConfigurationEditor(path)
        try body(&editor)
        try editor.write()
    }

    /// A lock against other programs that change the file. It is a file of its own, since the configuration is replaced by each change, and
    /// its folder may be that of a store, which the agent locks while it runs.
    private static func lock(_ path: String, until deadline: ContinuousClock.Instant) throws(TokenError) -> FileLock {
        let name = lockFile(of: path)
        while true {
            let lock: FileLock
            do throws(SystemError) {
                lock = FileLock(try FileDescriptor(openingOrCreating: name))
            } catch {
                // The lock's file may be another user's, or no file.
                let isInTheWay = FileStatus(name, followsLinks: false) != nil
                throw files.failure("cannot write \(isInTheWay ? name : path)", error, at: path)
            }
            // On a file system without locks, the file is changed without one.
            if lock.acquire() != .held, lock.file.isAt(name) { return lock }
            guard ContinuousClock.now < deadline else {
                throw TokenError(.invalidDeveloperParameter, "another program is changing \(path); try again")
            }
            // Polled, since no system call waits for a lock with a time limit.
            poll(nil, 0, 5)
        }
    }

    /// The lock's file, whose name no other program uses.
    private static func lockFile(of path: String) -> String { path + ".sso-lock" }

    private static func requireOwn(_ path: String) throws(TokenError) {
        guard let status = FileStatus(path), !status.isOwn else { return }
        throw TokenError(
            .invalidDeveloperParameter,
            "the configuration \(path) belongs to user \(status.owner), who has to change it")
    }

    private init(_ path: String) throws(TokenError) {
        self.path = path
        let bytes = FileStatus(path) == nil ? [] : try Configuration.content(of: path)
        text = try Self.attempt(path) { () throws(TOMLError) in
            _ = try Configuration(decoding: bytes)
            return try ConfigurationText(bytes)
        }
    }

    /// Adds an app, or replaces its values.
    package mutating func setApp(_ app: App) throws(TokenError) {
        try Self.attempt(path) { () throws(TOMLError) in
            for (key, value) in app.values { try text.set(key, to: value, in: ["apps", app.name]) }
        }
    }

    /// Removes an app, and the default if it is this app.
    package mutating func removeApp(_ name: String) throws(TokenError) {
        try Self.attempt(path) { () throws(TOMLError) in
            try text.removeTable(["apps", name])
            let rest = try Configuration(decoding: text.bytes)
            if rest.defaultApp?.value == name { try text.set("app", to: nil, in: ["defaults"]) }
        }
    }

    /// Sets the default app; nil removes the line.
    package mutating func setDefaultApp(_ name: String?) throws(TokenError) {
        try setDefault("app", to: name)
    }

    /// Sets the default account; nil removes the line.
    package mutating func setDefaultAccount(_ name: String?) throws(TokenError) {
        try setDefault("account", to: name)
    }

    /// Removes the default app and the default account, and returns whether there was one.
    package mutating func removeDefaults() throws(TokenError) -> Bool {
        let bytes = text.bytes
        let now = try Self.attempt(path) { () throws(TOMLError) in try Configuration(decoding: bytes) }
        try setDefaultApp(nil)
        try setDefaultAccount(nil)
        return now.defaultApp != nil || now.defaultAccount != nil
    }

    private mutating func setDefault(_ key: String, to value: String?) throws(TokenError) {
        try Self.attempt(path) { () throws(TOMLError) in
            try text.set(key, to: value.map { .text($0) }, in: ["defaults"])
        }
    }

    private func write() throws(TokenError) {
        let bytes = text.bytes
        _ = try Self.attempt(path) { () throws(TOMLError) in try Configuration(decoding: bytes) }
        guard bytes.count <= Configuration.sizeLimit else {
            throw TokenError(
                .invalidDeveloperParameter, "\(path) would have more than \(Configuration.sizeLimit) bytes; shorten it")
        }
        // Under a temporary name that no other program uses: the folder is the user's.
        let file = try PrivateFileWriter(path, replacing: true, Self.files)
        try file.write(Secret(bytes: bytes))
        try file.finish()
    }

    private static func attempt<Value>(
        _ path: String, _ body: () throws(TOMLError) -> Value
    ) throws(TokenError) -> Value {
        do throws(TOMLError) { return try body() } catch {
            throw error.inFile(path)
        }
    }
}
