internal import TestSupport
internal import Testing
internal import TokenModel

@testable internal import TokenEndpoint

@Suite(.bounded) struct PKCETests {
    /// RFC 7636 Appendix B.
    @Test func derivesTheChallengeOfTheRFCsExample() {
        let pkce = PKCE(verifier: Secret("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"))
        #expect(pkce.challenge == "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM")
    }

    @Test func makesVerifiersThatTheRFCAllowsAndNeverTwice() {
        let verifiers = (0..<100).map { _ in PKCE.make().verifier.reveal() }
        #expect(Set(verifiers).count == 100)
        #expect(
            verifiers.allSatisfy { $0.count == 43 && $0.allSatisfy { $0.isLetter || $0.isNumber || "-_".contains($0) } }
        )
    }
}
