import Foundation
import LocalCluster
import TestSupport
import Testing

extension SharedClusterTests {
    /// The programs of docs/examples do what their READMEs say, as processes of their own against a cluster.
    @Suite struct ExampleTests {
        @Test(.ownGateway) func twoPeopleShareAListOnlineAndOffline() async throws {
            let cluster = try SharedCluster.cluster
            let app = try await newApp()
            let ann = try await tasks("ann", app, "--password", "correct horse", "--register", "--verbose")
            var ben = try await tasks("ben", app, "--password", "battery staple", "--register")
            try await ann.expect("home: 0 tasks")
            try await ben.expect("home: 0 tasks")

            // Each sees what the other does.
            try ann.type("add buy milk")
            try await ben.expect("+ [ ] buy milk (by ann@example.net)")
            try ben.type("done BUY")
            try await ann.expect("~ [x] buy milk")

            // One goes offline, and both go on.
            try ben.type("offline")
            try await ben.expect("-- offline")
            try ben.type("add pay rent")
            try await ben.expect("+ [ ] pay rent (by ben@example.net)")
            try ann.type("undo buy")
            try ann.type("wait")
            try await ann.expect("-- in step with the server")
            try ben.type("list")
            try await ben.expect("[x] buy milk")

            // The next launch needs neither a password nor a server.
            try ben.type("quit")
            try await ben.close()
            try await TestGateway.mine.kill()
            ben = try await tasks("ben", app)
            try await ben.expect("home: 2 tasks")
            try ben.type("remove nothing like it")
            try await ben.expect("no task begins with")
            try await TestGateway.mine.start()
            for person in [ann, ben] { try person.type("online") }
            try await ann.expect("+ [ ] pay rent")
            try await ben.expect("~ [ ] buy milk")

            // Another list is another subscription.
            try ann.type("open errands")
            try await ann.expect("errands: 0 tasks")
            try ann.type("add post a letter")
            try ann.type("wait")
            try await ann.expect("-- in step")
            try ben.type("list")
            try await ben.expect("home: 2 tasks")
            try ben.type("open errands")
            try await ben.expect("errands: 1 tasks")
            try ben.type("remove post")
            try await ann.expect("- [ ] post a letter")
            for person in [ann, ben] { try await person.close() }
            expectTrue(!ann.lines.contains { $0.hasPrefix("!") } && !ben.lines.contains { $0.hasPrefix("!") })

            // Tokens and passwords are nobody else's business: not in the log, whatever its level, and not in a file that others can read.
            let log = cluster.log(of: "ann")
            expectTrue(log.contains("[DeviceSync]") && !log.contains("eyJ") && !log.contains("correct horse"))
            let metadata = "\(cluster.folder)/ann/mongodb-realm/\(app)/server-utility/metadata/sync_metadata.realm"
            let attributes = try FileManager.default.attributesOfItem(atPath: metadata)
            expectTrue((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
        }

        @Test func everyTaskIsAssignedOnceWhateverHappensToTheAssigners() async throws {
            let app = try await newApp()
            let ann = try await tasks("ann-2", app, "--password", "correct horse", "--register")
            try await ann.expect("home: 0 tasks")
            var first = try await assigner("first", app, "--password", "correct horse", "--register")
            try await first.expect("assigning")
            try ann.type("add number 0")
            try await first.expect("number 0: ")
            try await ann.expect("~ [ ] number 0 (by ann-2@example.net, for ")

            // Killed in the middle of its work, and started again on the same files, beside a second one.
            for number in 1...30 { try ann.type("add number \(number)") }
            try await first.expect("number 1: ")
            await first.kill()
            for number in 31...60 { try ann.type("add number \(number)") }
            first = try await assigner("first", app)
            let second = try await assigner("second", app, "--password", "correct horse", "--register")
            try await second.expect("assigning")
            for number in 61...90 { try ann.type("add number \(number)") }
            var seen: [String: Substring] = [:]
            try await eventually("every task has an assignee") {
                seen = [:]
                for line in ann.lines {
                    guard let parts = line.firstMatch(of: /\[ \] (number \d+) \(by [^,]+, for (\w+)\)/) else {
                        continue
                    }
                    // The person who was told first stays the assignee.
                    expectTrue(seen.updateValue(parts.2, forKey: String(parts.1)) ?? parts.2 == parts.2)
                }
                return seen.count == 91
            }
            expectEqual(Set(seen.values), ["ann", "ben", "cem"])
            for program in [first, second] {
                try await program.terminate()
                expectEqual(program.lines.last, "stopped", "\(program.lines.suffix(60).joined(separator: "\n"))")
                // A program answers each task once, also over its death.
                let answers = program.lines.compactMap { $0.firstMatch(of: #/^(number \d+): /#)?.1 }
                expectEqual(Set(answers).count, answers.count)
            }
            try await ann.close()
        }

        /// What a reader of the examples would copy names a package that is there, and targets as they are.
        @Test(arguments: ["tasks", "assigner"])
        func eachExampleHasAPackageOfItsOwn(name: String) async throws {
            let described = try await Program.run(
                "/usr/bin/env",
                ["swift", "package", "--package-path", Self.folder.appending(path: name).path, "dump-package"],
                called: "swift package dump-package")
            expectTrue(described.contains("DeviceSync") && described.contains("\"\(name)\""))
        }

        private static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent().appending(path: "docs/examples")

        /// An app made as the README says.
        private func newApp() async throws -> String {
            let cluster = try SharedCluster.cluster
            let app = try await cluster.newApp("--sync-mode", "flexible")
            try await cluster.operate("rules", "set", app, Self.folder.appending(path: "tasks/rules.json").path)
            return app
        }

        private func tasks(_ name: String, _ app: String, _ more: String...) async throws -> ExampleProgram {
            let cluster = try SharedCluster.cluster
            return try await ExampleProgram(
                "tasks", as: name,
                [
                    "--server", try TestGateway.url, "--app", app, "--user", "\(name)@example.net", "--folder",
                    "\(cluster.folder)/\(name)",
                ] + more, in: cluster)
        }

        private func assigner(_ name: String, _ app: String, _ more: String...) async throws -> ExampleProgram {
            let cluster = try SharedCluster.cluster
            return try await ExampleProgram(
                "assigner", as: name,
                [
                    "--server", try TestGateway.url, "--app", app, "--user", "\(name)@example.net", "--folder",
                    "\(cluster.folder)/\(name)", "--member", "cem", "--member", "ann", "--member", "ben",
                ] + more, in: cluster)
        }
    }
}
