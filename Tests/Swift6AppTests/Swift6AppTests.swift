internal import ADAL
internal import MSAL
internal import TestSupport
internal import Testing

/// Apps in Swift 6's language mode: that this target compiles is most of the test.
@Suite(.bounded) struct Swift6AppTests {
    @MainActor @Test func aModelOfTheMainActorUsesTheAsyncForms() async throws {
        let model = NotesModel(ApplicationDouble())
        await model.load()
        #expect(model.accessToken == "a token")
        #expect(model.failure == nil)
        #expect(try await model.token(MSALResult().account).accessToken == "a token")
    }

    @MainActor @Test func anApplicationWithoutAConfigurationSaysSo() async {
        let model = NotesModel(MSALPublicClientApplication())
        await model.load()
        #expect(model.failure?.contains("configuration") == true)
    }

    @Test func anAppOfSwift5CompilesAsItIs() throws {
        let controller = NotesViewController()
        try controller.initMSAL()
        #expect(MailService().context(controller)?.parentController === controller)
    }
}
