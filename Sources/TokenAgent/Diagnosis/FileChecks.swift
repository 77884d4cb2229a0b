internal import NIOCore
internal import PosixFiles
internal import TokenModel
internal import TokenStore

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// What the health checks and the status of the agent need of a file system, which may never answer, such as that of a file server. The event
/// loop does not wait for it.
///
/// Used on the actor of `CacheOwner` only.
final class FileChecks {
    private let tasks: TaskTracker
    /// The thread that looks at the state folder. Made for the first check, which most agents never make.
    private(set) lazy var thread = WorkThread("health")
    /// The checks in progress, by their names; concurrent and later diagnoses share them, since each may never end.
    private var inProgress: [String: EventLoopFuture<Result<HealthCheck, TokenError>>] = [:]
    /// The list of the files in quarantine that is being made, and shared for the same reason.
    private var listing: EventLoopFuture<Result<[String], TokenError>>?

    init(_ core: AgentCore) { tasks = core.tasks }

    /// Begins a check, or shares the one of the same name that is in progress. Its outcome is awaited for a limited time; a check that takes
    /// longer goes on, and has failed.
    ///
    /// - Parameter unanswered: the outcome if the time is over.
    func begin(
        unanswered: HealthCheck, _ check: @escaping () async throws(TokenError) -> HealthCheck
    ) -> EventLoopFuture<Result<HealthCheck, TokenError>> {
        tasks.limited(task(unanswered.name, check), to: Self.timeLimit, otherwise: .success(unanswered))
    }

    private func task(
        _ name: String, _ check: @escaping () async throws(TokenError) -> HealthCheck
    ) -> EventLoopFuture<Result<HealthCheck, TokenError>> {
        if let task = inProgress[name] { return task }
        let task = tasks.start { () async throws(TokenError) -> HealthCheck in
            defer { self.inProgress[name] = nil }
            return try await check()
        }
        inProgress[name] = task
        return task
    }

    /// Begins to check the state folder.
    func beginFolder(_ folder: String) -> EventLoopFuture<Result<HealthCheck, TokenError>> {
        begin(unanswered: .unanswered("state folder", at: folder)) { () async throws(TokenError) in
            try await self.thread.run { HealthCheck.stateFolder(folder) }
        }
    }

    /// Begins to list the files in quarantine. If the folder does not answer soon, they are those of which the store knows.
    func beginListing(_ store: any CacheStore) -> EventLoopFuture<Result<[String], TokenError>> {
        let thread = thread
        let task =
            listing
            ?? tasks.start { () async throws(TokenError) -> [String] in
                defer { self.listing = nil }
                return try await thread.run { store.findQuarantined() }
            }
        listing = task
        return tasks.limited(task, to: Self.listingTimeLimit, otherwise: .success(store.report.quarantined))
    }

    /// The time limit of a list, for which the status of the agent waits.
    private static let listingTimeLimit = TimeAmount.milliseconds(500)
    /// The time limit of a check: that of a request to an identity provider, for which another check waits.
    static let timeLimit = TimeAmount.seconds(30)
}

extension HealthCheck {
    /// The check of a file or a folder of which nothing is known, since its file system does not answer.
    static func unanswered(_ name: String, at path: String) -> HealthCheck {
        HealthCheck(
            name: name, ok: false, detail: "\(path) does not answer",
            hint: "look after the disk or the file server that it is on, since nothing can be written to it")
    }

    /// Checks who can reach the state folder, and whether it can be written.
    fileprivate static func stateFolder(_ folder: String) -> HealthCheck {
        if FileStatus(folder)?.isAccessibleToOthers == true {
            return HealthCheck(
                name: "state folder", ok: false, detail: "other users can look into \(folder)",
                hint: "chmod 0700 \(folder.shellWord)")
        }
        guard access(folder, W_OK) == 0 else {
            let isReadOnly = errno == EROFS
            if FileStatus(folder) == nil {
                return HealthCheck(
                    name: "state folder", ok: false, detail: "\(folder) does not exist any more",
                    // The next request starts an agent that makes it.
                    hint: "kill \(getpid())")
            }
            return HealthCheck(
                name: "state folder", ok: false,
                detail: "\(folder) is \(isReadOnly ? "on a file system that is read-only" : "not writable")",
                hint: isReadOnly ? "make the file system writable" : "chmod 0700 \(folder.shellWord)")
        }
        // As at the start, which would fail.
        if let defect = TrustedPath.defect(ofDirectoriesAbove: folder) {
            return HealthCheck(
                name: "state folder", ok: false, detail: "\(folder) is not safe: \(defect.statement)",
                hint: defect.remedy?.command)
        }
        return HealthCheck(name: "state folder", ok: true, detail: folder)
    }
}
