internal import ArgumentParser
internal import Foundation
internal import TestSupport
internal import Testing
internal import TokenModel

@testable internal import ssoctl

/// The command and the sentence for each refusal of an identity provider, without a process.
@Suite(.bounded) struct ProviderAdviceTests {
    private static let typed = ["--client-id", "id-1", "--scope", "S"]

    private static func parsed(_ arguments: [String]) async throws -> (target: Target, manner: SignInOptions) {
        let command = try #require(try await SignInCommand.asyncParseAsRoot(arguments) as? SignInCommand)
        return (try Target(command.target.values, for: "sign-in"), command.manner)
    }

    /// The user has named the authority. A host that no cloud knows could not be used otherwise, nor could a farm without a user's name.
    @Test(arguments: [[], ["--authority", "https://login.contoso.example/common"]])
    func trustsTheAuthorityOfTheCommandLine(options: [String]) async throws {
        let (target, _) = try await Self.parsed(Self.typed + options)
        let parameters = target.parameters(at: target.authority ?? .common)
        #expect(!parameters.validatesAuthority)
    }

    /// Beside the tenant, the cloud of the app would be that of another provider than the user has named.
    @Test(
        arguments: [
            ([], "https://login.microsoftonline.com/contoso.com"),
            (["--cloud", "usgov"], "https://login.microsoftonline.us/contoso.com"),
        ] as [([String], String)])
    func takesTheNamedCloudBesideATenant(options: [String], url: String) async throws {
        let arguments = Self.typed + ["--tenant", "contoso.com"] + options
        let command = try #require(try await SignInCommand.asyncParseAsRoot(arguments) as? SignInCommand)
        #expect(try command.target.provider.values.authority(app: Authority.common)?.url == url)
    }

    private static func refused(_ number: Int32) -> TokenError {
        var error = TokenError(.invalidGrant, "refused")
        (error.details.oauthError, error.details.stsErrorCodes) = ("invalid_grant", [number])
        return error
    }

    /// What `ssoctl sign-in` advises.
    private static func advised(_ arguments: [String], _ error: TokenError) async throws -> CommandFailure {
        let (target, manner) = try await parsed(arguments)
        return CommandFailure(error).advised(for: target, manner)
    }

    /// The command after `ssoctl sign-in --client-id id-1`; nil if none helps.
    private static func command(_ refusal: ProviderRefusal) -> String? {
        switch refusal {
        case .policy, .disabledApp, .confidentialApp, .unauthenticatedApp: nil
        case .scopes, .resource: "--scope SCOPE --login-hint a@b --device-code"
        case .unknownTenant, .appOfOneTenant: "--scope S --tenant TENANT --login-hint a@b --device-code"
        case .consent: "--scope S --login-hint a@b --prompt consent"
        case .unassignedAccount, .unknownAccount, .disabledAccount: "--scope S --prompt select_account"
        case .unknownApp, .redirectURI, .consentOfAdministrator, .declined, .question, .endedSignIn:
            "--scope S --login-hint a@b --device-code"
        }
    }

    @Test(arguments: ProviderRefusal.allCases) func namesTheCommandThatHelps(refusal: ProviderRefusal) async throws {
        var error = Self.refused(0)
        error.details.stsErrorCodes = refusal.numbers.first.map { [$0] } ?? []
        error.details.oauthError = refusal.numbers.isEmpty ? refusal.names.first : "invalid_grant"
        let failure = try await Self.advised(Self.typed + ["--login-hint", "a@b", "--device-code"], error)
        let expected = Self.command(refusal).map { "ssoctl sign-in --client-id id-1 " + $0 }
        #expect(failure.nextCommand == expected)
        #expect(failure.error.message.hasPrefix(refusal.explanation))
        #expect(failure.error.code == .invalidGrant)
    }

    /// With `prompt=none` the same sign-in fails each time.
    @Test func letsTheProviderAskWhatItHasToAsk() async throws {
        let options = ["--login-hint", "a@b", "--prompt", "none", "--browser"]
        let failure = try await Self.advised(Self.typed + options, Self.refused(50_058))
        #expect(failure.nextCommand == "ssoctl sign-in --client-id id-1 --scope S --login-hint a@b --browser")
    }

    /// The identity provider chooses the names.
    @Test func keepsANameThatLooksLikeAnOption() async throws {
        let hint = "--login-hint=-b@contoso.com"
        for (number, words) in [(65_004, "--scope S \(hint)"), (50_105, "--scope S --prompt select_account")] {
            let failure = try await Self.advised(Self.typed + [hint], Self.refused(Int32(number)))
            #expect(failure.nextCommand == "ssoctl sign-in --client-id id-1 \(words)")
        }
    }

    /// Neither a sign-in nor a consent helps against a policy of the tenant, whatever tells it.
    @Test(arguments: [50_097, 50_129, 53_005, 530_021] as [Int32]) func startsNoSignInForAPolicy(number: Int32)
        async throws
    {
        #expect(try await Self.advised(Self.typed, Self.refused(number)).nextCommand == nil)
    }

    @Test func startsNoSignInForAProtectionPolicy() async throws {
        var error = TokenError(.protectionPolicyRequired, "refused")
        (error.details.oauthError, error.details.subError) = ("unauthorized_client", "protection_policy_required")
        let failure = try await Self.advised(Self.typed, error)
        #expect(failure.nextCommand == nil)
        #expect(failure.error.message == ProviderRefusal.policy.explanation)
    }

    @Test func namesTheScopesThatDoNotFit() async throws {
        let scope = try await Self.advised(["--client-id", "id-1", "--scope", "A B"], Self.refused(70_011))
        #expect(scope.error.message.hasSuffix("check the scopes: A B"), "\(scope.error.message)")
        let resource = try await Self.advised(["--client-id", "id-1", "--resource", "api://x"], Self.refused(500_011))
        #expect(resource.error.message.hasSuffix("check the scopes or the resource: api://x"))
        #expect(resource.nextCommand == "ssoctl sign-in --client-id id-1 --resource RESOURCE")
    }

    /// The tenant is a part of the authority that was typed, and not one of the public cloud.
    @Test(arguments: [
        (
            ["--authority", "https://login.microsoftonline.us/organizations"],
            "--authority https://login.microsoftonline.us/TENANT"
        ),
        (
            ["--authority", "https://login.microsoftonline.us/organizations/"],
            "--authority https://login.microsoftonline.us/TENANT"
        ),
        (["--cloud", "usgov"], "--tenant TENANT --cloud usgov"),
        (["--tenant", "contoso.com"], "--tenant TENANT"),
        (
            ["--authority", "https://contoso.b2clogin.com/tfp/contoso.com/b2c_1_in"],
            "--authority https://contoso.b2clogin.com/tfp/contoso.com/b2c_1_in"
        ),
    ])
    func keepsTheHostOfTheProvider(typed: [String], next: String) async throws {
        let failure = try await Self.advised(Self.typed + typed, Self.refused(50_194))
        #expect(failure.nextCommand == "ssoctl sign-in --client-id id-1 --scope S " + next)
    }

    @Test func namesTheAdministratorsPage() async throws {
        let failure = try await Self.advised(Self.typed + ["--tenant", "contoso.com"], Self.refused(90_094))
        #expect(
            failure.error.message.hasSuffix(
                "https://login.microsoftonline.com/contoso.com/adminconsent?client_id=id-1"))
    }

    /// Another provider has no such page.
    @Test func namesNoPageOfEntraForAnotherProvider() async throws {
        let options = ["--authority", "https://id.example.com", "--authority-kind", "openid"]
        let failure = try await Self.advised(Self.typed + options, Self.refused(90_094))
        #expect(failure.error.message == ProviderRefusal.consentOfAdministrator.explanation)
    }

    /// The account of the browser was another one, which it would take again.
    @Test func asksForTheAccountAfterThatOfAnotherUser() async throws {
        let failure = try await Self.advised(
            Self.typed + ["--login-hint", "a@b"], TokenError(.mismatchedAccount, "another user"))
        #expect(
            failure.nextCommand
                == "ssoctl sign-in --client-id id-1 --scope S --login-hint a@b --prompt select_account")
    }

    /// Entra's name for an outage may have a number that says what does not fit, for which it is of no use to wait.
    @Test(arguments: [(nil, "sleep 60 && %"), (50_105, "% --prompt select_account")] as [(Int32?, String)])
    func waitsForAProviderThatGivesNoReason(number: Int32?, next: String) async throws {
        var error = TokenError(.serverError, "server_error")
        (error.details.oauthError, error.details.stsErrorCodes) = ("server_error", number.map { [$0] } ?? [])
        let command = next.replacing("%", with: "ssoctl sign-in --client-id id-1 --scope S")
        #expect(try await Self.advised(Self.typed, error).nextCommand == command)
    }

    /// Nobody has finished the page.
    @Test(arguments: [TokenError.Code.timedOut, .sessionCanceled])
    func startsAgainASignInThatNobodyFinished(code: TokenError.Code) async throws {
        let failure = try await Self.advised(Self.typed + ["--login-hint", "a@b"], TokenError(code, "not finished"))
        #expect(failure.nextCommand == "ssoctl sign-in --client-id id-1 --scope S --login-hint a@b")
    }

    @Test func sendsTheClaimsOfTheCommandLine() async throws {
        let claims = #"{"access_token":{"acrs":{"essential":true,"value":"c1~~~???x"}}}"#
        let base64 = Data(claims.utf8).base64EncodedString()
        try #require(base64.contains("/") && base64.contains("+") && base64.hasSuffix("="))
        // The last two as in the header `WWW-Authenticate` of an API.
        for text in [claims, base64, Base64URL.encode(Data(claims.utf8))] {
            let target = try await Self.parsed(Self.typed + ["--claims", text]).target
            #expect(target.parameters(at: .common).claims == claims, "\(text)")
        }
        let none = try await Self.parsed(Self.typed).target
        #expect(none.parameters(at: .common).claims == nil)
    }

    /// The message of a failure may be absent.
    @Test(arguments: ["", " "]) func namesTheCodeOfAFailureWithoutAMessage(message: String) {
        #expect(CommandFailure(TokenError(.serverError, message)).text == "ssoctl: serverError (-51417)")
    }

    /// The user can search for the number in the provider's words.
    @Test func showsTheWordsOfTheProviderOnce() {
        let words = "AADSTS50105: The user is not assigned to a role."
        for (message, isShown) in [("not assigned", true), ("invalid_grant: \(words)", false)] {
            var error = TokenError(.invalidGrant, message)
            error.details.errorDescription = words
            let text = CommandFailure(error).text
            #expect(text.contains("\n  the identity provider says: \(words)") == isShown, "\(text)")
        }
    }

    @Test(arguments: [
        TokenError.Code.networkUnavailable, .authorityValidation, .serverInvalidResponse, .unhandledHTTPResponse,
    ])
    func checksTheAuthorityOfTheRequest(code: TokenError.Code) async throws {
        for (typed, authority) in [
            ([], "https://login.microsoftonline.com/common"),
            (["--cloud", "usgov"], "https://login.microsoftonline.us/common"),
            (
                ["--authority", "https://id.example.com", "--authority-kind", "openid"],
                "https://id.example.com --authority-kind openid"
            ),
        ] as [([String], String)] {
            let failure = try await Self.advised(Self.typed + typed, TokenError(code, "failed"))
            #expect(failure.nextCommand == "ssoctl doctor --authority \(authority)")
        }
    }

    @Test func namesNoCheckForACertificateThatIsNotTrusted() async throws {
        var error = TokenError(.networkUnavailable, "not trusted")
        error.details.networkErrorCode = -1200
        #expect(try await Self.advised(Self.typed, error).nextCommand == nil)
    }

    /// It has expired, or is another host's: another certificate authority would not help.
    @Test(arguments: [-1201, -1202] as [Int32])
    func checksTheProviderIfItsCertificateDoesNotFit(code: Int32) async throws {
        var error = TokenError(.networkUnavailable, "no trusted connection")
        error.details.networkErrorCode = code
        let failure = try await Self.advised(Self.typed, error)
        #expect(failure.nextCommand == "ssoctl doctor --authority https://login.microsoftonline.com/common")
    }

    /// The page replaces a code of a provider that has none. At a B2C authority, it is the host of the code that cannot be validated.
    @Test(
        arguments: [
            ([], "ssoctl sign-in --client-id id-1 --scope S --print-url"),
            (["--authority", "https://contoso.b2clogin.com/tfp/contoso.com/b2c_1_in"], nil),
            (["--browser"], nil), (["--print-url"], nil),
        ] as [([String], String?)])
    func printsThePageInPlaceOfACodeThatTheProviderLacks(options: [String], next: String?) async throws {
        let error = TokenError(.unsupportedFunctionality, "no code")
        #expect(try await Self.advised(Self.typed + options, error).nextCommand == next)
    }

    /// A policy and a declined sign-in have the same name.
    @Test func tellsAPolicyFromADeclinedSignIn() async throws {
        var error = TokenError(.accessDenied, "access_denied: AADSTS53003: Access has been blocked.")
        (error.details.oauthError, error.details.errorDescription) = (
            "access_denied", "AADSTS53003: Access has been blocked."
        )
        let policy = try await Self.advised(Self.typed, error)
        #expect(policy.nextCommand == nil && policy.error.message == ProviderRefusal.policy.explanation)
        error.details.errorDescription = "AADSTS65004: The user declined to consent."
        let declined = try await Self.advised(Self.typed + ["--browser"], error)
        #expect(declined.error.message == "the sign-in was declined")
        #expect(declined.nextCommand == "ssoctl sign-in --client-id id-1 --scope S --browser")
    }
}

/// The word that was probably meant.
@Suite(.bounded) struct SuggestionTests {
    private static let usernames = ["alice@contoso.com", "bob@contoso.com", "carol@fabrikam.com"]

    @Test(
        arguments: [
            ("alcie", "alice@contoso.com"), ("alcie@contoso.com", "alice@contoso.com"), ("Bbo", "bob@contoso.com"),
            ("caroll", "carol@fabrikam.com"), ("zed", nil), ("dave@contoso.com", nil), ("alcie@fabrikam.com", nil),
        ] as [(String, String?)])
    func findsAUsernameByTheNameBeforeTheDomain(typed: String, meant: String?) {
        #expect(Suggestion.nearestUsername(to: typed, among: Self.usernames) == meant)
        #expect(Suggestion.nearestUsername(to: typed, among: []) == nil)
    }
}
