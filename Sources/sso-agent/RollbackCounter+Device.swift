internal import AgentSocket
internal import PosixFiles
internal import TokenModel
internal import TokenStore

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

extension RollbackCounter {
    /// Opens the TPM that counts the changes of a store: a device, or the socket of a program that emulates one. Done before the process
    /// is restricted, in which it could not.
    ///
    /// - Throws: `invalidDeveloperParameter` (-51112) if it cannot be used, with the reason.
    convenience init(opening path: String, ofStoreIn directory: String, isReset: Bool) throws(TokenError) {
        do throws(SystemError) {
            let isSocket = FileStatus(path)?.kind == .socket
            let device =
                isSocket ? try FileDescriptor(opened: Self.connect(to: path)) : try FileDescriptor(device: path)
            self.init(device, name: path, directory: directory, isReset: isReset)
        } catch {
            let isDenied = error.isPermissionDenied
            let words = isDenied ? "; join the group of the TPM, and log in again" : ""
            throw TokenError(
                .invalidDeveloperParameter, "--rollback-counter names \(path), which cannot be used: \(error)\(words)",
                isDenied ? .run("sudo usermod --append --groups tss \"$USER\"") : nil)
        }
    }

    private static func connect(to path: String) throws(SystemError) -> Int32 {
        guard let attempt = try? UnixSocket.connect(to: path), case .connected(let number) = attempt else {
            throw SystemError(number: ECONNREFUSED)
        }
        return number
    }
}
