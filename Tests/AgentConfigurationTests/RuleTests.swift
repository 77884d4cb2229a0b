internal import AccessPolicy
internal import Foundation
internal import TestSupport
internal import Testing
internal import TokenModel

@testable internal import AgentConfiguration

/// The access rules of the configuration.
@Suite(.bounded) struct RuleTests {
    @Test func readsEveryKeyOfARule() throws {
        let configuration = try Configuration(
            decoding: """
                [[rule]]
                class = "sandboxed"
                executable = "/usr/bin/notes"
                unit = "notes.service"
                app = "flatpak:org.contoso.Notes"
                client_ids = ["app-1", "app-2"]
                sharing_groups = ["team"]
                requests = ["own", "redeem_grant"]
                effect = "allow"

                [[rule]]
                requests = ["all"]
                effect = "deny"
                """.utf8)
        #expect(configuration.rules.count == 2)
        let rule = try #require(configuration.rules.first)
        #expect(rule.peerClass == .sandboxed && rule.executable?.text == "/usr/bin/notes")
        #expect(rule.unit == "notes.service")
        #expect(rule.app == "flatpak:org.contoso.Notes" && rule.effect == .allow)
        #expect(rule.clientIDs == Set(["app-1", "app-2"].compactMap(ClientID.init)))
        #expect(rule.sharingGroups == Set([SharingGroup("team")].compactMap(\.self)))
        #expect(rule.requests == .named(["redeem_grant"], includesOwn: true))
        #expect(configuration.rules.last == PolicyRule(requests: .all, effect: .deny))
    }

    /// The system knows a process by the path without links.
    @Test func meansTheProgramToWhichALinkLeads() throws {
        let folder = try TemporaryFolder()
        let (program, link) = (folder.file("notes-2"), folder.file("notes"))
        let rule = "[[rule]]\nexecutable = \"\(link)\"\nrequests = [\"all\"]\neffect = \"deny\"\n"
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "notes-2")
        #expect(try Configuration(decoding: rule.utf8).rules.first?.executable?.text == link)
        try "".write(toFile: program, atomically: false, encoding: .utf8)
        let named = try #require(Configuration(decoding: rule.utf8).rules.first?.executable).text
        // The temporary folder is below a link itself on some systems.
        #expect(named.hasSuffix("/notes-2") && FileManager.default.fileExists(atPath: named))
    }

    @Test(arguments: [("allow", false), ("deny", false), ("confirm", true)])
    func knowsWhetherARequestMayHaveToBeConfirmed(effect: String, isConfirmed: Bool) throws {
        let rule = "[[rule]]\nrequests = [\"own\"]\neffect = \"\(effect)\"\n"
        let configuration = try Configuration(decoding: rule.utf8)
        #expect(configuration.confirmsAnything == isConfirmed)
        #expect(configuration.confirms("acquire_token_silent") == isConfirmed)
    }

    /// A completion of the shell that is answered by a question to a person would ask at each Tab.
    @Test(arguments: [("all", true), ("own", true), ("list_accounts", true), ("list_sockets", false)])
    func knowsWhichRequestsMayHaveToBeConfirmed(requests: String, isConfirmed: Bool) throws {
        let rule = "[[rule]]\nrequests = [\"\(requests)\"]\neffect = \"confirm\"\n"
        #expect(try Configuration(decoding: rule.utf8).confirms("list_accounts") == isConfirmed)
    }

    /// A rule that is not understood must not be ignored: it might be the one that refuses.
    @Test(
        arguments: [
            ("clas = \"other\"", 2, "use class"), ("class = \"flatpak\"", 2, "sandboxed, installed, other"),
            ("effect = \"ask\"", 2, "allow, deny, confirm"), ("requests = [\"export\"]", 2, "PROTOCOL.md"),
            ("requests = [\"all\", \"export\"]", 2, "PROTOCOL.md"),
            ("requests = \"all\"", 2, "[\"…\"]"), ("requests = []", 2, "at least one"),
            ("client_ids = [\" \"]", 2, "blank"),
            ("executable = \"notes\"", 2, "absolute path"),
            ("executable = \"/usr/bin/notes\\u0000\"", 2, "control character"),
            ("unit = \"notes\"", 2, "backup.service"),
            ("app = \"org.contoso.Notes\"", 2, "flatpak:org.contoso.Notes"), ("effect = \"deny\"", 1, "no requests"),
            ("requests = [\"all\"]", 1, "no effect"), ("", 1, "no requests"),
        ])
    func namesTheLineAndTheRemedy(text: String, line: Int, remedy: String) {
        let error = #expect(throws: TOMLError.self) { try Configuration(decoding: "[[rule]]\n\(text)\n".utf8) }
        #expect(error?.line == line)
        #expect(error?.reason.contains(remedy) == true, "\(error?.reason ?? "")")
    }

    @Test(arguments: [
        ("[rule]\nclass = \"other\"", "[[rule]]"), ("[[rules]]\n", "[[rule]]"), ("[[audit]]\n", "[[rule]]"),
    ])
    func refusesOtherTables(text: String, remedy: String) {
        let error = #expect(throws: TOMLError.self) { try Configuration(decoding: text.utf8) }
        #expect(error?.reason.contains(remedy) == true)
    }
}
