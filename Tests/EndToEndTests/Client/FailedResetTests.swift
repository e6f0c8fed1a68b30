import Changesets
import DeviceSync
import Foundation
import GRDB
import LocalCluster
import SyncModel
import Synchronization
import TestSupport
import Testing

extension SharedClusterTests.ClientResetTests {
    /// Client resets that cannot be finished in the mode that the app has chosen.
    @MainActor @Suite struct FailedResetTests {
        private let cluster: LocalCluster
        private let errors = ErrorLog()

        init() throws { cluster = try SharedCluster.cluster }

        /// An operator has given a property another type: no mode can bring the app's models and the server together. Each leaves the reset
        /// to the app, and the file as it was.
        @Test func aSchemaThatNoLongerFitsIsLeftToTheAppInEveryMode() async throws {
            let app = try await cluster.newApp()
            let blocks = [ResetBlocks(), ResetBlocks(), ResetBlocks()]
            let modes = [blocks[0].recovering(), blocks[1].recoveringOrDiscarding, blocks[2].discarding]
            var phones: [Phone] = []
            for mode in modes { phones.append(try await Phone(of: app, mode)) }
            App(id: app).syncManager.errorHandler = errors.handler
            try phones[0].add("synced")
            try await phones[0].upload()
            for phone in phones {
                try await phone.download()
                try await phone.suspend()
                try phone.add("offline")
                try phone.change("synced") { $0.text = "ours" }
            }
            try await makeTextANumber(in: app)
            try await cluster.operate("sync", "terminate", app, "--yes", "--enable")
            for phone in phones { try phone.session.resume() }

            try await eventually("every reset is left to the app") { errors.errors.count == phones.count }
            expectTrue(errors.errors.allSatisfy { $0.code == .clientResetError })
            expectEqual(Set(errors.users), Set(phones.map(\.user.id)))
            expectEqual(Set(errors.errors.compactMap { $0.clientResetInfo()?.0 }).count, phones.count)
            for (phone, blocks) in zip(phones, blocks) {
                let session = try phone.session
                // The app is told on a queue of its own, perhaps before the session has stopped.
                try await eventually("the session rests") { session.state == .inactive }
                expectEqual(phone.contents, ["offline: first, 1", "synced: ours, 1"])
                expectTrue(blocks.runs == [1, 0] && blocks.problem == nil)
                // The realm is a local one until the app has dealt with the reset.
                try phone.add("goes on")
            }
        }

        /// A phone goes offline as soon as its reset is merged, and must reset again before the server has heard of the first. What does not come
        /// to an end is not tried in the same way for ever: the app is asked, and the file has everything.
        @Test func aResetThatTheServerNeverAcknowledgedIsNotTriedAgain() async throws {
            let app = try await cluster.newApp()
            let runs = Mutex([0, 0])
            let phone = try await Phone(
                of: app,
                .recoverUnsyncedChanges(
                    beforeReset: { _ in runs.withLock { $0[0] += 1 } },
                    afterReset: { _, after in
                        after.syncSession?.suspend()
                        runs.withLock { $0[1] += 1 }
                    }))
            App(id: app).syncManager.errorHandler = errors.handler
            try phone.add("synced")
            try await phone.upload()
            try await phone.suspend()
            try phone.add("offline")
            let session = try phone.session
            func reset(_ expected: [Int]) async throws {
                try await cluster.operate("sync", "terminate", app, "--yes", "--enable")
                session.resume()
                try await eventually("the reset has come to \(expected)") { runs.withLock { $0 } == expected }
                try await eventually("the session rests") { session.state == .inactive }
            }
            try await reset([1, 1])
            expectTrue(errors.errors.isEmpty)
            try await reset([2, 1])
            try await eventually("the app is told") { !errors.errors.isEmpty }
            let error = try #require(errors.errors.first)
            expectTrue(error.code == .clientResetError && error.message.contains("cycle") && errors.errors.count == 1)
            expectEqual(phone.ids, ["offline", "synced"])
        }

        /// A disk has spoilt what was written last and not uploaded. Where the app allows it, the reset goes on without, at once: each block
        /// runs once, and nobody is asked.
        @Test func unrecoverableWritesAreDroppedInTheSameResetIfAllowed() async throws {
            let app = try await cluster.newApp()
            let blocks = ResetBlocks()
            let phone = try await Phone(of: app, blocks.recoveringOrDiscarding)
            let other = try await Phone(of: app)
            App(id: app).syncManager.errorHandler = errors.handler
            try phone.add("synced")
            try await phone.upload()
            try await other.download()
            try await phone.suspend()
            try phone.change("synced") { $0.text = "ours" }
            try phone.add("offline")
            try spoilLastChange(of: phone)
            try other.change("synced") { $0.count = 7 }
            try await other.upload()
            try await cluster.operate("sync", "terminate", app, "--yes", "--enable")
            try phone.session.resume()

            try await eventually("the reset is over") { blocks.runs == [1, 1] }
            expectEqual(phone.contents, ["synced: first, 7"])
            expectEqual(blocks.contents.withLock { $0.before }, [["offline: first, 1", "synced: ours, 1"]])
            expectTrue(blocks.problem == nil)
            try phone.add("goes on")
            try await phone.upload()
            try await other.download()
            expectTrue(other.ids == ["goes on", "synced"] && errors.errors.isEmpty)
        }

        /// Replaces the text of chores by a number, as an operator does who takes something away: behind the back of all clients.
        private func makeTextANumber(in app: String) async throws {
            var strings = InternTable()
            let (table, field) = (strings.intern("Chore"), strings.intern("text"))
            let changesets = [
                Instruction.eraseColumn(table: table, field: field),
                .addColumn(.init(table: table, field: field, type: .int, nullable: false, collection: .single)),
            ].map { HexBytes(Changeset(strings: strings, instructions: [$0]).encoded()).hex }
            struct StoredRealm: Decodable { var version: Int }
            func version() async throws -> Int {
                let realm = try await cluster.operateJSON(
                    StoredRealm.self, "realms", "show", "--app", app, "--realm", "home")
                return realm.version
            }
            let before = try await version()
            _ = try await cluster.operate(
                ["publish", "changeset", "--app", app, "--partition", "home", "--yes"]
                    + changesets.flatMap { ["--hex", $0] })
            try await eventually("the property has changed") { try await version() >= before + changesets.count }
        }

        private func spoilLastChange(of phone: Phone) throws {
            let file = try #require(phone.realm.configuration.fileURL)
            let database = try DatabaseQueue(path: file.path)
            try database.write {
                try $0.execute(
                    sql: "UPDATE history SET changeset = X'FF' WHERE version = (SELECT max(version) FROM history)")
            }
            try database.close()
        }
    }
}
