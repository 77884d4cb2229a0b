internal import ADAL
internal import MSAL
internal import TestSupport
internal import Testing

/// Apps in the language mode of Swift 6, which have to compile.
@Suite(.bounded) struct Swift6AppTests {
    @MainActor @Test func compilesAModelOfTheMainActorThatUsesTheAsyncForms() async throws {
        let model = NotesModel(ApplicationDouble())
        await model.load()
        #expect(model.accessToken == "a token")
        #expect(model.failure == nil)
        #expect(try await model.token(MSALResult().account).accessToken == "a token")
    }

    @MainActor @Test func failsForAnApplicationWithoutAConfiguration() async {
        let model = NotesModel(MSALPublicClientApplication())
        await model.load()
        #expect(model.failure?.contains("configuration") == true)
    }

    @MainActor @Test func compilesAnAppOfSwift5AsItIs() throws {
        let controller = NotesViewController()
        try controller.initMSAL()
        #expect(MailService().context(controller)?.parentController === controller)
    }
}
