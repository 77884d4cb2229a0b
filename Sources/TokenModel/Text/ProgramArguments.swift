/// The arguments with which this program was started.
package enum ProgramArguments {
    /// What is wrong with an argument that is not UTF-8, as a sentence; nil if there is none. Swift passes on such a text, with U+FFFD for
    /// what cannot be read, as if it were the value that was meant: that of a path names another file.
    package static var problem: String? {
        let arguments = UnsafeBufferPointer(start: CommandLine.unsafeArgv, count: Int(CommandLine.argc))
        let bytes = arguments.dropFirst().compactMap(\.self).first { String(validatingCString: $0) == nil }
        guard let text = bytes.map({ String(cString: $0) }) else { return nil }
        return "The argument “\(UntrustedText.clean(text, limit: 200))” is not UTF-8."
    }
}
