import Changesets
import TestSupport
import Testing

@testable import RealmState

/// Recovery of embedded objects, single, in lists and in dictionaries, on two levels.
struct EmbeddedReplayTests {
    private typealias Bench = ReplayBench

    private static let part = Value.embedded(StoredObject())

    /// A part with a leaf and numbers everywhere, one in each place, on both sides.
    private func benchWithParts() throws -> Bench {
        try Bench { transaction in
            for place in [Bench.at("part"), Bench.at("partMap", .key("a"))] {
                try transaction.set(place, to: Self.part)
                try Self.fill(place, &transaction)
            }
            for index in 0..<2 {
                let place = Bench.at("parts", .index(index))
                try transaction.insert(Self.part, at: place)
                try Self.fill(place, &transaction)
            }
        }
    }

    private static func fill(_ place: FieldAddress, _ transaction: inout RecordingTransaction) throws {
        try transaction.set(place.appending(.key("name")), to: .string("old"))
        try transaction.set(place.appending(.key("leaf")), to: part)
        try transaction.insert(.int(1), at: place.appending(.key("numbers")).appending(.index(0)))
        try transaction.insert(part, at: place.appending(.key("leaves")).appending(.index(0)))
    }

    @Test func fieldsThatDifferEverywhereAreTheClients() throws {
        var bench = try benchWithParts()
        let places: [[PathStep]] = [[.key("name")], [.key("leaf"), .key("name")]]
        try bench.here { transaction in
            for path in places {
                try transaction.set(FieldAddress(Bench.owner, "part", path), to: .string("client"))
                try transaction.set(FieldAddress(Bench.owner, "partMap", [.key("a")] + path), to: .string("client"))
            }
        }
        try bench.there { transaction in
            for path in places {
                try transaction.set(FieldAddress(Bench.owner, "part", path), to: .string("server"))
                try transaction.set(FieldAddress(Bench.owner, "partMap", [.key("a")] + path), to: .string("server"))
            }
        }
        _ = try bench.recover()
        expectEqual(bench.value("part", .key("name")), .string("client"))
        expectEqual(bench.value("part", .key("leaf"), .key("name")), .string("client"))
        expectEqual(bench.value("partMap", .key("a"), .key("leaf"), .key("name")), .string("client"))
    }

    @Test func nullHereStaysNull() throws {
        var bench = try benchWithParts()
        try bench.here {
            try $0.set(Bench.at("part"), to: .null)
            try $0.set(Bench.at("partMap", .key("a")), to: .null)
        }
        try bench.there { try $0.set(Bench.at("part", .key("name")), to: .string("server")) }
        _ = try bench.recover()
        expectEqual(bench.value("part"), .null)
        expectEqual(bench.value("partMap"), .dictionary(["a": .null]))
    }

    @Test func bothAddUnderOneKeyAndTheFieldsMerge() throws {
        var bench = try Bench()
        for key in ["k", "", "\0"] as [ByteString] {
            try bench.here {
                try $0.set(Bench.at("partMap", .key(key)), to: .embedded(StoredObject()))
                try $0.set(Bench.at("partMap", .key(key), .key("name")), to: .string("client"))
            }
            try bench.there {
                try $0.set(Bench.at("partMap", .key(key)), to: .embedded(StoredObject()))
                try $0.set(Bench.at("partMap", .key(key), .key("name")), to: .string("server"))
                try $0.set(Bench.at("partMap", .key(key), .key("size")), to: .int(3))
            }
        }
        _ = try bench.recover()
        for key in ["k", "", "\0"] as [ByteString] {
            expectEqual(bench.value("partMap", .key(key), .key("name")), .string("client"))
            expectEqual(bench.value("partMap", .key(key), .key("size")), .int(3))
        }
    }

    @Test func editsBelowWhatTheServerNulledAreDropped() throws {
        var bench = try benchWithParts()
        try bench.here {
            try $0.set(Bench.at("part", .key("name")), to: .string("x"))
            try $0.set(Bench.at("partMap", .key("a"), .key("leaf"), .key("name")), to: .string("x"))
            try $0.set(Bench.at("partMap", .key("a"), .key("name")), to: .string("kept"))
        }
        try bench.there {
            try $0.set(Bench.at("part"), to: .null)
            try $0.set(Bench.at("partMap", .key("a"), .key("leaf")), to: .null)
        }
        let statistics = try bench.recover()
        expectEqual(statistics.droppedPath, 2)
        expectEqual(bench.value("part"), .null)
        expectEqual(bench.value("partMap", .key("a"), .key("leaf")), .null)
        expectEqual(bench.value("partMap", .key("a"), .key("name")), .string("kept"))
    }

    @Test func editsThroughAnErasedEntryAreDropped() throws {
        var bench = try benchWithParts()
        try bench.here { try $0.set(Bench.at("partMap", .key("a"), .key("leaf"), .key("name")), to: .string("x")) }
        try bench.there { try $0.removeKey(Bench.at("partMap", .key("a"))) }
        try expectEqual(bench.recover().droppedPath, 1)
        expectEqual(bench.value("partMap"), .dictionary([:]))
    }

    @Test func anEditThroughAnElementThatTheServerRemovedCopiesTheList() throws {
        var bench = try benchWithParts()
        try bench.here { try $0.set(Bench.at("parts", .index(1), .key("name")), to: .string("client")) }
        try bench.there { try $0.remove(at: Bench.at("parts", .index(0))) }
        try expectEqual(bench.recover().listsCopied, 1)
        expectEqual(bench.value("parts", .index(0), .key("name")), .string("old"))
        expectEqual(bench.value("parts", .index(1), .key("name")), .string("client"))
    }

    @Test func listsOfValuesInsideAreCopiedWhereTheyCannotBeFollowed() throws {
        var bench = try benchWithParts()
        let numbers: [PathStep] = [.key("numbers")]
        try bench.here {
            // G13: an update; G14: an erasure.
            try $0.set(FieldAddress(Bench.owner, "part", numbers + [.index(0)]), to: .int(7))
            try $0.remove(at: FieldAddress(Bench.owner, "partMap", [.key("a")] + numbers + [.index(0)]))
        }
        try bench.there {
            try $0.remove(at: FieldAddress(Bench.owner, "part", numbers + [.index(0)]))
            try $0.clear(FieldAddress(Bench.owner, "partMap", [.key("a")] + numbers))
            try $0.insert(.int(9), at: FieldAddress(Bench.owner, "partMap", [.key("a")] + numbers + [.index(0)]))
        }
        try expectEqual(bench.recover().listsCopied, 2)
        expectEqual(bench.value("part", .key("numbers")), .list([.int(7)]))
        expectEqual(bench.value("partMap", .key("a"), .key("numbers")), .list([]))
    }

    @Test func insertingAtBothEndsNeedsNoCopy() throws {
        var bench = try benchWithParts()
        try bench.here {
            try $0.insert(Self.part, at: Bench.at("parts", .index(0)))
            try $0.set(Bench.at("parts", .index(0), .key("name")), to: .string("first"))
            try $0.insert(Self.part, at: Bench.at("parts", .index(3)))
            try $0.set(Bench.at("parts", .index(3), .key("name")), to: .string("last"))
        }
        try bench.there { try $0.remove(at: Bench.at("parts", .index(1))) }
        try expectEqual(bench.recover().listsCopied, 0)
        guard case .list(let parts)? = bench.value("parts") else {
            Issue.record("no list")
            return
        }
        expectEqual(parts.count, 3)
        expectEqual(bench.value("parts", .index(0), .key("name")), .string("first"))
        expectEqual(bench.value("parts", .index(2), .key("name")), .string("last"))
    }

    @Test func aClearedListHasOnlyWhatTheClientAddedAfterwards() throws {
        var bench = try benchWithParts()
        try bench.here {
            try $0.clear(Bench.at("parts"))
            try $0.insert(Self.part, at: Bench.at("parts", .index(0)))
            try $0.set(Bench.at("parts", .index(0), .key("name")), to: .string("mine"))
        }
        try bench.there { try $0.insert(Self.part, at: Bench.at("parts", .index(0))) }
        try expectEqual(bench.recover().listsCopied, 0)
        guard case .list(let parts)? = bench.value("parts") else {
            Issue.record("no list")
            return
        }
        expectEqual(parts.count, 1)
        expectEqual(bench.value("parts", .index(0), .key("name")), .string("mine"))
    }

    @Test func anErasedEntryStaysErasedThoughTheServerChangedIt() throws {
        var bench = try benchWithParts()
        try bench.here { try $0.removeKey(Bench.at("partMap", .key("a"))) }
        try bench.there { try $0.set(Bench.at("partMap", .key("a"), .key("name")), to: .string("server")) }
        _ = try bench.recover()
        expectEqual(bench.value("partMap"), .dictionary([:]))
    }

    @Test func ownElementsOfTwoListLevelsAreRecovered() throws {
        var bench = try benchWithParts()
        try bench.here {
            try $0.insert(Self.part, at: Bench.at("parts", .index(2)))
            try $0.insert(Self.part, at: Bench.at("parts", .index(2), .key("leaves"), .index(0)))
            try $0.set(
                Bench.at("parts", .index(2), .key("leaves"), .index(0), .key("name")), to: .string("deep"))
            try $0.insert(
                .int(5), at: Bench.at("parts", .index(2), .key("leaves"), .index(0), .key("numbers"), .index(0)))
        }
        try bench.there { try $0.insert(Self.part, at: Bench.at("parts", .index(0))) }
        try expectEqual(bench.recover().listsCopied, 0)
        expectEqual(bench.value("parts", .index(2), .key("leaves"), .index(0), .key("name")), .string("deep"))
        expectEqual(bench.value("parts", .index(2), .key("leaves"), .index(0), .key("numbers")), .list([.int(5)]))
    }

    @Test func anInnerListOfAnOldElementCopiesTheOuterList() throws {
        var bench = try benchWithParts()
        try bench.here {
            try $0.insert(Self.part, at: Bench.at("parts", .index(0), .key("leaves"), .index(1)))
            try $0.set(Bench.at("parts", .index(1), .key("leaves"), .index(0), .key("count")), to: .int(4))
        }
        try bench.there { try $0.insert(Self.part, at: Bench.at("parts", .index(2))) }
        let statistics = try bench.recover()
        expectEqual(statistics.listsCopied, 1)
        guard case .list(let parts)? = bench.value("parts") else {
            Issue.record("no list")
            return
        }
        expectEqual(parts.count, 2)
        expectEqual(bench.value("parts", .index(1), .key("leaves"), .index(0), .key("count")), .int(4))
    }

    @Test func countersBelowADictionaryEntryAddUp() throws {
        var bench = try benchWithParts()
        let counter = Bench.at("partMap", .key("a"), .key("count"))
        try bench.here { try $0.increment(counter, by: 2) }
        try bench.there { try $0.increment(counter, by: 3) }
        _ = try bench.recover()
        expectEqual(bench.local.value(at: counter), .int(5))
    }

    @Test func countersBelowWhatIsGoneAreDropped() throws {
        var bench = try benchWithParts()
        try bench.here {
            try $0.increment(Bench.at("partMap", .key("a"), .key("count")), by: 2)
            try $0.increment(Bench.at("part", .key("leaf"), .key("count")), by: 2)
        }
        try bench.there {
            try $0.removeKey(Bench.at("partMap", .key("a")))
            try $0.set(Bench.at("part", .key("leaf")), to: .null)
        }
        try expectEqual(bench.recover().droppedPath, 2)
    }

    @Test func nothingBelowADeletedOwnerIsRecovered() throws {
        var bench = try benchWithParts()
        try bench.here {
            try $0.set(Bench.at("part", .key("leaf"), .key("name")), to: .string("x"))
            try $0.insert(Self.part, at: Bench.at("parts", .index(0)))
            try $0.removeKey(Bench.at("partMap", .key("a")))
        }
        try bench.there { try $0.deleteObject(Bench.owner) }
        let statistics = try bench.recover()
        expectEqual(statistics.droppedMissingObject, 3)
        expectTrue(!bench.local.contains(Bench.owner))
    }

    @Test func embeddedClassesOfEitherSideAreCreated() throws {
        var bench = try Bench()
        try bench.here {
            try $0.createEmbeddedTable("Mine")
            try $0.addColumn("Mine", "x", ElementType(type: .int, nullable: true))
            try $0.addColumn("Owner", "mine", ElementType(type: .link, nullable: true, target: "Mine"))
            try $0.set(Bench.at("mine"), to: .embedded(StoredObject()))
            try $0.set(Bench.at("mine", .key("x")), to: .int(1))
        }
        try bench.there {
            try $0.createEmbeddedTable("Theirs")
            try $0.addColumn("Theirs", "y", ElementType(type: .int, nullable: true))
            try $0.addColumn("Owner", "theirs", ElementType(type: .link, nullable: true, target: "Theirs"))
            try $0.set(Bench.at("theirs"), to: .embedded(StoredObject()))
            try $0.set(Bench.at("theirs", .key("y")), to: .int(2))
        }
        let error = #expect(throws: TransferFailure.self) { try bench.discard() }
        expectEqual(error?.description.contains("Owner.mine"), true)
        _ = try bench.recover()
        expectEqual(bench.value("mine", .key("x")), .int(1))
        expectEqual(bench.value("theirs", .key("y")), .int(2))
    }
}
