import DeviceSync
import Foundation
import LocalCluster
import Synchronization
import TestSupport
import Testing

extension SharedClusterTests {
    /// Client resets of apps with models, by a running cluster that terminates sync.
    @MainActor @Suite struct ClientResetTests {
        /// A list as it was when an observer was called, with what the call said.
        private struct Call {
            var lines: [String]
            var deletions: [Int] = []
            var insertions: [Int] = []
            var modifications: [Int] = []
        }

        /// The rules of recovery, seen by the app: the realm stays open, objects and observers go on, both blocks run once, and nobody is
        /// asked to do anything.
        @Test func recoveryKeepsWhatWasWrittenHereAndWhatTheServerHas() async throws {
            let cluster = try SharedCluster.cluster
            let app = try await cluster.newApp()
            let blocks = ResetBlocks()
            let errors = ErrorLog()
            let phone = try await Phone(of: app, blocks.recovering(writing: "written after"))
            App(id: app).syncManager.errorHandler = errors.handler
            let other = try await Phone(of: app)
            try phone.add("both sides", "deleted here", "deleted there", "untouched")
            try await phone.upload()
            try await other.download()

            try await phone.suspend()
            try phone.change("both sides") { $0.text = "ours" }
            try phone.delete("deleted here")
            try phone.change("deleted there") { $0.text = "in vain" }
            try phone.add("made offline")
            let before = phone.contents
            let object = try #require(phone["both sides"])
            let calls = Mutex<[Call]>([])
            let token = phone.chores.observe(on: .main) { change in
                switch change {
                case .initial(let chores):
                    let call = Call(lines: chores.map(\.line))
                    calls.withLock { $0.append(call) }
                case .update(let chores, let deletions, let insertions, let modifications):
                    let call = Call(
                        lines: chores.map(\.line), deletions: deletions, insertions: insertions,
                        modifications: modifications)
                    calls.withLock { $0.append(call) }
                case .error: break
                }
            }
            try await eventually("the observer is called for the first time") { calls.withLock { $0.count } == 1 }

            try other.change("both sides") {
                $0.text = "theirs"
                $0.count = 7
            }
            try other.change("deleted here") { $0.text = "alive there" }
            try other.delete("deleted there")
            try await other.upload()
            // The server's copy may have grown meanwhile, as long as nothing in it contradicts the app's models.
            let newer = try await Phone(ofNewerChoresOf: app)
            try await newer.session.wait(for: .upload)
            try await other.suspend()
            try await cluster.operate("sync", "terminate", app, "--yes", "--enable")
            try phone.session.resume()
            // A wait goes on through the reset.
            try await phone.upload()
            try other.session.resume()
            try await other.upload()
            try await other.download()
            try await phone.download()

            expectEqual(
                phone.contents,
                [
                    "both sides: ours, 7", "made offline: first, 1", "untouched: first, 1",
                    #"written after: lost ["deleted there"], 0"#,
                ])
            expectEqual(other.contents, phone.contents)
            expectTrue(blocks.runs == [1, 1] && blocks.problem == nil && errors.errors.isEmpty)
            expectEqual(blocks.contents.withLock { $0.before }, [before])
            let copy = try await Phone(
                phone.user, Realm.Configuration(fileURL: blocks.backup, objectTypes: [Chore.self]))
            expectTrue(copy.contents == before && copy.realm.syncSession == nil)
            // What the app held on to is live, and its observer was told exactly what is different.
            expectTrue(object.text == "ours" && object.count == 7)
            try await eventually("the observer has caught up") { calls.withLock { $0.last?.lines } == phone.contents }
            expectExactDifferences(calls.withLock { $0 })
            token.invalidate()
        }

        /// Each call's positions lead from the list before it to the list of it, and name nothing that is as it was.
        private func expectExactDifferences(_ calls: [Call]) {
            for (old, new) in zip(calls, calls.dropFirst()) {
                let stayed = old.lines.indices.filter { !new.deletions.contains($0) }.map { old.lines[$0] }
                let found = new.lines.indices.filter { !new.insertions.contains($0) }
                expectEqual(stayed.count, found.count)
                for (line, index) in zip(stayed, found) {
                    expectEqual((line != new.lines[index]), new.modifications.contains(index))
                }
            }
        }

        /// Three phones with one realm in an app whose clients may not recover.
        @Test func whereRecoveryIsOffEachModeDoesWhatItSays() async throws {
            let cluster = try SharedCluster.cluster
            let app = try await cluster.newApp()
            let errors = ErrorLog()
            let blocks = ["recover": ResetBlocks(), "recoverOrDiscard": ResetBlocks(), "discard": ResetBlocks()]
            let recovering = try await Phone(of: app, try #require(blocks["recover"]).recovering())
            let either = try await Phone(of: app, try #require(blocks["recoverOrDiscard"]).recoveringOrDiscarding)
            let discarding = try await Phone(of: app, try #require(blocks["discard"]).discarding)
            App(id: app).syncManager.errorHandler = errors.handler
            try recovering.add("synced")
            try await recovering.upload()
            for phone in [either, discarding] { try await phone.download() }
            for phone in [recovering, either, discarding] {
                try await phone.suspend()
                try phone.add("offline \(phone.user.id)")
            }
            try await cluster.operate("apps", "set", app, "--no-client-recovery")
            try await cluster.operate("sync", "terminate", app, "--yes", "--enable")
            for phone in [recovering, either, discarding] { try phone.session.resume() }

            try await eventually("two have discarded") {
                either.ids == ["synced"] && discarding.ids == ["synced"]
            }
            try await eventually("the third is left to the app") { !errors.errors.isEmpty }
            let error = try #require(errors.errors.first)
            expectTrue(error.code == .clientResetError && errors.errors.count == 1)
            try expectTrue(#require(error.clientResetInfo()).0.contains("recovered-realms"))
            expectEqual(recovering.ids, ["offline \(recovering.user.id)", "synced"])
            expectEqual(blocks["recover"]?.runs[1], 0)
            for (mode, phone) in ["recoverOrDiscard": either, "discard": discarding] {
                let seen = try #require(blocks[mode])
                try await eventually("the block after the reset of \(mode) has run") { seen.runs == [1, 1] }
                expectTrue(seen.problem == nil)
                expectEqual(seen.contents.withLock { $0.before.first?.count }, 2)
                try phone.add("goes on \(mode)")
                try await phone.upload()
            }
            try await either.download()
            expectEqual(either.ids, ["goes on discard", "goes on recoverOrDiscard", "synced"])
        }

        /// The mode's own handler gets the reset, the manager's does not; the backup has what was not uploaded, and the app brings it into
        /// the new copy.
        @Test func anAppHandlesAResetAndBringsItsDataBack() async throws {
            let cluster = try SharedCluster.cluster
            let app = try await cluster.newApp()
            let own = ErrorLog()
            let managers = ErrorLog()
            let user = try await Phone.user(of: app)
            App(id: app).syncManager.errorHandler = managers.handler
            let configuration = user.configuration(
                partitionValue: "home", clientResetMode: .manual(errorHandler: own.handler))
            func writeOffline() async throws {
                let phone = try await Phone(user, configuration)
                try phone.add("synced")
                try await phone.upload()
                try await phone.suspend()
                try phone.add("offline")
                try await cluster.operate("sync", "terminate", app, "--yes", "--enable")
                try phone.session.resume()
                try await eventually("the mode's handler is called") { !own.errors.isEmpty }
            }
            try await writeOffline()
            expectTrue(own.errors.count == 1 && managers.errors.isEmpty)
            let (path, token) = try #require(own.errors.first?.clientResetInfo())
            try await SyncSession.performFileAction(token)
            try await SyncSession.performFileAction(token)

            let phone = try await Phone(user, configuration, downloadBeforeOpen: .always)
            expectEqual(phone.ids, ["synced"])
            var backup = Realm.Configuration(fileURL: URL(fileURLWithPath: path), objectTypes: [Chore.self])
            backup.readOnly = true
            let old = try await Phone(user, backup)
            expectEqual(old.ids, ["offline", "synced"])
            let lost = old.chores.filter { phone[$0._id] == nil }
            try phone.realm.write { for chore in lost { _ = phone.realm.create(Chore.self, value: chore) } }
            try await phone.upload()
            let other = try await Phone(of: app)
            expectEqual(other.ids, ["offline", "synced"])
        }
    }
}

extension Phone {
    /// A new user's realm of the partition `home`, whose class has a property more than the app's model.
    fileprivate convenience init(ofNewerChoresOf app: String) async throws {
        let user = try await Phone.user(of: app)
        var configuration = user.configuration(partitionValue: "home")
        configuration.dynamicSchema = [
            ObjectSchemaDescription(
                "Chore", primaryKey: PropertyDescription("_id", .string),
                properties: [
                    PropertyDescription("text", .string), PropertyDescription("count", .int),
                    PropertyDescription("owner", .string), PropertyDescription("room", .string, isOptional: true),
                ])
        ]
        try await self.init(user, configuration)
    }
}
