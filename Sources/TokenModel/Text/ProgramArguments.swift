/// The arguments with which this program was started.
package enum ProgramArguments {
    /// What is wrong with the arguments, as a sentence; nil if nothing is.
    ///
    /// Swift passes on a text that is not UTF-8, with U+FFFD for what cannot be read, as if it were the value that was meant: that of a path
    /// names another file. On Linux, it reads the arguments from `/proc`, and without that passes on none, as if there were none: not even
    /// the name of the program, which every process has.
    package static var problem: String? {
        guard CommandLine.argc > 0 else { return "The arguments cannot be read from /proc/self/cmdline." }
        let arguments = UnsafeBufferPointer(start: CommandLine.unsafeArgv, count: Int(CommandLine.argc))
        let bytes = arguments.dropFirst().compactMap(\.self).first { String(validatingCString: $0) == nil }
        guard let text = bytes.map({ String(cString: $0) }) else { return nil }
        return "The argument “\(UntrustedText.clean(text, limit: 200))” is not UTF-8."
    }
}
