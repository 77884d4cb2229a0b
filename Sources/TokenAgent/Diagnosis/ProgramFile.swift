#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// The file of the program that this process runs.
enum ProgramFile {
    /// Whether the file has been removed or replaced since the process was started, as a package does at an upgrade.
    /// False if the system does not report it.
    static var isReplaced: Bool {
        #if os(Linux)
            // proc_pid_exe(5): the kernel adds a mark to the path of a file that has no name any more.
            var path = [CChar](repeating: 0, count: Int(PATH_MAX))
            let length = readlink("/proc/self/exe", &path, path.count)
            return length > 0 && path.prefix(length).ends(with: " (deleted)".utf8.map { CChar($0) })
        #else
            return false
        #endif
    }
}

extension Collection where Element: Equatable {
    fileprivate func ends(with suffix: some Collection<Element>) -> Bool {
        self.suffix(suffix.count).elementsEqual(suffix)
    }
}
