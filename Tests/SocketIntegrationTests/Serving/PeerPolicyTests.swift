internal import AgentSocket
internal import TestSupport
internal import Testing
internal import TokenAgent

/// The peers that are served, by their user ID.
@Suite(.bounded) struct PeerPolicyTests {
    @Test(arguments: [(1000, 1000, true), (1000, 1001, false), (1000, 0, false), (0, 0, true), (0, 1000, false)])
    func admitsTheAgentsOwnUserAndNobodyElse(_ own: UInt32, _ peer: UInt32, _ isAdmitted: Bool) {
        for processID in [nil, 1 as Int32?] {
            let credentials = PeerCredentials(processID: processID, userID: peer, groupID: 0)
            #expect(PeerPolicy(userID: own).admits(credentials) == isAdmitted)
        }
    }
}
