internal import TestSupport
internal import Testing

@testable internal import TokenEndpoint

@Suite(.bounded) struct ClaimsRequestTests {
    @Test(
        arguments: [
            ("", #"{"access_token":{"xms_cc":{"values":["cp1","é\"/"]}}}"#),
            (" ", #"{"access_token":{"xms_cc":{"values":["cp1","é\"/"]}}}"#),
            (#"{"access_token":null}"#, #"{"access_token":{"xms_cc":{"values":["cp1","é\"/"]}}}"#),
            (
                #"{ "id_token": {"b":{"values":[{"d":1.50,"c":true}]}, "a":null}, "access_token": {"xms_cc":7, "p":1e2} }"#,
                #"{"access_token":{"p":1e2,"xms_cc":{"values":["cp1","é\"/"]}},"#
                    + #""id_token":{"a":null,"b":{"values":[{"c":true,"d":1.50}]}}}"#
            ),
        ])
    func addsTheCapabilitiesToTheRequestOfTheApp(request: String, merged: String) {
        #expect(ClaimsRequestJSON(request)?.adding(capabilities: ["cp1", #"é"/"#]) == merged)
    }

    @Test(arguments: ["[1]", "null", "{", "{}{}", #"{"access_token":}"#, "claims"])
    func isNoRequestWithoutAJSONObject(text: String) {
        #expect(ClaimsRequestJSON(text) == nil)
    }
}
