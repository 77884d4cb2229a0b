internal import AgentSocket
internal import TestSupport
internal import Testing

@testable internal import TokenAgent

/// What the kernel's files say about a process, also if the process has chosen the names in them.
@Suite(.bounded) struct ProcessDescriptionTests {
    @Test(
        arguments: [
            ("0::/user.slice/user-1000.slice/user@1000.service/app.slice/backup.service\n", "backup.service"),
            ("0::/user.slice/user-1000.slice/user@1000.service/app.slice/app-x-1.scope/payload", "app-x-1.scope"),
            ("0::/user.slice/user-1000.slice/user@1000.service/app.slice/a.service/b.service", "a.service"),
            ("0::/user.slice/user-1000.slice/session-3.scope", "session-3.scope"),
            ("0::/user.slice/user-1000.slice/user@1000.service/init.scope", "init.scope"),
            ("0::/user.slice/user-1000.slice/user@1000.service", "user@1000.service"),
            ("0::/system.slice/cron.service", "cron.service"), ("0::/init.scope", "init.scope"),
            ("9:name=systemd:/system.slice/cron.service\n0::/\n", "cron.service"), ("0::/", nil), ("", nil),
            ("0::/user.slice/evil", nil), ("garbage\n0", nil), ("4:memory:/a.service", nil), ("0::/a.slice", nil),
            ("1:cpu:/x:y.service\n0::/docker/9f", nil),
        ] as [(String, String?)])
    func namesTheUnitOfAControlGroup(text: String, unit: String?) {
        #expect(ControlGroup.unit(text) == unit)
    }

    @Test(
        arguments: [
            ("[Application]\nname=org.contoso.Notes\nruntime=x\n", "flatpak:org.contoso.Notes"),
            ("[Instance]\nname=other\n[Application]\nname=org.a\n", "flatpak:org.a"),
            ("[Instance]\nname=other\n", nil), ("[Application]\nname=\n", nil), ("[Application]\nname=a b\n", nil),
            ("[Application]\nname=a\u{1B}[2J\n", nil), ("[Application]\nname=ü\n", nil), ("name=org.a\n", nil),
            ("", nil), ("[Application]\nname=" + String(repeating: "a", count: 256), nil),
        ] as [(String, String?)])
    func namesTheFlatpakApp(text: String, app: String?) {
        #expect(SandboxApp.flatpak(text) == app)
    }

    @Test(
        arguments: [
            ("snap.notes.notes (enforce)\n", "snap:notes"), ("snap.notes.daemon (enforce)", "snap:notes"),
            ("snap.notes.notes (complain)", nil), ("unconfined\n", nil), ("snap.notes (enforce)", nil),
            ("snap..x (enforce)", nil), (":ns://snap.notes.notes (enforce)", nil), ("firefox (enforce)", nil),
            ("", nil),
            ("snap.notes.notes//child (enforce)", "snap:notes"),
        ] as [(String, String?)])
    func namesTheSnapOfAnEnforcedProfile(label: String, app: String?) {
        #expect(SandboxApp.snap(label) == app)
    }

    @Test func readsTheStartBehindAnyProgramName() {
        let fields = "S 1 500 500 34816 500 4194304" + String(repeating: " 7", count: 11) + " 0 9876 1"
        for name in ["bash", "a) S 9 9 9 9 9", "((", "x y"] {
            #expect(ProcessStart.time("123 (\(name)) \(fields)") == 9876)
        }
        for damaged in ["", "1 (x", "1 (x) S", "1 (x) S a b c d e f g h i j k l m n o p q r s t u v"] {
            #expect(ProcessStart.time(damaged) == nil)
        }
    }

    @Test func readsTheDepthOfNamespacesAndPrivileges() {
        let nested = ProcessStatus(
            "Name:\tNSpid:\\n\nNSpid:\t31267\t5\nCapBnd:\t00000000a80425fb\nNoNewPrivs:\t1\nSeccomp:\t2\n")
        #expect(nested.namespaceDepth == 2 && nested.hasNoNewPrivileges && nested.capabilityBounds == 0xA804_25FB)
        let plain = ProcessStatus("NSpid:\t31267\nNoNewPrivs:\t0\n")
        #expect(plain.namespaceDepth == 1 && !plain.hasNoNewPrivileges && plain.capabilityBounds == 0)
    }
}
