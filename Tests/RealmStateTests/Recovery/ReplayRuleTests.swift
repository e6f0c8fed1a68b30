import Changesets
import TestSupport
import Testing

@testable import RealmState

/// Replay and transfer, rule by rule (docs/resets.md, "Replay rules" and "State transfer").
struct ReplayRuleTests {
    private typealias Bench = ReplayBench

    @Test func ruleOneAnObjectMadeHereIsKeptAndFieldsMerge() throws {
        var bench = try Bench()
        let address = Bench.target(9)
        try bench.here {
            try $0.createObject(address)
            try $0.set(FieldAddress(address, "value"), to: .int(1))
        }
        try bench.there {
            try $0.createObject(address)
            try $0.set(FieldAddress(address, "value"), to: .int(2))
        }
        _ = try bench.recover()
        expectEqual(bench.local.value(at: FieldAddress(address, "value")), .int(1))
    }

    @Test func ruleTwoWhatTheServerDeletedStaysDeleted() throws {
        var bench = try Bench()
        try bench.here { try $0.set(FieldAddress(Bench.target(1), "value"), to: .int(7)) }
        try bench.there { try $0.delete(1) }
        let statistics = try bench.recover()
        expectTrue(!bench.local.contains(Bench.target(1)))
        expectEqual(statistics.droppedMissingObject, 1)
    }

    @Test func ruleThreeADeletionHereWinsOverEditsThere() throws {
        var bench = try Bench { try $0.set(ReplayBench.at("link"), to: .link(ReplayBench.target(1))) }
        try bench.here { try $0.delete(1) }
        try bench.there {
            try $0.set(FieldAddress(Bench.target(1), "value"), to: .int(7))
            try $0.add(1)
        }
        _ = try bench.recover()
        expectTrue(!bench.local.contains(Bench.target(1)))
        expectEqual(bench.value("link"), .null)
        expectEqual(bench.links("list"), [])
    }

    @Test func ruleFourTheClientsFieldWinsAndOthersKeepTheServers() throws {
        var bench = try Bench()
        try bench.here { try $0.set(Bench.at("name"), to: .string("client")) }
        try bench.there {
            try $0.set(Bench.at("name"), to: .string("server"))
            try $0.set(Bench.at("count"), to: .int(5))
        }
        _ = try bench.recover()
        expectEqual(bench.value("name"), .string("client"))
        expectEqual(bench.value("count"), .int(5))
    }

    @Test func incrementsAddUpAndAreDroppedFromWhatIsNoInteger() throws {
        var bench = try Bench { try $0.set(ReplayBench.at("any"), to: .int(1)) }
        try bench.here {
            try $0.increment(Bench.at("count"), by: 2)
            try $0.increment(Bench.at("any"), by: 1)
        }
        try bench.there {
            try $0.increment(Bench.at("count"), by: 3)
            try $0.set(Bench.at("any"), to: .string("text"))
        }
        _ = try bench.recover()
        expectEqual(bench.value("count"), .int(5))
        expectEqual(bench.value("any"), .string("text"))
    }

    @Test func setsAndDictionariesUnite() throws {
        var bench = try Bench()
        try bench.here {
            try $0.insertIntoSet(.link(Bench.target(1)), in: Bench.at("set"))
            try $0.set(Bench.at("map", .key("a")), to: .link(Bench.target(1)))
            try $0.set(Bench.at("map", .key("both")), to: .link(Bench.target(3)))
            try $0.set(Bench.at("map", .key("gone")), to: .link(Bench.target(5)))
        }
        try bench.there {
            try $0.insertIntoSet(.link(Bench.target(2)), in: Bench.at("set"))
            try $0.set(Bench.at("map", .key("b")), to: .link(Bench.target(2)))
            try $0.set(Bench.at("map", .key("both")), to: .link(Bench.target(4)))
            try $0.delete(5)
        }
        _ = try bench.recover()
        expectEqual(bench.links("set"), [1, 2])
        expectEqual(bench.links("map"), [1, 2, 3, 0])
    }

    @Test func anEditBelowAnEmbeddedObjectThatIsGoneIsDropped() throws {
        var bench = try Bench { try $0.set(ReplayBench.at("part"), to: .embedded(StoredObject())) }
        try bench.here { try $0.set(Bench.at("part", .key("name")), to: .string("x")) }
        try bench.there { try $0.set(Bench.at("part"), to: .null) }
        let statistics = try bench.recover()
        expectEqual(bench.value("part"), .null)
        expectEqual(statistics.droppedPath, 1)
    }

    @Test func anEmbeddedObjectThatBothMadeMergesFieldByField() throws {
        var bench = try Bench()
        try bench.here {
            try $0.set(Bench.at("part"), to: .embedded(StoredObject()))
            try $0.set(Bench.at("part", .key("name")), to: .string("client"))
        }
        try bench.there {
            try $0.set(Bench.at("part"), to: .embedded(StoredObject()))
            try $0.set(Bench.at("part", .key("name")), to: .string("server"))
            try $0.set(Bench.at("part", .key("size")), to: .int(3))
        }
        _ = try bench.recover()
        expectEqual(bench.value("part", .key("name")), .string("client"))
        expectEqual(bench.value("part", .key("size")), .int(3))
    }

    @Test func editsOfOwnListElementsAreReplayedWithoutACopy() throws {
        var bench = try Bench()
        try bench.here {
            try $0.insert(.embedded(StoredObject()), at: Bench.at("parts", .index(0)))
            try $0.set(Bench.at("parts", .index(0), .key("name")), to: .string("mine"))
        }
        try bench.there { try $0.insert(.embedded(StoredObject()), at: Bench.at("parts", .index(0))) }
        let statistics = try bench.recover()
        expectEqual(bench.value("parts", .index(0), .key("name")), .string("mine"))
        expectEqual(bench.value("parts", .index(1), .key("name")), .null)
        expectEqual(statistics.listsCopied, 0)
    }

    @Test func editsOfForeignListElementsCopyTheList() throws {
        var bench = try Bench { try $0.insert(.embedded(StoredObject()), at: ReplayBench.at("parts", .index(0))) }
        try bench.here { try $0.set(Bench.at("parts", .index(0), .key("name")), to: .string("mine")) }
        try bench.there { try $0.insert(.embedded(StoredObject()), at: Bench.at("parts", .index(1))) }
        let statistics = try bench.recover()
        expectEqual(statistics.listsCopied, 1)
        guard case .list(let parts)? = bench.value("parts") else { return expectTrue(Bool(false), "no list") }
        expectEqual(parts.count, 1)
        expectEqual(bench.value("parts", .index(0), .key("name")), .string("mine"))
    }

    @Test func aClearedCollectionInMixedReplacesWhatTheServerPutThere() throws {
        var bench = try Bench { try $0.set(ReplayBench.at("any"), to: .list([.int(1)])) }
        try bench.here { try $0.set(Bench.at("any"), to: .list([.int(2)])) }
        try bench.there { try $0.set(Bench.at("any"), to: .string("scalar")) }
        _ = try bench.recover()
        expectEqual(bench.value("any"), .list([.int(2)]))
    }

    @Test func aNestedListThatBecameSomethingElseLosesTheEdit() throws {
        var bench = try Bench {
            try $0.set(ReplayBench.at("any"), to: .dictionary(["k": .list([.int(1)])]))
        }
        try bench.here { try $0.insert(.int(2), at: Bench.at("any", .key("k"), .index(1))) }
        try bench.there { try $0.set(Bench.at("any", .key("k")), to: .string("text")) }
        _ = try bench.recover()
        expectEqual(bench.value("any"), .dictionary(["k": .string("text")]))
    }

    @Test func classesAndPropertiesOfBothSidesUnite() throws {
        var bench = try Bench()
        try bench.here { try $0.addColumn("Target", "here", ElementType(type: .int, nullable: true)) }
        try bench.there { try $0.addColumn("Target", "there", ElementType(type: .string, nullable: true)) }
        _ = try bench.recover()
        expectEqual(bench.local.schema.table("Target")?.columns.map(\.name).sorted(), ["here", "there", "value"])
    }

    @Test func onePropertyWithTwoTypesFails() throws {
        var bench = try Bench()
        try bench.here { try $0.addColumn("Target", "x", ElementType(type: .int, nullable: true)) }
        try bench.there { try $0.addColumn("Target", "x", ElementType(type: .string, nullable: true)) }
        let before = StateDump.json(of: bench.local)
        #expect(throws: (any Error).self) { try bench.recover() }
        #expect(throws: TransferFailure.self) { try bench.discard() }
        expectEqual(StateDump.json(of: bench.local), before)
    }

    @Test func discardingFailsWhereOnlyTheClientHasAClass() throws {
        var bench = try Bench()
        try bench.here {
            try $0.createTable("Mine", key: KeySchema(name: "_id", type: .int, nullable: false))
        }
        let error = #expect(throws: TransferFailure.self) { try bench.discard() }
        expectEqual(error?.description.contains("Mine"), true)
    }

    @Test func removingAPropertyCannotBeRecovered() throws {
        var bench = try Bench()
        try bench.here { try $0.eraseColumn("Target", "value") }
        #expect(throws: ReplayFailure.self) { try bench.recover() }
    }

    @Test func aTransferThatChangesNothingTouchesNothing() throws {
        var bench = try Bench { try $0.add(1, 2) }
        _ = bench.local.takeChanges()
        try expectEqual(bench.discard(), StateTransfer.Statistics())
        expectTrue(!bench.local.hasChanges)
    }

    @Test func deletedAndMadeAgainCountsAsAnUpdate() throws {
        var bench = try Bench { try $0.set(FieldAddress(ReplayBench.target(1), "value"), to: .int(1)) }
        try bench.there {
            try $0.delete(1)
            try $0.createObject(Bench.target(1))
        }
        try expectEqual(bench.discard(), StateTransfer.Statistics(inserted: 0, updated: 1, deleted: 0))
    }
}
