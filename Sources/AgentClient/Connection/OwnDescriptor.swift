internal import PosixFiles

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// A descriptor of a connection. An app may close all those of its process (`closefrom`), these too, and open files that have their numbers
/// then. The files of the app are left alone.
struct OwnDescriptor {
    let number: Int32
    private let identity: FileIdentity?

    /// - Parameter number: an open descriptor.
    init(_ number: Int32) {
        (self.number, identity) = (number, FileIdentity(ofDescriptor: number))
    }

    /// Whether the descriptor is open, and still that of the same file.
    var isOpen: Bool { identity != nil && FileIdentity(ofDescriptor: number) == identity }

    /// Ends a connection, if the app has not closed the descriptor.
    func shutDown() {
        if isOpen { shutdown(number, Int32(SHUT_RDWR)) }
    }

    /// Closes the descriptor, if the app has not.
    func close() {
        if isOpen { systemClose(number) }
    }
}

/// `close(2)`; the method above hides the function.
private func systemClose(_ descriptor: Int32) { close(descriptor) }
