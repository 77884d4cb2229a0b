internal import TestSupport
internal import Testing
internal import TokenModel

@Suite(.bounded) struct ProviderRefusalTests {
    private static func refusal(
        _ error: String = "invalid_grant", suberror: String? = nil, numbers: [Int32] = [], description: String? = nil,
        status: Int32? = nil
    ) -> ProviderRefusal? {
        var details = TokenError.Details()
        details.httpStatus = status
        (details.oauthError, details.subError) = (error, suberror)
        (details.stsErrorCodes, details.errorDescription) = (numbers, description)
        return ProviderRefusal(details)
    }

    @Test func hasEachNumberAndEachNameOnce() {
        let numbers = ProviderRefusal.allCases.flatMap(\.numbers)
        #expect(Set(numbers).count == numbers.count)
        let names = ProviderRefusal.allCases.flatMap(\.names)
        #expect(Set(names).count == names.count)
        #expect(names.allSatisfy { $0 == $0.lowercased() })
    }

    @Test(arguments: ProviderRefusal.allCases) func isFoundByItsNumbersAndNames(refusal: ProviderRefusal) {
        #expect(!refusal.numbers.isEmpty || !refusal.names.isEmpty)
        for number in refusal.numbers {
            #expect(Self.refusal(numbers: [1, number]) == refusal)
            #expect(Self.refusal("access_denied", description: "AADSTS\(number): text") == refusal)
        }
        for name in refusal.names {
            #expect(Self.refusal(name.uppercased()) == refusal)
            #expect(Self.refusal("invalid_grant", suberror: name) == refusal)
        }
    }

    @Test func explainsEachRefusalInASentenceOfItsOwn() {
        let sentences = ProviderRefusal.allCases.map(\.explanation)
        #expect(Set(sentences).count == sentences.count)
        for sentence in sentences {
            #expect(!sentence.isEmpty && !sentence.hasSuffix(".") && !sentence.contains("ssoctl"))
        }
    }

    /// The name `access_denied` is that of a policy too; only without a number it is the user's.
    @Test func takesAPolicyForNoDeclinedSignIn() {
        #expect(Self.refusal("access_denied", description: "AADSTS53003: Access has been blocked.") == .policy)
        #expect(Self.refusal("access_denied", description: "AADSTS65004: no") == .declined)
        #expect(Self.refusal("access_denied", description: "AADSTS999999: no") == nil)
        #expect(Self.refusal("access_denied", description: "The user pressed Cancel") == .declined)
        #expect(Self.refusal("authorization_declined", description: "AADSTS70018: no") == .declined)
    }

    /// RFC 6749 section 5.2 has more than one reason for each of them.
    @Test(arguments: ["unauthorized_client", "invalid_grant", "server_error", "something_new"])
    func explainsNoNameWithSeveralMeanings(name: String) {
        #expect(Self.refusal(name) == nil)
    }

    /// RFC 6749 section 5.2. Keycloak has another name, with the status of a failed authentication.
    @Test func findsAnAppThatShouldHaveASecret() {
        #expect(Self.refusal("invalid_client", status: 400) == .unauthenticatedApp)
        #expect(Self.refusal("unauthorized_client", status: 401) == .unauthenticatedApp)
        #expect(Self.refusal("unauthorized_client", status: 400) == nil)
        #expect(Self.refusal("unauthorized_client", suberror: "protection_policy_required", status: 401) == .policy)
        // Entra's number for a secret that is not valid.
        #expect(Self.refusal("invalid_client", numbers: [7_000_215], status: 401) == nil)
        #expect(Self.refusal("invalid_client", numbers: [7_000_218], status: 401) == .confidentialApp)
    }

    /// Entra's sub-errors are fewer than its numbers, of which a policy may have one that is not known here.
    @Test(
        arguments: [
            ("basic_action", .question), ("user_password_expired", .question), ("additional_action", .policy),
            ("device_authentication_failed", .policy), ("bad_token", .endedSignIn), ("token_expired", .endedSignIn),
            ("message_only", nil), ("client_mismatch", nil),
        ] as [(String, ProviderRefusal?)])
    func explainsASubErrorWithANumberThatIsNotKnown(suberror: String, refusal: ProviderRefusal?) {
        #expect(Self.refusal(suberror: suberror, numbers: [999_999]) == refusal)
        #expect(Self.refusal(suberror: suberror, numbers: [53_003]) == .policy)
    }

    @Test func distinguishesADisabledAppFromAnUnknownOne() {
        #expect(Self.refusal("unauthorized_client", numbers: [7_000_112]) == .disabledApp)
        #expect(Self.refusal("unauthorized_client", numbers: [700_016]) == .unknownApp)
    }

    @Test(
        arguments: [
            ("AADSTS50011: The redirect URI", 50_011), ("AADSTS7000218", 7_000_218), ("AADSTS: none", nil), ("", nil),
            ("text AADSTS50011: within", nil), ("AADSTS99999999999: too large", nil), ("AADSTS٣: not ASCII", nil),
        ] as [(String, Int32?)])
    func readsTheNumberAtTheBeginningOfADescription(description: String, number: Int32?) {
        #expect(ProviderRefusal.number(in: description) == number)
        #expect(ProviderRefusal.number(in: nil) == nil)
    }
}
