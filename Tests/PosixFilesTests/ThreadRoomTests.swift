internal import Foundation
internal import TestSupport
internal import Testing

@testable internal import PosixFiles

/// Whether more threads can be created.
@Suite(.bounded) struct ThreadRoomTests {
    @Test func findsRoomAgainAndAgain() throws {
        for _ in 0..<8 { try ThreadRoom.require(32) }
    }

    #if os(Linux)
        @Test func findsNoRoomAtTheLimitOfTheUser() async {
            await #expect(processExitsWith: .success) {
                // The limit does not hold for root.
                if geteuid() == 0 { try #require(setuid(64_002) == 0) }
                var limit = rlimit(rlim_cur: 0, rlim_max: 0)
                try #require(setrlimit(__rlimit_resource_t(__RLIMIT_NPROC.rawValue), &limit) == 0)
                #expect(throws: SystemError(number: EAGAIN)) { try ThreadRoom.require(1) }
            }
        }
    #endif
}
