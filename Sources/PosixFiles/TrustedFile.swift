package import TokenModel

/// The reason why a file is not used, with the remedy.
package struct TrustedFileError: Error, Sendable, Equatable, CustomStringConvertible {
    package let problem: Problem
    /// Whether the process may not read the file.
    package let isPermissionDenied: Bool

    package init(_ statement: String, _ remedy: Remedy? = nil) { self.init(Problem(statement, remedy)) }

    package init(_ problem: Problem) { (self.problem, isPermissionDenied) = (problem, false) }

    package init(_ error: SystemError) {
        isPermissionDenied = error.isPermissionDenied
        problem = Problem(error == .notRegular ? "it is not a regular file" : error.description)
    }

    package var description: String { problem.description }
}

extension FileDescriptor {
    /// Opens a file that decides what this process does, or whom it trusts: a regular file that only the user of this process and
    /// root can change or replace.
    package static func trusted(_ path: String) throws(TrustedFileError) -> FileDescriptor {
        if let defect = TrustedPath.defect(ofDirectoriesAbove: path) { throw TrustedFileError(defect) }
        let file = try attempt { () throws(SystemError) in try FileDescriptor(readingRegular: path) }
        let status = try attempt { () throws(SystemError) in try file.status }
        guard status.isOwnOrRoots else {
            throw TrustedFileError(
                // A change of the owner alone would make this process trust whatever the other user has written.
                "it belongs to user \(status.owner), who can change it; name another file, or look at what is in it before you "
                    + "make it yours", .see("ls -l \(path.shellWord)"))
        }
        guard !status.isWritableByOthers else {
            throw TrustedFileError("other users can change it", .run("chmod go-w \(path.shellWord)"))
        }
        return file
    }

    /// Throws an error of the system as the reason why a file is not used.
    package static func attempt<Value: ~Copyable>(
        _ body: () throws(SystemError) -> Value
    ) throws(TrustedFileError) -> Value {
        do throws(SystemError) { return try body() } catch { throw TrustedFileError(error) }
    }
}

/// Checks who can replace what is at a path.
package enum TrustedPath {
    /// The reason why other users can replace what is at a path, by one of the directories above it or a symbolic link among them,
    /// with the remedy; nil if only the user of this process and root can. Directories that do not exist are not checked.
    package static func defect(ofDirectoriesAbove path: String) -> Problem? {
        for place in steps(to: FileStatus.absolutePath(path)) {
            if let defect = defect(of: place) { return defect }
        }
        return nil
    }

    private static func defect(of directory: String) -> Problem? {
        guard let status = FileStatus(directory, followsLinks: false) else { return nil }
        guard status.isOwnOrRoots else {
            return Problem(
                "\(directory) belongs to user \(status.owner), who can replace what is in it; choose another folder")
        }
        // The mode of a symbolic link has no meaning. What it leads to is checked by itself.
        guard status.kind != .symbolicLink else { return nil }
        // In a sticky directory, such as /tmp, others cannot replace the entries of this user or of root.
        guard status.isWritableByOthers, !status.isSticky else { return nil }
        let sudo = status.isOwn ? "" : "sudo "
        guard status.mode & 0o002 == 0, isAdministrators(status.group) else {
            return Problem(
                "other users can replace what is in \(directory)", .run("\(sudo)chmod go-w \(directory.shellWord)"))
        }
        // Administrators may write. With an access control list, these bits of the mode are the mask of everybody whom the list names.
        guard let list = AccessList(ofFileAt: directory) else {
            return Problem(
                "the access control list of \(directory) cannot be read",
                .run("\(sudo)chmod g-w \(directory.shellWord)"))
        }
        guard let other = list.writers.first(where: { !isOwnOrRoots($0) }) else { return nil }
        return Problem(
            "an access control list lets \(name(of: other)) replace what is in \(directory)",
            .run("\(sudo)setfacl -b \(directory.shellWord)"))
    }

    private static func isOwnOrRoots(_ writer: AccessList.Writer) -> Bool {
        switch writer {
        case .user(let user): user == 0 || user == FileStatus.effectiveUser
        case .group(let group): isAdministrators(group)
        }
    }

    /// Whether the members of a group can become root anyway: root's own group, and on macOS `admin`, which may change the folders of
    /// Homebrew.
    private static func isAdministrators(_ group: UInt32) -> Bool {
        #if os(macOS)
            group == 0 || group == 80
        #else
            group == 0
        #endif
    }

    private static func name(of writer: AccessList.Writer) -> String {
        switch writer {
        case .user(let user): "user \(user)"
        case .group(let group): "group \(group)"
        }
    }

    /// The directories and the symbolic links through which the kernel finds what is at an absolute path, without symbolic links above
    /// them. A link may lead to another link: who can replace that one decides where the path leads.
    private static func steps(to path: String) -> [String] {
        var (steps, place, linkCount) = (["/"], "", 0)
        // The next name is the last element.
        var rest = Array(names(in: path).reversed())
        while let name = rest.popLast() {
            switch name {
            case ".": continue
            case "..":
                let slash = place.utf8.lastIndex(of: UInt8(ascii: "/"))
                place = slash.map { String(place[..<$0]) } ?? ""
            default:
                let next = "\(place)/\(name)"
                if linkCount < linkLimit, let target = FileStatus.linkTarget(next) {
                    linkCount += 1
                    steps.append(next)
                    if target.utf8.first == UInt8(ascii: "/") { place = "" }
                    rest.append(contentsOf: names(in: target).reversed())
                } else {
                    if !rest.isEmpty { steps.append(next) }
                    place = next
                }
            }
        }
        return steps
    }

    /// The number of links after which the kernel opens nothing (path_resolution(7)).
    private static let linkLimit = 40

    /// The names in a path. By bytes, as the kernel divides it: a slash forms one `Character` with a combining character behind it.
    private static func names(in path: String) -> [String] {
        // Appending a substring is slow the first time (docs/decisions/0056-what-a-start-costs.md).
        path.utf8.split(separator: UInt8(ascii: "/")).map { String(Substring($0)) }
    }
}
