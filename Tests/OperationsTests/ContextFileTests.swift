import Foundation
import TestSupport
import Testing

@testable import Operations

@Suite struct ContextFileTests {
    private static let staging = ClusterContext(
        name: "staging", coordinatorURL: "https://c1.example.net:9090,https://c2.example.net:9090",
        tokenVariable: "STAGING_TOKEN")

    private func inFolder(_ body: (_ path: String) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: folder) }
        try body(folder.appending(path: "sluice/contexts.json").path)
    }

    private func mode(_ path: String) throws -> Int? {
        (try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? NSNumber)?.intValue
    }

    @Test func whatIsWrittenIsReadAndForItsOwnerAlone() throws {
        try inFolder { path in
            expectEqual(try ContextFile.read(path), ContextFile())
            var file = ContextFile()
            try file.add(Self.staging)
            try file.add(ClusterContext(name: "production", config: "/etc/sluice/production.yaml"))
            file.current = "staging"
            try file.write(path)
            expectEqual(try ContextFile.read(path), file)
            expectEqual(try mode(path), 0o600)
            expectEqual(try mode((path as NSString).deletingLastPathComponent), 0o700)
            expectEqual(
                try FileManager.default.contentsOfDirectory(atPath: (path as NSString).deletingLastPathComponent),
                ["contexts.json"])
            expectEqual(file.contexts.map(\.name), ["production", "staging"])
            try file.remove("staging")
            expectTrue(file.current == nil && file.contexts.count == 1)
        }
    }

    @Test(arguments: [0o620, 0o602]) func aFileThatOthersMayWriteIsRefused(_ mode: Int) throws {
        try inFolder { path in
            var file = ContextFile()
            try file.add(Self.staging)
            try file.write(path)
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
            let error = #expect(throws: OperationsError.self) { try ContextFile.read(path) }
            expectEqual(error?.message.contains("chmod 600"), true)
        }
    }

    @Test(arguments: ["", "[]", "{", #"{"contexts":[{"name":"a b","config":"x"}]}"#])
    func whateverElseIsThereIsRefused(_ text: String) throws {
        try inFolder { path in
            try ContextFile().write(path)
            try Data(text.utf8).write(to: URL(fileURLWithPath: path))
            #expect(throws: OperationsError.self) { try ContextFile.read(path) }
        }
    }

    @Test func secretsAndNonsenseAreRefused() throws {
        func isRefused(_ context: ClusterContext) -> Bool {
            do throws(OperationsError) {
                try context.validate()
                return false
            } catch {
                return error.code == .invalidSetting && !error.message.contains("secret")
            }
        }
        expectTrue(!isRefused(Self.staging))
        expectTrue(isRefused(ClusterContext(name: "a", coordinatorURL: "https://me:secret@host")))
        expectTrue(isRefused(ClusterContext(name: "a", coordinatorURL: "amqp://host")))
        expectTrue(isRefused(ClusterContext(name: "a", coordinatorURL: "http:///path")))
        expectTrue(isRefused(ClusterContext(name: "a", coordinatorURL: "http://one,")))
        expectTrue(isRefused(ClusterContext(name: "a")))
        expectTrue(isRefused(ClusterContext(name: "none", config: "x")))
        expectTrue(isRefused(ClusterContext(name: "../a", config: "x")))
        expectTrue(isRefused(ClusterContext(name: "a", config: "x", tokenFile: "f", tokenVariable: "V")))
    }

    @Test func whoIsNamedWinsAndTheCurrentOneYields() throws {
        try inFolder { path in
            func chosen(
                _ name: String? = nil, _ environment: [String: String] = [:], isElsewhere: Bool = false
            ) throws -> String? {
                let all = environment.merging(["SLUICE_CONTEXTS": path]) { $1 }
                return try ContextFile.chosen(name, in: all, isElsewhere: isElsewhere)?.name
            }
            expectTrue(try chosen() == nil)
            var file = ContextFile()
            try file.add(Self.staging)
            try file.add(ClusterContext(name: "production", config: "/x"))
            try file.write(path)
            expectTrue(try chosen() == nil)
            file.current = "staging"
            try file.write(path)
            expectEqual(try chosen(), "staging")
            expectEqual(try chosen("production"), "production")
            expectEqual(try chosen(nil, ["SLUICE_CONTEXT": "production"]), "production")
            expectEqual(try chosen("staging", ["SLUICE_CONTEXT": "production", "SLUICE_CONFIG": "y"]), "staging")
            expectTrue(try chosen("none") == nil)
            // Whatever else says which cluster it is has been said more lately than which one is current.
            for name in ClusterContext.rivals { expectTrue(try chosen(nil, [name: "x"]) == nil) }
            expectTrue(try chosen(nil, [:], isElsewhere: true) == nil)
            expectEqual(try chosen(nil, ["SLUICE_CONFIG": ""]), "staging")
            let error = #expect(throws: OperationsError.self) { _ = try chosen("other") }
            expectEqual(error?.message, "there is no context other; there are production, staging")
            // A command that needs no context is not kept from working by a file that cannot be read.
            try Data("{".utf8).write(to: URL(fileURLWithPath: path))
            expectTrue(try chosen(nil, ["SLUICE_CONFIG": "y"]) == nil)
            #expect(throws: OperationsError.self) { _ = try chosen() }
        }
    }

    @Test func theFileIsWherePeopleKeepWhatTheyTellPrograms() {
        expectEqual(ContextFile.path(in: ["HOME": "/home/a"]), "/home/a/.config/sluice/contexts.json")
        expectEqual(ContextFile.path(in: ["HOME": "/home/a", "XDG_CONFIG_HOME": "/x"]), "/x/sluice/contexts.json")
        expectEqual(ContextFile.path(in: ["HOME": "/home/a", "SLUICE_CONTEXTS": "/y.json"]), "/y.json")
    }

    @Test func contextsAreBounded() throws {
        var file = ContextFile()
        for number in 0..<ContextFile.maxContexts { try file.add(ClusterContext(name: "c\(number)", config: "x")) }
        #expect(throws: OperationsError.self) { try file.add(Self.staging) }
        // A context that is there may be changed all the same.
        try file.add(ClusterContext(name: "c7", config: "y"))
        expectEqual(try file.context("c7").config, "y")
    }
}
