import Changesets
import Messages
import RealmState
import Rules
import Storage
import StorageSQLite
import SyncModel
import TestSupport
import Testing
import Views

@testable import Inspection

@Suite struct RealmVerifierTests {
    @Test func aRealmThatAWorkerWroteIsSound() async throws {
        let verdict = try await StoredRealm().verify()
        expectTrue(verdict.isSound, "\(verdict.findings)")
        expectTrue(verdict.replay == .equal && verdict.version == 3 && verdict.entries == 3 && verdict.objects == 3)
        expectTrue(verdict.clientFiles == 1 && verdict.digest?.count == 32)
    }

    @Test func anEmptyRealmIsSound() async throws {
        let verdict = try await StoredRealm(changesets: []).verify()
        expectTrue(verdict.replay == .equal && verdict.objects == 0)
        // The client file claims progress in a history that is not there.
        expectTrue(verdict.findings.allSatisfy { $0.check == .clientFiles })
    }

    /// What a release before took ends stock clients: it is named in objects, and in versions that somebody may still be sent.
    @Test func misfitsAreNamedWithObjectsAndVersions() async throws {
        var changeset = Changeset()
        let dog = changeset.strings.intern("Dog")
        let map = changeset.strings.intern("map")
        let bad = changeset.strings.intern("a.b")
        let path = FieldPath(table: dog, object: .int(8), field: map, path: [.key(bad)])
        changeset.instructions = [
            .addColumn(
                .init(
                    table: dog, field: map, type: .int, nullable: false, collection: .dictionary, keyType: .string)),
            .update(.init(target: path, value: .int(1), qualifier: .isDefault(false))),
        ]
        var erasure = Changeset(strings: changeset.strings)
        erasure.instructions = [.eraseObject(table: dog, object: .int(8))]
        let spoilt = StoredRealm.dogs + [HexBytes(changeset.encoded()).hex]
        let verdict = try await StoredRealm(changesets: spoilt).verify()
        let found = verdict.findings.filter { $0.check == .misfits }
        expectTrue(verdict.replay == .equal && found.count == 2)
        expectEqual(found.first?.what.hasPrefix("object Dog/8: Dictionary::insert: key must not contain '.'"), true)
        expectEqual(found.last?.what.hasPrefix("version 4, which clients may still be sent"), true)
        // The object is gone; a client that has not seen that is sent the version all the same.
        let later = try await StoredRealm(changesets: spoilt + [HexBytes(erasure.encoded()).hex])
        try await expectEqual(later.verify().findings.filter { $0.check == .misfits }.count, 1)
        // A flexible realm's clients are sent objects as they are, but for those that have not come so far.
        let flexible = try await StoredRealm(
            changesets: spoilt + [HexBytes(erasure.encoded()).hex], name: RealmName(flexible: "tasks"))
        try await expectEqual(flexible.verify().findings.filter { $0.check == .misfits }.count, 1)
        try await flexible.commit { $0.clientFiles = [flexible.clientFile { $0.seenServerVersion = 5 }] }
        try await expectTrue(flexible.verify().findings.filter { $0.check == .misfits }.isEmpty)
    }

    /// Releases before kept such instructions as they were: every value fits, and stock clients end at the instruction.
    @Test func versionsWithInstructionsThatStockClientsCannotApplyAreNamed() async throws {
        var changeset = Changeset()
        let dog = changeset.strings.intern("Dog")
        let names = changeset.strings.intern("names")
        let path = FieldPath(table: dog, object: .int(8), field: names)
        changeset.instructions = [
            .addColumn(.init(table: dog, field: names, type: .string, nullable: true, collection: .set)),
            .createObject(table: dog, object: .int(8)), .setInsert(path, value: .null), .setErase(path, value: .null),
        ]
        let verdict = try await StoredRealm(changesets: StoredRealm.dogs + [HexBytes(changeset.encoded()).hex]).verify()
        expectEqual(verdict.replay, .equal)
        let found = verdict.findings.filter { $0.check == .misfits }.map(\.what)
        expectTrue(found.count == 1 && found[0].contains("null taken out of a set"), "\(found)")
    }

    @Test func beforeImagesAreWhatObjectsWere() async throws {
        let realm = try await StoredRealm(name: RealmName(flexible: "tasks"))
        let sound = try await realm.verify()
        expectTrue(sound.isSound, "\(sound.findings)")
        let dog = try realm.dog(8)
        for (images, expected) in [
            (BeforeImages([]).encoded(), "no image of object Dog/8"),
            (
                BeforeImages([
                    .init(ObjectSlot(TableID(rawValue: dog.table), dog.key), before: StoredObject())
                ]).encoded(), "by which object Dog/8 existed before it"
            ), ([0xff], "cannot be read"),
        ] {
            var damaged = realm.history[1]
            damaged.images = images
            try await realm.commit {
                $0.historyTrims = [realm.key: 2]
                $0.history = [realm.key: [realm.history[0], damaged]]
            }
            let verdict = try await realm.verify()
            expectTrue(verdict.replay == .equal && verdict.findingCount == 1)
            expectEqual(verdict.findings.first?.check, .images)
            expectEqual(verdict.findings.first?.what.contains(expected), true, "\(verdict.findings)")
        }
    }

    /// A termination has the history made anew of the realm's state, without before images: clients begin after it.
    @Test(arguments: [true, false]) func historyMadeByTheServerNeedsNoBeforeImages(isServers: Bool) async throws {
        let realm = try await StoredRealm(name: RealmName(flexible: "tasks"))
        var made = realm.history
        for index in made.indices {
            made[index].images = []
            if isServers || index == 0 { made[index].entry.originFile = .server }
        }
        let restarted = made
        try await realm.commit {
            $0.historyTrims = [realm.key: ServerVersion(UInt64(restarted.count))]
            $0.history = [realm.key: restarted]
        }
        let findings = try await realm.verify().findings.filter { $0.check == .images }
        expectEqual(findings.isEmpty, isServers, "\(findings)")
    }

    @Test func entriesOfIndexesAreWhatObjectsHave() async throws {
        // The dogs 8 and 9 with a property `name` besides, by which they are found.
        var changeset = Changeset()
        let dog = changeset.strings.intern("Dog")
        let name = changeset.strings.intern("name")
        changeset.instructions = [
            .addColumn(.init(table: dog, field: name, type: .string, nullable: false, collection: .single)),
            .update(
                .init(
                    target: FieldPath(table: dog, object: .int(8), field: name),
                    value: .string("rex"), qualifier: .isDefault(false))),
        ]
        let realm = try await StoredRealm(
            changesets: StoredRealm.dogs + [HexBytes(changeset.encoded()).hex], name: RealmName(flexible: "tasks"))
        let schema = try Schema(decoding: realm.record.schema)
        let view = try View(
            ViewDefinition(
                version: 1, queries: #"{"Dog": "name == 'rex'"}"#, roles: try Self.everything()), schema: schema)
        var indexed = IndexedColumns()
        let isNew = indexed.add(view)
        expectTrue(isNew)
        _ = indexed.fillingNext()
        indexed.filled(through: nil)
        let column = try #require(schema.table("Dog")?.column("name"))
        let entries = try [7, 8, 9].map { key in
            let table = try #require(schema.table("Dog"))
            var object = StoredObject()
            if key == 8 { object[column.id] = .string("rex") }
            return IndexEntry(
                row: try realm.dog(Int64(key)), column: column.id.rawValue,
                value: try #require(indexed.values(of: object, in: table)[column.id]))
        }
        var record = realm.record
        record.indexed = indexed.encoded(at: record.latest.salt)
        try await realm.commit {
            $0.realms = [record]
            $0.clientFiles = [realm.clientFile { $0.upload.clientVersion = 4 }]
            $0.indexEntries = [record.id: Set(entries)]
        }
        let sound = try await realm.verify()
        expectTrue(sound.isSound, "\(sound.findings)")

        var wrong = entries[1]
        wrong.value = entries[0].value
        let nobody = IndexEntry(row: try realm.dog(99), column: column.id.rawValue, value: entries[0].value)
        for (gone, come, expected) in [
            (entries[1], wrong, "another value of object Dog/8 in name"),
            (entries[2], nobody, "has object Dog/99, which does not exist"),
            (entries[2], nil, "by name has 2 entries; expected 3"),
        ] as [(IndexEntry, IndexEntry?, String)] {
            try await realm.commit {
                $0.indexRemovals = [record.id: [gone]]
                $0.indexEntries = [record.id: Set([come].compactMap(\.self))]
            }
            let verdict = try await realm.verify()
            expectEqual(verdict.findings.map(\.check), [.indexes])
            expectEqual(verdict.findings.first?.what.contains(expected), true, "\(verdict.findings)")
            try await realm.commit {
                $0.indexRemovals = [record.id: Set([come].compactMap(\.self))]
                $0.indexEntries = [record.id: [gone]]
            }
        }
        // What an owner has written who knows of no index is made anew by the next one that does.
        record.indexed = indexed.encoded(at: 5)
        try await realm.commit {
            $0.realms = [record]
            $0.indexRemovals = [record.id: [entries[0]]]
        }
        try await expectTrue(realm.verify().isSound)
    }

    private static func everything() throws -> String {
        let role =
            #"{"name": "all", "apply_when": {}, "read": true, "write": true, "document_filters": {"read": true, "write": true}}"#
        let check = RulesCheck(Array(#"{"defaultRoles": [\#(role)]}"#.utf8))
        return try #require(check.document, "\(check.findings)").closedRoles(of: RuleUser(id: "u")).text
    }

    @Test func anObjectThatTheHistoryDoesNotMakeIsFound() async throws {
        let realm = try await StoredRealm()
        let row = try realm.dog(66)
        try await realm.commit {
            $0.objects = [realm.record.id: [row: StoredObject().encoded()]]
        }
        let verdict = try await realm.verify()
        expectTrue(verdict.replay == .different && verdict.findingCount == 1)
        expectEqual(verdict.findings.first?.what.contains("does not make it"), true)
    }

    @Test func anObjectThatTheStateHasLostIsFound() async throws {
        let realm = try await StoredRealm()
        let row = try realm.dog(8)
        try await realm.commit { $0.objectRemovals = [realm.record.id: [row]] }
        let verdict = try await realm.verify()
        expectTrue(verdict.replay == .different && verdict.findingCount == 1)
        expectEqual(verdict.findings.first?.what.contains("the state does not have it"), true)
    }

    @Test func anObjectThatCannotBeReadIsFound() async throws {
        let realm = try await StoredRealm()
        let row = try realm.dog(9)
        try await realm.commit {
            $0.objects = [realm.record.id: [row: [0xff, 0xff, 0xff]]]
        }
        let verdict = try await realm.verify()
        expectTrue(verdict.findings.contains { $0.check == .encoding } && verdict.digest == nil)
    }

    @Test func aMissingVersionIsFound() async throws {
        let realm = try await StoredRealm()
        try await realm.commit {
            $0.historyTrims = [realm.key: 2]
            $0.history = [realm.key: [realm.history[0]]]
        }
        let verdict = try await realm.verify()
        expectTrue(verdict.findings.contains { $0.check == .continuity && $0.what.contains("1 is followed by 3") })
        expectTrue(!verdict.isSound)
    }

    @Test func aVersionThatCannotBeAppliedBreaksTheReplayOnly() async throws {
        let realm = try await StoredRealm()
        var broken = realm.history[1]
        broken.entry.changeset = [0x3e]
        try await realm.commit {
            $0.historyTrims = [realm.key: 2]
            $0.history = [realm.key: [realm.history[0], broken]]
        }
        let verdict = try await realm.verify()
        expectTrue(verdict.replay == .broken && verdict.objects == 3)
        expectTrue(verdict.findings.contains { $0.check == .encoding && $0.what.contains("version 2") })
    }

    /// The history is dropped up to version 2, of which there is a base; its second changeset makes this dog.
    private func compacted(secondDog: Int = 1, seen: (inout BaseRecord) -> Void = { _ in }) async throws -> StoredRealm
    {
        let realm = try await StoredRealm()
        realm.record.historyBase = 2
        var base = BaseRecord(
            realm: realm.record.id, generation: 1, version: 2, entries: 2,
            historyBytes: realm.history[1].cumulativeBytes,
            isComplete: true, createdAt: 1)
        let changesets = [realm.history[0].entry.changeset, realm.history[secondDog].entry.changeset]
        base.bytes = UInt64(changesets[0].count + changesets[1].count)
        var entries: [HistoryRecord] = []
        for (index, changeset) in changesets.enumerated() {
            entries.append(
                HistoryRecord(
                    HistoryEntry(
                        serverVersion: ServerVersion(UInt64(index + 1)), clientVersion: 0, originFile: 1, timestamp: 5,
                        changeset: changeset),
                    salt: 77, cumulativeBytes: UInt64(changesets[...index].reduce(0) { $0 + $1.count })))
        }
        seen(&base)
        try await realm.commit {
            $0.historyTrims = [realm.key: 2]
            $0.realms = [realm.record]
            $0.bases = [base]
            $0.history = [base.historyKey: entries]
        }
        return realm
    }

    @Test func aCompactedHistoryReplaysFromItsBase() async throws {
        let verdict = try await compacted().verify()
        expectTrue(verdict.isSound, "\(verdict.findings)")
        expectTrue(verdict.replay == .equal && verdict.base == 2 && verdict.entries == 1 && verdict.objects == 3)
    }

    @Test func aBaseThatIsNotTheStateIsFound() async throws {
        let verdict = try await compacted(secondDog: 2).verify()
        expectTrue(verdict.replay == .different && verdict.findings.allSatisfy { $0.check == .replay })
        expectTrue(verdict.findings.contains { $0.what.contains("Dog/8") })
    }

    @Test func aBaseWithoutAllOfItsChangesetsIsFound() async throws {
        let verdict = try await compacted { $0.entries = 3 }.verify()
        expectEqual(verdict.findings.map(\.check), [.continuity], "\(verdict.findings)")
    }

    @Test func aCompactedHistoryWithoutABaseIsFound() async throws {
        let verdict = try await compacted { $0.isComplete = false }.verify()
        expectTrue(verdict.replay == .compacted && verdict.objects == 3)
        expectEqual(verdict.findings.map(\.check), [.continuity], "\(verdict.findings)")
    }

    @Test func clientFilesThatNeedWhatWasDroppedAreFound() async throws {
        let realm = try await compacted()
        let files = [
            realm.clientFile { $0.historyStart = 0 },
            realm.clientFile {
                $0.historyStart = 3
                $0.seenServerVersion = 0
            },
        ]
        for file in files {
            try await realm.commit { $0.clientFiles = [file] }
            let verdict = try await realm.verify()
            expectEqual(verdict.findings.map(\.check), [.clientFiles], "\(verdict.findings)")
        }
        try await realm.commit { $0.clientFiles = [realm.clientFile { $0.historyStart = 2 }] }
        try await expectTrue(realm.verify().isSound)
    }

    @Test func aCompactedHistoryIsExportedAsBaseAndWhatFollows() async throws {
        let realm = try await compacted()
        let reader = try await realm.readers.reader(for: SliceNumber(0))
        var lines: [String] = []
        let count = try await RealmExport(reader: reader, name: StoredRealm.name).history { lines.append($0) }
        expectTrue(count.versions == 3 && lines.count == 4)
        expectTrue(lines[1].contains("\"base\":2") && lines[2].contains("\"base\":2"))
        expectTrue(lines[3].contains("\"version\":3") && !lines[3].contains("base"))
    }

    @Test(arguments: ["seen", "uploaded", "generation", "salt", "locked", "ident"])
    func aClientFileThatCannotBeIsFound(_ what: String) async throws {
        let realm = try await StoredRealm()
        let file = realm.clientFile {
            switch what {
            case "seen": $0.seenServerVersion = 4
            case "uploaded": $0.upload.clientVersion = 2
            case "generation": $0.generation = 2
            case "salt": $0.file.salt = 0
            case "locked": $0.lockedServerVersion = 9
            default: $0.file.ident = 3
            }
        }
        try await realm.commit { $0.clientFiles = [file] }
        let verdict = try await realm.verify()
        expectTrue(verdict.findingCount == 1 && verdict.findings.first?.check == .clientFiles, "\(verdict.findings)")
    }

    @Test func reciprocalsOutsideTheirWindowAreFound() async throws {
        let realm = try await StoredRealm()
        let owner = ClientFileKey(realm: realm.record.id, ident: 2)
        try await realm.commit {
            $0.reciprocals = [owner: [2: []]]
        }
        try await expectTrue(realm.verify().isSound)
        let stranger = ClientFileKey(realm: realm.record.id, ident: 40)
        try await realm.commit {
            $0.reciprocals = [owner: [1: [], 8: []], stranger: [2: []]]
        }
        let verdict = try await realm.verify()
        expectEqual(verdict.findings.filter { $0.check == .reciprocals }.count, 3, "\(verdict.findings)")
    }

    @Test func aSnapshotIsNotDisturbedByItsOwner() async throws {
        let realm = try await StoredRealm()
        let reader = try await realm.readers.reader(for: SliceNumber(0))
        let row = try realm.dog(7)
        try await reader.withSnapshot { snapshot in
            try await expectEqual(snapshot.objectCount(in: realm.record.id), 3)
            try await realm.commit {
                $0.objectRemovals = [realm.record.id: [row]]
            }
            try await expectEqual(snapshot.objectCount(in: realm.record.id), 3)
        }
        try await expectEqual(reader.objectCount(in: realm.record.id), 2)
    }

    @Test func missingStoresAreNotMade() async throws {
        let realm = try await StoredRealm()
        await #expect(throws: StoreError.self) { try await realm.readers.reader(for: SliceNumber(1)) }
        try await expectEqual(realm.readers.slices(), [SliceNumber(0)])
        await #expect(throws: StoreError.self) {
            try await SQLiteStores(folder: "/nowhere/at/all").inspector().slices()
        }
    }
}
