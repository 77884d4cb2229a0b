internal import Foundation
internal import TestSupport
internal import Testing

/// The software bill of materials of a release, `.ci/sbom`.
@Suite(.bounded) struct BillOfMaterialsTests {
    private struct Document: Decodable {
        struct Package: Decodable {
            let SPDXID: String
            let name: String
            let versionInfo: String
            let licenseDeclared: String
        }

        struct Relationship: Decodable {
            let spdxElementId: String
            let relationshipType: String
            let relatedSpdxElement: String
        }

        let spdxVersion: String
        let packages: [Package]
        let relationships: [Relationship]

        /// The names of the packages that one of the release has a relationship to.
        func names(_ type: String, of package: String = "sso-agent") throws -> [String] {
            try relationships.filter { $0.relationshipType == type && $0.spdxElementId == "SPDXRef-\(package)" }.map {
                relationship in
                try #require(packages.first { $0.SPDXID == relationship.relatedSpdxElement }).name
            }
        }
    }

    private static var canRun: Bool { ["python3", "swift", "cc", "git"].allSatisfy(Executable.isInstalled) }

    private func document() async throws -> Document {
        var environment = ProcessInfo.processInfo.environment
        // Of the build of this test, which may have a folder of its own.
        environment["CHECKOUTS"] = Executable.folder.path + "/../../checkouts"
        let answer = try await TestProcess(PackageFolder.path(".ci/sbom"), [], environment: environment).finish()
        try #require(answer.status == 0, "\(answer.errors)")
        return try JSONDecoder().decode(Document.self, from: Data(answer.output.utf8))
    }

    /// Whoever looks for a vulnerable library in a release has to find it here, however it is linked.
    @Test(.enabled(if: canRun, "there is no Python, toolchain or Git"))
    func listsEverythingThatIsLinkedIntoARelease() async throws {
        let document = try await document()
        #expect(document.spdxVersion == "SPDX-2.3")
        let versions = try String(contentsOfFile: PackageFolder.path("packaging/versions.json"), encoding: .utf8)
        let packages = try document.names("DEPENDS_ON")
        #expect(!packages.isEmpty && packages.allSatisfy { versions.contains("\"\($0)\"") })
        #expect(try document.names("DYNAMIC_LINK") == ["sqlite", "protobuf-c"])
        #expect(try document.names("DESCRIBES", of: "DOCUMENT") == ["sso-agent", "entra-emulator"])
        #expect(try document.names("DEPENDS_ON", of: "entra-emulator") == packages.filter { $0 != "swift-log" })
        #expect(try document.names("DYNAMIC_LINK", of: "entra-emulator") == ["openssl"])
        let contained = document.relationships.filter { $0.relationshipType == "CONTAINS" }
        #expect(
            contained.map { "\($0.spdxElementId): \($0.relatedSpdxElement)" } == [
                "SPDXRef-swift-crypto: SPDXRef-boringssl", "SPDXRef-swift-crypto: SPDXRef-xkcp",
                "SPDXRef-swift-nio: SPDXRef-llhttp",
            ])
        let licenses = Dictionary(document.packages.map { ($0.name, $0.licenseDeclared) }) { $1 }
        #expect(licenses["swift-nio"] == "Apache-2.0")
        #expect(licenses["swift-argument-parser"] == "Apache-2.0 WITH Swift-exception")
        #if os(Linux)
            let runtime = ["swift", "swift-foundation", "swift-corelibs-libdispatch"]
            #expect(try document.names("STATIC_LINK") == runtime + ["libgcc", "libstdc++"])
            let emulators = runtime + ["swift-corelibs-foundation", "icu", "libgcc", "libstdc++"]
            #expect(try document.names("STATIC_LINK", of: "entra-emulator") == emulators)
            let icu = try #require(document.packages.first { $0.name == "icu" })
            #expect(icu.versionInfo.first?.isNumber == true && icu.licenseDeclared == "Unicode-3.0")
            // These are the libraries of the toolchain that is used, not those of a package.
            let compiler = try await TestProcess("/usr/bin/env", ["swift", "--version"]).finish().output
            for package in document.packages where runtime.contains(package.name) {
                #expect(compiler.contains("Swift version \(package.versionInfo) "))
                #expect(package.licenseDeclared == "Apache-2.0 WITH Swift-exception")
            }
            for library in document.packages where ["libgcc", "libstdc++"].contains(library.name) {
                #expect(library.versionInfo.first?.isNumber == true)
                #expect(library.licenseDeclared == "GPL-3.0-or-later WITH GCC-exception-3.1")
            }
        #endif
    }

    /// An archive of a release's sources has no repository, whose last commit has the time of the document.
    @Test(.enabled(if: canRun, "there is no Python, toolchain or Git"))
    func isMadeFromAnArchiveOfTheSources() async throws {
        let folder = try TemporaryFolder()
        for name in [".ci", "packaging"] {
            try FileManager.default.createDirectory(
                atPath: folder.file(name), withIntermediateDirectories: false)
        }
        for name in ["packaging/versions.json", "CHANGELOG.md"] {
            try FileManager.default.copyItem(atPath: PackageFolder.path(name), toPath: folder.file(name))
        }
        _ = try await folder.copyProgram("packaging/version", from: PackageFolder.path("packaging/version"))
        let program = try await folder.copyProgram(".ci/sbom", from: PackageFolder.path(".ci/sbom"))
        try FileManager.default.createSymbolicLink(
            atPath: folder.file("Sources"), withDestinationPath: PackageFolder.path("Sources"))
        var environment = ProcessInfo.processInfo.environment
        environment["CHECKOUTS"] = Executable.folder.path + "/../../checkouts"
        environment["GIT_DIR"] = folder.file("none")
        environment["SOURCE_DATE_EPOCH"] = nil
        let answer = try await TestProcess(program, [], environment: environment).finish()
        #expect(answer.status == 0, "\(answer.errors)")
        #expect(answer.output.contains("\"created\": \"20"))
    }

    /// The list is that of the flags with which a release is linked.
    @Test func describesHowAReleaseIsLinked() throws {
        let script = try String(contentsOfFile: PackageFolder.path("packaging/build"), encoding: .utf8)
        #expect(script.contains("--static-swift-stdlib"))
        #expect(script.contains("cc -print-file-name=libstdc++.a"))
        #expect(script.contains("-static-libgcc"))
    }

    /// Parts of Foundation, and ICU in the emulator, are linked into a release, and are of others, who ask for their text in each copy.
    @Test func passesOnTheLicensesOfWhatTheToolchainLinks() async throws {
        let checkouts = Executable.folder.path + "/../../checkouts"
        let answer = try await TestProcess(PackageFolder.path("packaging/notices"), [checkouts]).finish()
        #expect(answer.status == 0, "\(answer.errors)")
        for author in [
            "Copyright (c) 2004 Apple Computer, Inc.", "Alfred Klomp,  Daniel Lemire",
            "Copyright (c) 2016 Nick Galbreath", "Copyright © 2016-2024 Unicode, Inc.",
            "Copyright 2006-2011, the V8 project authors.",
        ] { #expect(answer.output.contains(author), "\(author)") }
    }

    @Test(.enabled(if: canRun, "there is no Python, toolchain or Git")) func namesEachPackageOnce() async throws {
        let document = try await document()
        let identifiers = document.packages.map(\.SPDXID)
        #expect(Set(identifiers).count == identifiers.count)
        let known = Set(identifiers + ["SPDXRef-DOCUMENT"])
        for relationship in document.relationships {
            #expect(known.contains(relationship.spdxElementId) && known.contains(relationship.relatedSpdxElement))
        }
    }
}
