internal import CompatSupport
internal import Foundation
internal import TestSupport
internal import Testing
internal import TokenModel

/// The claims of ID tokens as the objects that the APIs of MSAL and ADAL return.
@Suite(.bounded) struct FoundationJSONTests {
    @Test(arguments: [
        "{}", #"{"a":"text","b":"","c":"ü\n\u0041"}"#, #"{"a":null,"b":true,"c":false}"#,
        #"{"a":0,"b":-1,"c":1700000000,"d":9223372036854775807,"e":18446744073709551615,"f":1.5,"g":-0.25}"#,
        #"{"a":[],"b":[1,"x",null,[true]],"c":{},"d":{"e":{"f":"g"}}}"#, #"{"a":1,"a":2}"#,
    ])
    func representsJSONAsJSONSerializationDoes(json: String) throws {
        let value = try #require(JSONReader.read(Array(json.utf8)).foundationValue as? [String: Any])
        let expected = try #require(JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any])
        #expect(NSDictionary(dictionary: value) == NSDictionary(dictionary: expected))
    }

    @Test func givesClaimsTheTypesThatAppsCastThemTo() throws {
        let json = """
            {"exp":1700000000,"email_verified":true,"amr":["pwd","mfa"],"address":{"country":"DE"},"nickname":null}
            """
        let claims = try #require(IDTokenPayload.claims(of: Self.token(json)))
        #expect(claims["exp"] as? Int == 1_700_000_000)
        #expect((claims["exp"] as? NSNumber)?.doubleValue == 1_700_000_000)
        #expect(claims["email_verified"] as? Bool == true)
        #expect(claims["amr"] as? [String] == ["pwd", "mfa"])
        #expect((claims["address"] as? [String: Any])?["country"] as? String == "DE")
        #expect(claims["nickname"] is NSNull)
    }

    @Test(arguments: [
        "", "[]", "1", #""text""#, "{", #"{"a":"\#(String(repeating: "[", count: 1_000))"#,
        #"{"a":\#(String(repeating: "[", count: 64))\#(String(repeating: "]", count: 64))}"#,
    ])
    func readsNoClaimsFromWhatIsNotAnObjectOrIsNestedTooDeep(payload: String) {
        #expect(IDTokenPayload.read(Self.token(payload)) == nil)
    }

    private static func token(_ payload: String) -> String {
        "header.\(Base64URL.encode(Data(payload.utf8))).signature"
    }
}
