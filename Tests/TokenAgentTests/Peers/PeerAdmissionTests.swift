internal import Foundation
internal import NIOCore
internal import TestSupport
internal import Testing
internal import TokenModel

@testable internal import TokenAgent

/// What the kernel says of a peer's process when the agent asks for a descriptor of it.
@Suite(.bounded) struct PeerAdmissionTests {
    @Test(arguments: [ESRCH, EINVAL, ENODATA]) func takesAnErrorForTheEndOfTheProcess(number: Int32) throws {
        #expect(try PeerAdmission.pidfd(after: IOError(errnoCode: number, reason: "getsockopt")) == nil)
    }

    @Test func knowsAKernelWithoutTheOption() throws {
        #expect(try PeerAdmission.pidfd(after: IOError(errnoCode: ENOPROTOOPT, reason: "getsockopt")) == -1)
    }

    /// The process has not ended: the log must not say so.
    @Test(arguments: [EMFILE, ENFILE, ENOMEM]) func saysNothingOfTheProcessWithoutADescriptor(number: Int32) {
        let error = #expect(throws: TokenError.self) {
            try PeerAdmission.pidfd(after: IOError(errnoCode: number, reason: "getsockopt"))
        }
        #expect(error?.code == .agentUnavailable)
        #expect(error?.message == String(cString: strerror(number)))
    }
}
