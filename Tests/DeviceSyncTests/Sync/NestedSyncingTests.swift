import Changesets
import Foundation
import RealmState
import SyncModel
import SyncProtocol
import TestSupport
import Testing

@testable import DeviceSync

/// Values of any type between clients: what is sent, what several clients make of it, and what is recovered.
@Suite(.hangGuard)
struct NestedSyncingTests {
    /// A client with a realm of notes.
    private final class Client {
        let device: Device
        let realm: Realm
        let session: SyncSession

        init(_ server: TestServer, _ email: String = "first@example.test") async throws {
            device = Device(server)
            let user = try await device.login(email)
            var configuration = user.configuration(partitionValue: "p")
            configuration.objectTypes = [Note.self, NotePart.self]
            realm = try await Realm(configuration: configuration, downloadBeforeOpen: .always)
            session = try #require(realm.syncSession)
        }

        func note(_ id: String = "a") throws -> Note {
            try #require(realm.object(ofType: Note.self, forPrimaryKey: id))
        }
        func change(_ body: (Note) throws -> Void) throws {
            let note = try note()
            try realm.write { try body(note) }
        }
        func suspend() async throws {
            session.suspend()
            await expectTrue(eventually { session.state == .inactive })
        }
        func sync() async throws {
            session.resume()
            try await session.wait(for: .upload)
        }
    }

    private static var start: [String: Any] {
        ["_id": "a", "content": ["steps": ["a", ["b"]], "counts": ["x": 1]] as AnyRealmValue]
    }

    /// Two clients that have the same note and are not connected.
    private func apart(_ server: TestServer) async throws -> (Client, Client) {
        let first = try await Client(server)
        try first.realm.write { first.realm.create(Note.self, value: Self.start) }
        try await first.sync()
        let second = try await Client(server, "second@example.test")
        try await first.suspend()
        try await second.suspend()
        return (first, second)
    }

    // MARK: What is sent

    private static func text(_ path: FieldPath, _ strings: InternTable) -> String {
        let steps = path.path.map { element in
            switch element {
            case .index(let index): "[\(index)]"
            case .key(let key): ".\(strings[key]?.string ?? "?")"
            }
        }
        return (strings[path.field]?.string ?? "?") + steps.joined()
    }

    private static func text(_ value: Payload) -> String {
        switch value {
        case .int(let number): "\(number)"
        case .string(let text): text.string
        case .list: "list"
        case .dictionary: "dictionary"
        case .erased: "erased"
        default: "\(value)"
        }
    }

    /// The instructions inside of objects that the server got.
    private static func sent(to server: TestServer) throws -> [String] {
        try server.messages.flatMap { message -> [String] in
            guard case .upload(let upload) = message else { return [] }
            return try upload.entries.flatMap { entry -> [String] in
                let changeset = try Changeset(parsing: entry.changeset)
                let strings = changeset.strings
                return changeset.instructions.compactMap { instruction -> String? in
                    switch instruction {
                    case .update(let update): "update \(text(update.target, strings)) \(text(update.value))"
                    case .clear(let path, let kind): "clear \(text(path, strings)) \(kind)"
                    case .arrayInsert(let path, let value, let size):
                        "insert \(text(path, strings)) \(text(value)) of \(size)"
                    case .arrayErase(let path, let size): "erase \(text(path, strings)) of \(size)"
                    case .arrayMove(let path, let to, let size): "move \(text(path, strings)) to \(to) of \(size)"
                    default: nil
                    }
                }
            }
        }
    }

    /// The rules of docs/changesets.md, "Recording": a collection is assigned, cleared, and filled; one that goes into a list is not cleared.
    @Test func collectionsAreSentAsStockClientsSendThem() async throws {
        let server = TestServer()
        try await server.start()
        let client = try await Client(server)
        try client.realm.write { client.realm.create(Note.self, value: ["_id": "a"]) }
        try await client.sync()
        server.forgetMessages()
        try client.change { note in
            note.content = ["k": [1]]
            note.content["k"]?.listValue?.append([:])
            note.content["k"]?.listValue?[0] = ["x"]
            note.content["k"]?.listValue?[1].dictionaryValue?.removeAll()
            note.content["k"]?.listValue?.remove(at: 0)
            note.content.dictionaryValue?["k"] = nil
        }
        try await client.sync()
        let sent = try Self.sent(to: server)
        expectEqual(
            sent,
            [
                "update content dictionary", "clear content dictionary", "update content.k list",
                "clear content.k list",
                "insert content.k[0] 1 of 0", "insert content.k[1] dictionary of 1", "update content.k[0] list",
                "clear content.k[0] list", "insert content.k[0][0] x of 0", "clear content.k[1] dictionary",
                "erase content.k[0] of 2", "update content.k erased",
            ])
    }

    /// Stock clients merge a move wrongly with a change inside of an element; where there can be none of them, and in lists of single values, elements are moved.
    @Test(arguments: [PeerCompatibility.stockClients, .convergent])
    func elementsThatHoldOthersAreMovedWhereAllClientsKnowHow(_ compatibility: PeerCompatibility) async throws {
        let server = TestServer(compatibility)
        try await server.start()
        let client = try await Client(server)
        try client.realm.write { client.realm.create(Note.self, value: ["_id": "a", "list": [1, [2], 3] as [Any]]) }
        try await client.sync()
        server.forgetMessages()
        try client.change { note in
            note.list.move(from: 0, to: 2)
            note.list.swapAt(0, 2)
            note.content = [1, 2]
            note.content.listValue?.move(from: 0, to: 1)
        }
        try await client.sync()
        expectEqual(Array(try client.note().list), [1, 3, [2]])
        let moves = try Self.sent(to: server).filter { $0.hasPrefix("move") }
        expectEqual(
            moves,
            (compatibility == .convergent
                ? ["move list[0] to 2 of 3", "move list[2] to 0 of 3", "move list[1] to 2 of 3"] : [])
                + ["move content[0] to 1 of 2"])
    }

    // MARK: What becomes of it

    @Test func changesInOneTreeMerge() async throws {
        let server = TestServer()
        try await server.start()
        let (first, second) = try await apart(server)
        let inner = try #require(try second.note().content["steps"]?.listValue)
        try first.change { note in
            note.content["steps"]?.listValue?.insert("first", at: 0)
            note.content["steps"]?[2]?.listValue?.append("c")
            note.content["counts"]?.dictionaryValue?["y"] = 2
        }
        try second.change { note in
            note.content["steps"]?[1]?.listValue?.append("second")
            note.content["counts"]?.dictionaryValue?["x"] = ["deep": [true]]
            note.content.dictionaryValue?["new"] = .fromArray([.fromDictionary([:])])
        }
        try await first.sync()
        try await second.sync()
        for client in [first, second] { try await client.session.wait(for: .download) }
        let expected: AnyRealmValue = [
            "steps": ["first", "a", ["b", "c", "second"]], "counts": ["x": ["deep": [true]], "y": 2], "new": [[:]],
        ]
        try expectTrue(first.note().content == expected && second.note().content == expected)
        // A live list shows what comes.
        expectTrue(inner.count == 3 && inner[2][1] == "c")
        expectEqual(
            server.reading { StateDump.digest(of: $0) }, StateDump.digest(of: first.realm.instance.core.snapshot.state))
    }

    @Test func aCollectionThatAnotherClientReplacesIsGone() async throws {
        let server = TestServer()
        try await server.start()
        let (first, second) = try await apart(server)
        let steps = try #require(try first.note().content["steps"]?.listValue)
        try second.change { $0.content.dictionaryValue?["steps"] = "none" }
        try await second.sync()
        try await first.sync()
        await expectTrue(eventually { steps.isInvalidated })
        expectTrue(steps.isEmpty && steps.first == nil && Array(steps).isEmpty)
        try expectEqual(first.note().content["steps"], "none")
    }

    @Test func aClientResetRecoversChangesInside() async throws {
        let server = TestServer()
        try await server.start()
        let (first, second) = try await apart(server)
        try first.change { note in
            note.content["counts"]?.dictionaryValue?["mine"] = [1]
            note.content["steps"]?[1]?.listValue?.append("mine")
            note.list.append(["offline": []])
        }
        try second.change { $0.content["counts"]?.dictionaryValue?["theirs"] = 2 }
        try await second.sync()
        try await second.suspend()
        server.terminate()
        try await first.sync()
        try await first.session.wait(for: .download)
        try await second.sync()
        try await second.session.wait(for: .download)
        for client in [first, second] {
            let note = try client.note()
            expectEqual(note.content["counts"], ["x": 1, "mine": [1], "theirs": 2])
            expectTrue(note.content["steps"] == ["a", ["b", "mine"]] && Array(note.list) == [["offline": []]])
        }
        expectTrue(first.device.clientErrors.isEmpty && second.device.clientErrors.isEmpty)
    }
}
