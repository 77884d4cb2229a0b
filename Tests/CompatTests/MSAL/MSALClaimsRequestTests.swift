internal import Foundation
internal import TestSupport
internal import Testing

@testable internal import MSALCompat

/// Building, writing and reading the claims parameter.
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
        #"{"id_token":{"a":{"value":[true,false,null,-1,1.5,"x"]}}}"#,
    ]) func readsWhatItWrites(json: String) {
        var error: NSError?
        let request = MSALClaimsRequest(jsonString: json, error: &error)
        #expect(error == nil)
        #expect(request.hasClaims)
        #expect(request.jsonString() == json)
    }

    // Mirrors: M20 MSALClaimsRequestTests testInitWithJSONString_whenJsonStringIsCorrupted_shouldFailWithError
    @Test(arguments: [
        "", "{", "claims", #""claims""#, "null", #"{"id_token": "nickname": null }}"#,
        String(repeating: "[", count: 1_000),
    ])
    func reportsTextThatIsNotJSON(json: String) {
        var error: NSError?
        let request = MSALClaimsRequest(jsonString: json, error: &error)
        #expect(error?.domain == NSCocoaErrorDomain)
        #expect(error?.code == 3840)
        #expect(!request.hasClaims)
    }

    // Mirrors: M20 MSALClaimsRequestTests testInitWithJSONString_* (an unknown target, an unknown member alone, essential of a wrong
    //   type, values of a wrong type, a target that is no object); MSIDClaimsRequestTests testinitWithJSONDictionary_*
    @Test(arguments: [
        "[]", #"{"qwe":{"nickname":null}}"#, #"{"ID_TOKEN":{"nickname":null}}"#, #"{"id_token":"acr"}"#,
        #"{"id_token":1}"#, #"{"id_token":null}"#, #"{"id_token":["acr"]}"#, #"{"id_token":{"a":1}}"#,
        #"{"id_token":{"a":"x"}}"#, #"{"id_token":{"a":[]}}"#, #"{"id_token":{"sub":{}}}"#,
        #"{"id_token":{"sub":{"invalid_param":1}}}"#, #"{"id_token":{"sub":{"Essential":true}}}"#,
        #"{"id_token":{"given_name":{"essential":"qwe"}}}"#, #"{"id_token":{"given_name":{"essential":null}}}"#,
        #"{"id_token":{"given_name":{"essential":[true]}}}"#, #"{"id_token":{"acr":{"essential":true,"values":"x"}}}"#,
        #"{"id_token":{"acr":{"values":{"0":"x"}}}}"#, #"{"id_token":{"acr":{"values":null}}}"#,
        #"{"access_token":{"acrs":{"essential":true,"value":"c1"}},"refresh_token":{"a":null}}"#,
    ])
    func refusesAnInvalidClaimsRequest(json: String) {
        var error: NSError?
        let request = MSALClaimsRequest(jsonString: json, error: &error)
        #expect(error?.domain == MSALErrorDomain)
        #expect(error?.code == MSALError.internal.rawValue)
        #expect(error?.internalCode == -42000)
        #expect(!request.hasClaims)
        #expect(request.jsonString() == "{}")
    }

    // Mirrors: M20, M21 MSALClaimsRequestTests testInitWithJSONString_* and testJSONString_*: what MSAL takes, and writes again
    @Test(
        arguments: [
            ("{}", "{}"), (#"{"id_token":{}}"#, "{}"), (#"{"id_token":{"nickname":null}}"#, nil),
            (#"{"access_token":{"nickname":null}}"#, nil),
            (#"{"access_token":{"some_claim":null},"id_token":{"nickname":null}}"#, nil),
            (#"{"id_token":{"given_name":{"essential":true}}}"#, nil),
            (#"{"id_token":{"a":{"essential":false}}}"#, nil),
            (#"{"id_token":{"a":{"essential":10}}}"#, #"{"id_token":{"a":{"essential":true}}}"#),
            (#"{"id_token":{"a":{"essential":0}}}"#, #"{"id_token":{"a":{"essential":false}}}"#),
            (#"{"id_token":{"a":{"essential":-1}}}"#, #"{"id_token":{"a":{"essential":true}}}"#),
            (#"{"id_token":{"sub":{"value":248289761001}}}"#, nil), (#"{"id_token":{"sub":{"value":null}}}"#, nil),
            (#"{"id_token":{"sub":{"value":[1,{"a":"b"}]}}}"#, nil),
            (#"{"id_token":{"sub":{"value":1},"sub":{"value":2}}}"#, #"{"id_token":{"sub":{"value":2}}}"#),
            (#"{"id_token":{"acr":{"values":["v1","v1"]}}}"#, nil), (#"{"id_token":{"acr":{"values":[]}}}"#, nil),
            (#"{"id_token":{"acr":{"essential":true,"value":1,"values":["a","b"]}}}"#, nil),
            (#"{"id_token":{"acr":{"essential":true,"x":1}}}"#, #"{"id_token":{"acr":{"essential":true}}}"#),
            (#"{"id_token":{"":null}}"#, nil),
        ] as [(String, String?)])
    func acceptsWhatMSALAccepts(json: String, written: String?) {
        var error: NSError?
        let request = MSALClaimsRequest(jsonString: json, error: &error)
        #expect(error == nil)
        #expect(request.jsonString() == written ?? json)
    }

    @Test func acceptsAMissingErrorPointer() {
        #expect(!MSALClaimsRequest(jsonString: "{", error: nil).hasClaims)
    }

    @Test func replacesAnEarlierRequestForTheSameClaim() throws {
        let request = MSALClaimsRequest()
        try request.requestClaim(MSALIndividualClaimRequest(name: "a"), for: .idToken)
        let again = MSALIndividualClaimRequest(name: "a")
        again.additionalInfo = MSALIndividualClaimRequestAdditionalInfo()
        try request.requestClaim(again, for: .idToken)
        #expect(request.claimsRequests(for: .idToken)?.count == 1)
        #expect(request.claimsRequests(for: .idToken)?.first === again)
        #expect(request.claimsRequests(for: .accessToken)?.isEmpty == true)
    }

    @Test(arguments: ["", " \n"]) func refusesAClaimWithoutAName(name: String) {
        let request = MSALClaimsRequest()
        let error = Sample.failure { try request.requestClaim(MSALIndividualClaimRequest(name: name), for: .idToken) }
        #expect(error?.domain == MSALErrorDomain)
        #expect(error?.internalCode == -42000)
        #expect(!request.hasClaims)
    }

    @Test func reportsAMissingClaimWithoutAnMSALError() throws {
        let request = MSALClaimsRequest()
        try request.requestClaim(MSALIndividualClaimRequest(name: "a"), for: .idToken)
        let error = Sample.failure { try request.removeClaim(withName: "a", target: .accessToken) }
        #expect(error != nil && error?.domain != MSALErrorDomain)
        try request.removeClaim(withName: "a", target: .idToken)
        #expect(!request.hasClaims)
        #expect(request.jsonString() == "{}")
    }

    // Mirrors: MSALIndividualClaimRequest, which has no equality of its own; MSIDClaimsRequest description
    @Test func comparesClaimsByIdentityAndDescribesThem() throws {
        let (one, other) = (MSALIndividualClaimRequest(name: "a"), MSALIndividualClaimRequest(name: "a"))
        #expect(one != other)
        #expect(one.description.hasSuffix("(name=a, additional info=(null))"))
        let info = MSALIndividualClaimRequestAdditionalInfo()
        info.essential = 1
        info.values = ["x"]
        #expect(info.description.hasSuffix("(essential=1, value=(null), values=[\"x\"])"))
        let request = MSALClaimsRequest()
        try request.requestClaim(one, for: .idToken)
        #expect(request.description.hasSuffix(#"({"id_token":{"a":null}})"#))
    }
}
