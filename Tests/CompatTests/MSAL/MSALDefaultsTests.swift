internal import Foundation
internal import TestSupport
internal import Testing
internal import TokenModel

@testable internal import MSALCompat

/// The default values of properties.
@Suite(.bounded) struct MSALDefaultsTests {
    @Test func hasTheDefaultsOfTheConfiguration() {
        let config = MSALPublicClientApplicationConfig(clientId: "app")
        #expect(config.tokenExpirationBuffer == 300)
        #expect(config.authority.url.absoluteString == "https://login.microsoftonline.com/common")
        #expect(config.authority is MSALAADAuthority)
        #expect(config.redirectUri == nil)
        #expect(config.knownAuthorities.isEmpty)
        #expect(!config.extendedLifetimeEnabled)
        #expect(!config.multipleCloudsSupported)
        #expect(!config.bypassRedirectURIValidation)
        #expect(config.clientApplicationCapabilities == nil)
        #expect(config.sliceConfig == nil)
        #expect(config.cacheConfig.keychainSharingGroup == "com.microsoft.adalcache")
        #expect(MSALCacheConfig.defaultKeychainSharingGroup() == "com.microsoft.adalcache")
    }

    @Test func hasTheDefaultsOfTokenParameters() {
        let silent = MSALSilentTokenParameters(scopes: ["a"], account: MSALAccount(Sample.account()))
        #expect(!silent.forceRefresh)
        #expect(silent.allowUsingLocalCachedRtWhenSsoExtFailed)
        #expect(silent.authenticationScheme?.scheme == .bearer)
        #expect(silent.authenticationScheme?.authenticationScheme == "Bearer")
        #expect(silent.authority == nil)
        #expect(silent.claimsRequest == nil)
        #expect(silent.extraQueryParameters == nil)
        #expect(silent.correlationId == nil)
        #expect(silent.completionBlockQueue == nil)
        let interactive = MSALInteractiveTokenParameters(scopes: ["a"], webviewParameters: Sample.webview)
        #expect(interactive.promptType == .promptIfNecessary)
        #expect(interactive.promptType.rawValue == 4)
        #expect(interactive.account == nil)
        #expect(interactive.loginHint == nil)
        #expect(interactive.domainHint == nil)
        #expect(interactive.extraScopesToConsent == nil)
        #expect(interactive.preferredAuthMethod == .none)
    }

    @Test func hasTheDefaultsOfOtherParameters() {
        #expect(MSALAccountEnumerationParameters().returnOnlySignedInAccounts)
        #expect(MSALAccountEnumerationParameters(identifier: "i").returnOnlySignedInAccounts)
        let signout = MSALSignoutParameters(webviewParameters: Sample.webview)
        #expect(!signout.signoutFromBrowser && !signout.wipeAccount && !signout.wipeCacheForAllAccounts)
        #expect(signout.extraQueryParameters == nil)
        #expect(Sample.webview.webviewType == .default)
        #expect(!Sample.webview.prefersEphemeralWebBrowserSession)
    }

    @Test func hasTheDefaultsOfTheProcess() throws {
        let http = MSALGlobalConfig.httpConfig
        #expect(http.retryCount == 1 && http.retryInterval == 0.5 && http.timeoutIntervalForRequest == 300)
        #expect(MSALGlobalConfig.loggerConfig.logMaskingLevel == .settingsMaskAllPII)
        #expect(MSALGlobalConfig.brokerAvailability == .auto)
        #expect(!MSALGlobalConfig.shouldRequestBoundAppRefreshTokens)
        #expect(MSALPublicClientApplication.sdkVersion == "2.13.0")
        #expect(!(try MSALPublicClientApplication(clientId: "app")).isCompatibleAADBrokerAvailable)
    }

    @Test func copiesWebviewParameters() {
        let webview = Sample.webview
        let parameters = MSALInteractiveTokenParameters(scopes: [], webviewParameters: webview)
        webview.webviewType = .wkWebView
        #expect(parameters.webviewParameters.webviewType == .default)
    }

    @Test func copiesTheConfiguration() throws {
        let config = MSALPublicClientApplicationConfig(clientId: "app")
        let application = try MSALPublicClientApplication(configuration: config)
        config.cacheConfig.keychainSharingGroup = "later"
        config.clientApplicationCapabilities = ["cp1"]
        #expect(application.configuration === config)
        #expect(application.session?.settings.sharingGroup == .standard)
        #expect(application.session?.settings.capabilities.isEmpty == true)
        let copy = try #require(config.copy() as? MSALPublicClientApplicationConfig)
        config.cacheConfig.keychainSharingGroup = "still later"
        #expect(copy.cacheConfig.keychainSharingGroup == "later")
    }

    // Mirrors: M31 MSALPublicClientApplicationConfigTests testCopyConfig_whenAllConfigSet_shouldCreateExactCopy
    @Test func copiesEachValueOfTheConfiguration() throws {
        let url = try #require(URL(string: "https://login.contoso.com/tenant"))
        let authority = try MSALAADAuthority(url: url)
        let config = MSALPublicClientApplicationConfig(
            clientId: "app", redirectUri: "http://localhost", authority: authority, nestedAuthBrokerClientId: "broker",
            nestedAuthBrokerRedirectUri: "brk-broker://app")
        config.knownAuthorities = [authority]
        config.extendedLifetimeEnabled = true
        config.clientApplicationCapabilities = ["cp1"]
        config.tokenExpirationBuffer = 60
        config.sliceConfig = MSALSliceConfig(slice: "slice", dc: "dc")
        config.cacheConfig.keychainSharingGroup = "group"
        config.multipleCloudsSupported = true
        config.bypassRedirectURIValidation = true
        let copy = try #require(config.copy() as? MSALPublicClientApplicationConfig)
        config.sliceConfig?.slice = "later"
        #expect(copy.clientId == "app" && copy.redirectUri == "http://localhost" && copy.authority == authority)
        #expect(copy.nestedAuthBrokerClientId == "broker" && copy.nestedAuthBrokerRedirectUri == "brk-broker://app")
        #expect(copy.knownAuthorities == [authority] && copy.clientApplicationCapabilities == ["cp1"])
        #expect(copy.extendedLifetimeEnabled && copy.multipleCloudsSupported && copy.bypassRedirectURIValidation)
        #expect(copy.tokenExpirationBuffer == 60)
        #expect(copy.sliceConfig?.sliceDictionary as? [String: String] == ["slice": "slice", "dc": "dc"])
        #expect(copy.cacheConfig.keychainSharingGroup == "group")
    }

    @Test func hasTheDefaultsOfTheSliceConfiguration() {
        #expect(MSALSliceConfig(slice: nil, dc: nil)?.sliceDictionary.isEmpty == true)
        #expect(
            MSALSliceConfig(slice: "testslice", dc: nil)?.sliceDictionary as? [String: String] == ["slice": "testslice"]
        )
    }

    // Mirrors: MSALAccountEnumerationParameters description, MSALDeviceInformation description
    @Test func describesParametersWithoutTheUsername() {
        #expect(
            MSALAccountEnumerationParameters(identifier: "i", username: "anna@contoso.com").description
                == "Account identifier i, username (hidden), tenant profile identifier (null), "
                + "return only signed in accounts 1")
        #expect(MSALDeviceInformation().description == "Device mode default")
    }

    @Test func namesNotificationsAsTheOriginal() {
        #expect(NSNotification.Name.MSALWebAuthDidStartLoad.rawValue == "MSALWebAuthDidStartLoadNotification")
        #expect(NSNotification.Name.MSALWebAuthDidFinishLoad.rawValue == "MSALWebAuthDidFinishLoadNotification")
        #expect(NSNotification.Name.MSALWebAuthDidFail.rawValue == "MSALWebAuthDidFailNotification")
        #expect(NSNotification.Name.MSALWebAuthDidComplete.rawValue == "MSALWebAuthDidCompleteNotification")
    }

    @Test(arguments: [(MSALHttpMethod.GET, "GET"), (.POST, "POST"), (.PATCH, "PATCH")])
    func namesEachHTTPMethod(method: MSALHttpMethod, name: String) {
        #expect(MSALParameterStringForHttpMethod(method) == name)
    }
}
