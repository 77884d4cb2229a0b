internal import AgentClient
internal import Foundation
internal import TokenModel

/// What an application does once its parameters have become requests. A value, so that it can go to any thread.
struct AppSession: Sendable {
    let settings: AppSettings
    var client: AgentClient
    var presenter: SignInPresenter
    let externalAccounts: ExternalAccounts
    let serializedCache: MSALSerializedADALCacheProvider?
    /// The process's own, but for tests, which run side by side.
    var interaction = CurrentInteraction.shared

    /// - Throws: `CancellationError` when the calling task is cancelled, else an error of MSAL's.
    func acquireTokenSilent(_ request: AcquireTokenSilent) async throws -> MSALResult {
        let limit = MSALGlobalConfig.httpConfig.timeoutIntervalForRequest
        return try await finish("acquireTokenSilent", request.parameters.correlationID) {
            () async throws(TokenError) in
            try await Deadline(seconds: limit).run { () async throws(TokenError) in
                try await client.acquireTokenSilent(request)
            }
        }
    }

    /// - Throws: an error of MSAL's.
    func acquireToken(_ request: BeginInteractive) async throws -> MSALResult {
        let redirect = BrowserRedirect(request.parameters.redirectURI)
        MSALGlobalConfig.loggerConfig.log(redirect.replaced == nil ? .info : .warning, redirect.notice)
        return try await finish("acquireToken", request.parameters.correlationID) { () async throws(TokenError) in
            try await interaction.run { () async throws(TokenError) in
                try await client.signIn(request, presenter: presenter)
            }
        }
    }

    /// The app's own archive of an ADAL cache is one of this application's sharing group.
    func serveSerializedCache() { serializedCache?.serve(client, settings.sharingGroup) }

    func remove(_ account: MSALAccount) throws {
        let request = try settings.removal(of: account)
        defer { serializedCache?.announceWrite() }
        do throws(TokenError) {
            _ = try client.removeAccountAndWait(request)
        } catch {
            throw MSALError.error(for: error)
        }
        try externalAccounts.remove(account, wipeAccount: false)
    }

    /// Logs, converts, and tells external account providers.
    private func finish(
        _ name: String, _ correlationID: CorrelationID,
        _ work: () async throws(TokenError) -> TokenResult
    ) async throws -> MSALResult {
        let logger = MSALGlobalConfig.loggerConfig
        logger.log(.info, "\(name) begins, correlation ID \(correlationID)")
        await serializedCache?.tell { $0.announceAccess() }
        do throws(TokenError) {
            let token = try await work()
            if !token.isFromCache { await serializedCache?.tell { $0.announceWrite() } }
            let result = try MSALResult(token, kind: settings.authority.kind)
            logger.log(.info, "\(name) has a token, correlation ID \(correlationID)")
            externalAccounts.update(result)
            return result
        } catch {
            // The code only: the issuer's message may name people.
            logger.log(
                error.code == .cancelled ? .info : .error,
                "\(name) failed with \(error.code.name), correlation ID \(correlationID)")
            var error = error
            error.details.correlationID = error.details.correlationID ?? correlationID
            throw MSALError.asyncError(for: error, kind: settings.authority.kind)
        }
    }
}
