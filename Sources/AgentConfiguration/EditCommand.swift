internal import PosixFiles
internal import TokenModel

/// The command with which the user changes a file of the configuration: with the editor of the user, or with that of root's files.
package struct EditCommand {
    package let text: String

    /// - Parameter line: the line at which the file is opened, counted from 1; nil for the first one.
    package init(_ file: String, line: Int? = nil) {
        if FileStatus(file)?.isOwn == false {
            text = "sudoedit \(file.shellWord)"
        } else {
            text = "${EDITOR:-nano} \(line.map { "+\($0) " } ?? "")\(file.shellWord)"
        }
    }
}
