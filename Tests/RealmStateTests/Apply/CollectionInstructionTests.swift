import Changesets
import RealmState
import TestSupport
import Testing

@Suite struct CollectionInstructionTests {
    private func make(_ items: Int64...) throws -> RealmState {
        var state = try SampleRealm.make()
        try state.apply { builder in
            for (index, item) in items.enumerated() {
                builder.insert(SampleRealm.at("li", .index(index)), .int(item), priorSize: UInt32(index))
            }
        }
        return state
    }

    private func list(_ items: Int64...) -> Value { .list(items.map(Value.int)) }

    @Test func listsChangeInOrder() throws {
        var state = try make(1, 2, 3, 4)
        try state.apply { builder in
            builder.move(SampleRealm.at("li", .index(0)), to: 2, priorSize: 4)
            builder.remove(SampleRealm.at("li", .index(3)), priorSize: 4)
            builder.update(SampleRealm.at("li", .index(0)), .int(20), priorSize: 77)
            builder.insert(SampleRealm.at("li", .index(3)), .int(5), priorSize: 3)
            builder.move(SampleRealm.at("li", .index(3)), to: 0, priorSize: 4)
        }
        expectEqual(state.value(at: SampleRealm.at("li")), list(5, 20, 3, 1))
    }

    @Test func sizesAndIndexesAreChecked() throws {
        var state = try make(1, 2)
        let slot = { (index: Int) in SampleRealm.at("li", .index(index)) }
        expectTrue(state.failure { $0.insert(slot(3), .int(1), priorSize: 3) } != nil)
        expectTrue(state.failure { $0.insert(slot(1), .int(1), priorSize: 1) } != nil)
        expectTrue(state.failure { $0.insert(slot(3), .int(1), priorSize: 2) } != nil)
        expectTrue(state.failure { $0.move(slot(0), to: 2, priorSize: 2) } != nil)
        expectTrue(state.failure { $0.move(slot(2), to: 0, priorSize: 2) } != nil)
        expectTrue(state.failure { $0.move(slot(1), to: 1, priorSize: 2) } != nil)
        expectTrue(state.failure { $0.move(slot(0), to: 1, priorSize: 3) } != nil)
        expectTrue(state.failure { $0.remove(slot(2), priorSize: 2) } != nil)
        expectTrue(state.failure { $0.remove(slot(0), priorSize: 3) } != nil)
        expectTrue(state.failure { $0.update(slot(2), .int(1), priorSize: 2) } != nil)
        expectTrue(state.failure { $0.update(slot(4_294_967_295), .int(1), priorSize: 2) } != nil)
        expectTrue(
            state.failure { $0.insert(SampleRealm.at("li", .key("x"), .index(0)), .int(1), priorSize: 0) } != nil)
        expectTrue(state.failure { $0.insert(SampleRealm.at("i", .index(0)), .int(1), priorSize: 0) } != nil)
        expectTrue(state.failure { $0.insert(SampleRealm.at("di", .index(0)), .int(1), priorSize: 0) } != nil)
    }

    @Test func slotsTakeOnlyWhatTheirListHolds() throws {
        var state = try make(1)
        let slot = SampleRealm.at("li", .index(0))
        for payload: Payload in [.null, .string("x"), .list, .dictionary, .set, .erased, .objectValue] {
            expectTrue(state.failure { $0.insert(slot, payload, priorSize: 1) } != nil)
            expectTrue(state.failure { $0.update(slot, payload, priorSize: 1) } != nil)
        }
        expectTrue(state.failure { $0.insert(SampleRealm.at("nli", .index(0)), .null, priorSize: 0) } == nil)
        expectTrue(state.failure { $0.insert(SampleRealm.at("lm", .index(0)), .null, priorSize: 0) } == nil)
        expectTrue(state.failure { $0.insert(SampleRealm.at("ll", .index(0)), .null, priorSize: 0) } != nil)
        expectTrue(state.failure { $0.insert(SampleRealm.at("lemb", .index(0)), .null, priorSize: 0) } != nil)
        expectTrue(state.failure { $0.insert(SampleRealm.at("lm", .index(0)), .set, priorSize: 0) } != nil)
    }

    @Test func embeddedListsCreateAndKeepTheirObjects() throws {
        var state = try SampleRealm.make()
        try state.apply { builder in
            builder.insert(SampleRealm.at("lemb", .index(0)), .objectValue, priorSize: 0)
            builder.update(SampleRealm.at("lemb", .index(0), .key("v")), .int(4))
            builder.update(SampleRealm.at("lemb", .index(0)), .objectValue, priorSize: 1)
            builder.insert(SampleRealm.at("lemb", .index(0)), .objectValue, priorSize: 1)
        }
        expectEqual(state.value(at: SampleRealm.at("lemb", .index(1), .key("v"))), .int(4))
        expectEqual(state.value(at: SampleRealm.at("lemb", .index(0), .key("v"))), .int(0))
        expectTrue(state.failure { $0.update(SampleRealm.at("lemb", .index(2), .key("v")), .int(1)) } != nil)
    }

    @Test func typedCollectionsAreClearedByTheirKindOrNone() throws {
        var state = try make(1, 2)
        try state.apply { builder in
            builder.update(SampleRealm.at("di", .key("a")), .int(1))
            builder.setInsert(SampleRealm.at("si"), .int(1))
        }
        for kind: CollectionType in [.dictionary, .set] {
            expectTrue(state.failure { $0.clear(SampleRealm.at("li"), kind) } != nil)
        }
        try state.apply { builder in
            builder.clear(SampleRealm.at("li"), .list)
            builder.clear(SampleRealm.at("di"), .single)
            builder.clear(SampleRealm.at("si"), .set)
        }
        expectEqual(state.value(at: SampleRealm.at("li")), .list([]))
        expectEqual(state.value(at: SampleRealm.at("di")), .dictionary([:]))
        expectEqual(state.value(at: SampleRealm.at("si")), .set([]))
        expectTrue(state.failure { $0.clear(SampleRealm.at("i"), .list) } != nil)
        expectTrue(state.failure { $0.clear(SampleRealm.at("di", .key("a")), .list) } != nil)
    }

    @Test func setsAreSortedAndHoldEachMemberOnce() throws {
        var state = try SampleRealm.make()
        try state.apply { builder in
            for value: Int64 in [3, -1, 3, 7, 0] {
                builder.setInsert(SampleRealm.at("si"), .int(value))
            }
            builder.setErase(SampleRealm.at("si"), .int(7))
            builder.setErase(SampleRealm.at("si"), .int(99))
            builder.setInsert(SampleRealm.at("nss"), .null)
            builder.setInsert(SampleRealm.at("nss"), .string("b"))
            builder.setInsert(SampleRealm.at("nss"), .string("a"))
            builder.setErase(SampleRealm.at("nss"), .null)
        }
        expectEqual(state.value(at: SampleRealm.at("si")), .set([.int(-1), .int(0), .int(3)]))
        expectEqual(state.value(at: SampleRealm.at("nss")), .set([.string("a"), .string("b")]))
        for payload: Payload in [.null, .string("x"), .list, .dictionary, .set, .erased, .objectValue] {
            expectTrue(state.failure { $0.setInsert(SampleRealm.at("si"), payload) } != nil)
            expectTrue(state.failure { $0.setErase(SampleRealm.at("si"), payload) } != nil)
        }
        for field: ByteString in ["mx", "i", "li", "di"] {
            expectTrue(state.failure { $0.setInsert(SampleRealm.at(field), .int(1)) } != nil)
        }
        expectTrue(state.failure { $0.setInsert(SampleRealm.at("si", .index(0)), .int(1)) } != nil)
        expectTrue(state.failure { $0.update(SampleRealm.at("si"), .int(1)) } != nil)
    }

    @Test func mixedSetsCompareNumbersByValue() throws {
        var state = try SampleRealm.make()
        let one = Decimal128Value(high: UInt64(6176 - 1) << 49, low: 10)
        try state.apply { builder in
            builder.setInsert(SampleRealm.at("sm"), .int(1))
            builder.setInsert(SampleRealm.at("sm"), .double(bits: (1.0).bitPattern))
            builder.setInsert(SampleRealm.at("sm"), .float(bits: Float(1).bitPattern))
            builder.setInsert(SampleRealm.at("sm"), .decimal(one))
            builder.setInsert(SampleRealm.at("sm"), .double(bits: (0.5).bitPattern))
            builder.setInsert(SampleRealm.at("sm"), .string("x"))
            builder.setInsert(SampleRealm.at("sm"), .bool(true))
            builder.setInsert(SampleRealm.at("sm"), .null)
        }
        let half = Value.double(bits: (0.5).bitPattern)
        expectEqual(state.value(at: SampleRealm.at("sm")), .set([.null, .bool(true), half, .int(1), .string("x")]))
    }

    @Test func linksInSetsNeedTheirClass() throws {
        var state = try SampleRealm.make()
        try state.apply { builder in
            let link = Payload(.link(SampleRealm.target), &builder.changeset.strings)
            builder.setInsert(SampleRealm.at("sl"), link)
            builder.setInsert(SampleRealm.at("sl"), link)
        }
        expectEqual(state.value(at: SampleRealm.at("sl")), .set([.link(SampleRealm.target)]))
        let error = state.failure { builder in
            let link = Payload(.link(SampleRealm.object), &builder.changeset.strings)
            builder.setInsert(SampleRealm.at("sl"), link)
        }
        expectTrue(error != nil)
    }
}
