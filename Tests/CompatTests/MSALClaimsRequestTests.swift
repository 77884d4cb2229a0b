internal import Foundation
internal import TestSupport
internal import Testing

@testable internal import MSALCompat

/// The claims parameter as apps build it, write it and read it.
@Suite(.bounded) struct MSALClaimsRequestTests {
    @Test func writesTheShapeOfOpenIDConnect() throws {
        let request = MSALClaimsRequest()
        let nbf = MSALIndividualClaimRequest(name: "nbf")
        nbf.additionalInfo = MSALIndividualClaimRequestAdditionalInfo()
        nbf.additionalInfo?.essential = true
        nbf.additionalInfo?.value = "1600000000"
        try request.requestClaim(nbf, for: .accessToken)
        let acr = MSALIndividualClaimRequest(name: "acr")
        acr.additionalInfo = MSALIndividualClaimRequestAdditionalInfo()
        acr.additionalInfo?.values = ["c1", 2]
        try request.requestClaim(acr, for: .idToken)
        try request.requestClaim(MSALIndividualClaimRequest(name: "picture"), for: .idToken)
        #expect(
            request.jsonString() == """
                {"access_token":{"nbf":{"essential":true,"value":"1600000000"}},\
                "id_token":{"acr":{"values":["c1",2]},"picture":null}}
                """)
    }

    @Test(arguments: [
        #"{"access_token":{"nbf":{"essential":true,"value":"1"}}}"#,
        #"{"id_token":{"a":null,"b":{"essential":false,"values":["x",1]}}}"#,
        #"{"access_token":{"a":null},"id_token":{"a":{"value":{"b":[1]}}}}"#,
    ]) func readsWhatItWrites(json: String) {
        var error: NSError?
        let request = MSALClaimsRequest(jsonString: json, error: &error)
        #expect(error == nil)
        #expect(request.hasClaims)
        #expect(request.jsonString() == json)
    }

    @Test(arguments: ["", "[]", "{", #"{"id_token":1}"#, #"{"id_token":{"a":1}}"#])
    func saysWhenItCannotRead(json: String) {
        var error: NSError?
        let request = MSALClaimsRequest(jsonString: json, error: &error)
        #expect(error?.domain == MSALErrorDomain)
        #expect(error?.internalCode == -42000)
        #expect(!request.hasClaims)
    }

    @Test func askingAgainReplaces() throws {
        let request = MSALClaimsRequest()
        try request.requestClaim(MSALIndividualClaimRequest(name: "a"), for: .idToken)
        let again = MSALIndividualClaimRequest(name: "a")
        again.additionalInfo = MSALIndividualClaimRequestAdditionalInfo()
        try request.requestClaim(again, for: .idToken)
        #expect(request.claimsRequests(for: .idToken)?.count == 1)
        #expect(request.claimsRequests(for: .idToken)?.first === again)
        #expect(request.claimsRequests(for: .accessToken) == nil)
    }

    @Test func removingWhatIsNotThereIsNoErrorOfMSALs() throws {
        let request = MSALClaimsRequest()
        try request.requestClaim(MSALIndividualClaimRequest(name: "a"), for: .idToken)
        let error = Sample.failure { try request.removeClaim(withName: "a", target: .accessToken) }
        #expect(error != nil && error?.domain != MSALErrorDomain)
        try request.removeClaim(withName: "a", target: .idToken)
        #expect(!request.hasClaims)
        #expect(request.jsonString() == "{}")
    }
}
