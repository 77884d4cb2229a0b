internal import PosixFiles
package import TokenModel

/// The folder of a published socket: it belongs to the user, and nobody else may write to it.
package enum PublishedSocketFolder {
    /// The reason why no socket can be published in a folder, with the remedy; nil if the folder can be used, as far as this process
    /// can see it.
    package static func defect(ofSocket path: String) -> Problem? {
        let folder = PrivateFiles.parent(of: path)
        guard let status = FileStatus(folder) else {
            let isMissing = (try? FileStatus.exists(folder)) == false
            guard isMissing else { return nil }
            return Problem("the folder \(folder) does not exist", .run("mkdir -p -m 711 \(folder.shellWord)"))
        }
        guard status.kind == .directory else { return Problem("\(folder) is not a folder") }
        // A sticky folder, such as /tmp, is meant for all users.
        guard status.isOwn, !(status.isSticky && status.isWritableByOthers) else {
            return Problem(
                "\(folder) is not yours alone; make a folder, and publish the socket there",
                .run("mkdir -p -m 711 ~/.sso-sockets"))
        }
        guard !status.isWritableByOthers else {
            return Problem("other users may write to \(folder)", .run("chmod go-w \(folder.shellWord)"))
        }
        return nil
    }
}
