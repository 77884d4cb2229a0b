internal import Foundation
internal import TestSupport
internal import Testing
internal import TokenModel

@testable internal import ADALCompat

@Suite(.bounded) struct ADALRequestTests {
    private func request(
        clientID: String = "app-1", resource: String = "https://r/",
        change: (ADAuthenticationContext) -> Void = { _ in }
    ) throws -> TokenAcquisition {
        let context = try #require(
            ADAuthenticationContext(
                authority: "https://Login.windows.net/Contoso.com", validateAuthority: false,
                sharedGroup: "com.contoso",
                error: nil))
        change(context)
        let redirectURI = try #require(URL(string: "myapp://auth"))
        return TokenAcquisition(context, resource: resource, clientID: clientID, redirectURI: redirectURI)
    }

    @Test func convertsTheParametersToARequest() throws {
        let id = UUID()
        let request = try request(resource: " https://r/ ") { context in
            context.correlationId = id
            context.clientCapabilities = ["cp1"]
        }
        let parameters = try request.parameters()
        #expect(parameters.clientID == ClientID("app-1"))
        #expect(parameters.sharingGroup == SharingGroup("com.contoso"))
        #expect(parameters.authority.url == "https://login.windows.net/contoso.com")
        #expect(parameters.version == .v1)
        // The trailing slash of the resource is kept.
        #expect(parameters.scopes.target == "https://r//.default")
        #expect(parameters.redirectURI == "myapp://auth")
        #expect(parameters.capabilities == ["cp1"])
        #expect(!parameters.validatesAuthority)
        #expect(parameters.correlationID.uuid == id)
        #expect(parameters.claims == nil)
    }

    @Test func createsACorrelationIDForEachRequest() throws {
        let (one, other) = (try request(), try request())
        #expect(one.correlationID != other.correlationID)
    }

    /// What is remembered of a request for a user says nothing of one that names nobody.
    @Test func requiresTheNameOfTheUserOfADFSForEachRequest() throws {
        let context = try #require(
            ADAuthenticationContext(
                authority: "https://fs.contoso.com/adfs", validateAuthority: true, sharedGroup: nil, error: nil))
        let redirectURI = try #require(URL(string: "myapp://auth"))
        var request = TokenAcquisition(context, resource: "https://r", clientID: "app-1", redirectURI: redirectURI)
        request.identifier = ADUserIdentifier(id: "alice@contoso.com")
        #expect(try request.parameters().authority.kind == .adfs)
        request.identifier = nil
        let error = #expect(throws: ADAuthenticationError.self) { try request.parameters() }
        #expect(error?.code == 100)
    }

    /// What is remembered of a request in one sharing group would be answered with the tokens of that group.
    @Test func makesARequestInTheSharingGroupOfEachContext() throws {
        let redirectURI = try #require(URL(string: "myapp://auth"))
        for name in ["com.contoso.one", "com.contoso.two"] {
            let context = try #require(
                ADAuthenticationContext(
                    authority: "https://login.windows.net/groups.contoso.com", validateAuthority: false,
                    sharedGroup: name, error: nil))
            let request = TokenAcquisition(context, resource: "https://r", clientID: "app-1", redirectURI: redirectURI)
            #expect(try request.parameters().sharingGroup == SharingGroup(name))
        }
    }

    @Test(arguments: [("", "https://r"), (" ", "https://r"), ("app-1", ""), ("app-1", "\n")])
    func refusesBlankArguments(clientID: String, resource: String) throws {
        let request = try request(clientID: clientID, resource: resource)
        let error = #expect(throws: ADAuthenticationError.self) { try request.parameters() }
        #expect(error?.code == 100)
    }

    @Test(arguments: [
        ("%7B%22access_token%22%3A%7B%7D%7D", #"{"access_token":{}}"#),
        ("%7B%22a%22%3A%22x+y%2Bz%22%7D", #"{"a":"x y+z"}"#),
    ])
    func decodesClaims(given: String, expected: String) throws {
        var request = try request()
        request.claims = given
        #expect(try request.parameters().claims == expected)
    }

    @Test(arguments: [#"{"a":1}"#, "%7B", "claims", "%5B%5D", "%ZZ"]) func refusesClaimsThatAreNotEncodedJSON(
        given: String
    ) throws {
        var request = try request()
        request.claims = given
        let error = #expect(throws: ADAuthenticationError.self) { try request.parameters() }
        #expect(error?.code == 100)
    }

    @Test func ignoresBlankClaims() throws {
        var request = try request()
        request.claims = " "
        #expect(try request.parameters().claims == nil)
    }

    @Test(arguments: [
        (String?.none, [:]), ("", [:]), ("a=b&c=d", ["a": "b", "c": "d"]), ("&a=b", ["a": "b"]), ("?a=b", ["a": "b"]),
        ("a=b%26c&d", ["a": "b&c", "d": ""]), ("a=x+y&b==", ["a": "x y", "b": "="]),
    ])
    func readsExtraQueryParameters(given: String?, expected: [String: String]) throws {
        var request = try request()
        request.queryParameters = given
        #expect(try request.decodedQuery() == expected)
    }

    @Test(arguments: ["a=b c", "a=\"b\"", "a=%ZZ"]) func refusesExtraQueryParametersThatAreNotEncoded(
        given: String
    ) throws {
        var request = try request()
        request.queryParameters = given
        let error = #expect(throws: ADAuthenticationError.self) { try request.decodedQuery() }
        #expect(error?.code == 100)
    }

    @Test func refusesClaimsInTwoPlaces() throws {
        var request = try request()
        request.queryParameters = "claims=%7B%7D"
        #expect(try request.decodedQuery() == ["claims": "{}"])
        request.claims = "%7B%22a%22%3A1%7D"
        let error = #expect(throws: ADAuthenticationError.self) { try request.decodedQuery() }
        #expect(error?.code == 100)
    }
}
