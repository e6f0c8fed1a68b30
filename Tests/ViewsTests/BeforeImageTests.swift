import Changesets
import RealmState
import SeededRandom
import SyncModel
import TestSupport
import Testing

@testable import Views

/// What is kept of objects as they were before versions, and what can be told by it.
@Suite struct BeforeImageTests {
    private static let item = ViewTests.schema.table("Item")

    private func view(_ query: String, _ roles: String = BeforeImageTests.open) throws -> View {
        try View(
            ViewDefinition(version: 1, queries: #"{"Item": "\#(query)"}"#, roles: try ViewTests.roles(roles)),
            schema: ViewTests.schema)
    }

    private static let open =
        #"{"name": "all", "apply_when": {}, "read": true, "write": true, "document_filters": {"read": true, "write": true}}"#

    private func text(_ count: Int, _ letter: String = "x") -> Value {
        .string(ByteString(String(repeating: letter, count: count)))
    }

    @Test func aVersionThatLeavesALargeTextAloneKeepsNothingOfIt() throws {
        let table = try #require(Self.item)
        var columns = ImagedColumns()
        expectEqual(columns.add(try view("secret CONTAINS 'a' AND done == true"), since: 0), .columns)
        let slot = ObjectSlot(table.id, .int(1))
        var object = ViewTests.item(["secret": text(14 << 20), "done": .bool(false)])
        var room = ImageRoom()
        var bytes = 0
        for index in 1...1_000 {
            let before = object
            object[try #require(table.column("done")).id] = .bool(index.isMultiple(of: 2))
            let image = columns.image(of: before, after: object, at: slot, in: table, room: &room)
            bytes += BeforeImages([image]).encoded().count
            expectEqual(image.resolved(after: object), columns.image(of: before, in: table.id))
        }
        // The images were once a thousand times the text.
        expectTrue(bytes < 32_000, "\(bytes)")
    }

    @Test func smallObjectsAreKeptAsInEarlierReleases() throws {
        let table = try #require(Self.item)
        var columns = ImagedColumns()
        _ = columns.add(try view("team == 'a' AND done == true"), since: 0)
        let (before, after) = (ViewTests.item(["team": text(99), "done": .bool(true)]), ViewTests.item([:]))
        var room = ImageRoom()
        let image = columns.image(of: before, after: after, at: ObjectSlot(table.id, .int(1)), in: table, room: &room)
        expectEqual(image, BeforeImages.Image(ObjectSlot(table.id, .int(1)), before: before))
        // The number of images, table, key, whether it is there, and the object.
        var writer = VarintWriter()
        writer.write(UInt64(1))
        writer.write(table.id.rawValue)
        writer.write(detached: .int(1))
        writer.write(true)
        writer.write(lengthAnd: before.encoded())
        expectEqual(BeforeImages([image]).encoded(), writer.bytes)
    }

    @Test func imagesKeepPropertiesOfRolesAndOmitTooLargeValues() throws {
        let table = try #require(Self.item)
        let owner = try #require(table.column("owner_id")).id
        let secret = try #require(table.column("secret")).id
        let team = try #require(table.column("team")).id
        var columns = ImagedColumns()
        _ = columns.add(try view("secret == 'a' AND team == 'b'", ViewTests.own), since: 0)
        let before = ViewTests.item(["owner_id": .string("a1"), "secret": text(99_999), "team": text(500)])
        var after = before
        after[secret] = text(99_999, "y")
        var room = ImageRoom()
        let slot = ObjectSlot(table.id, .int(1))
        let image = columns.image(of: before, after: after, at: slot, in: table, room: &room)
        expectTrue(image.isPartial && image.before?[owner] == .string("a1") && image.before?[team] == nil)
        expectEqual(image.before?.untold, [secret])
        let read = try BeforeImages(decoding: BeforeImages([image]).encoded())
        expectEqual(read, BeforeImages([image]))
        expectEqual(image.resolved(after: after)?.untold, [secret])
        expectEqual(image.resolved(after: after)?[team], before[team])
        // An object that goes is kept whole, but for what is too large; and without room, but for what is not small.
        let gone = columns.image(of: before, after: nil, at: slot, in: table, room: &room)
        expectTrue(!gone.isPartial && gone.before?[team] == before[team] && gone.before?.untold == [secret])
        var limits = ImageLimits()
        limits.bytes = 0
        var none = ImageRoom(limits)
        let poor = columns.image(of: before, after: nil, at: slot, in: table, room: &none)
        expectEqual(poor.before?.untold, [team, secret])
        expectEqual(poor.before?[owner], .string("a1"))
        // A text that comes in its place makes room for it.
        var other = before
        other[team] = text(600, "z")
        expectEqual(
            columns.image(of: before, after: other, at: slot, in: table, room: &none).before?[team], before[team])
        expectEqual(
            columns.image(of: before, after: nil, at: slot, in: table, room: &none).before?.untold, [team, secret])
    }

    /// Objects change at random; each state is told from the versions after it, as far as it was kept.
    @Test func earlierStatesAreResolvedFromImages() throws {
        let table = try #require(Self.item)
        let names = ["owner_id", "team", "done", "secret"]
        for seed in UInt64(1)...300 {
            var random = SeededGenerator(seed: seed)
            var columns = ImagedColumns()
            _ = columns.add(try view("secret == 'a' AND team == 'b'", ViewTests.own), since: 0)
            var limits = ImageLimits()
            limits.smallObject = random.below(2) * 100
            limits.maxValue = random.below(2) == 0 ? 100 : 1_000
            limits.bytes = random.below(3) * 500
            var room = ImageRoom(limits)
            let slot = ObjectSlot(table.id, .int(1))
            var states: [StoredObject?] = [nil]
            var images: [BeforeImages.Image] = []
            for _ in 0..<8 {
                var next = states[states.count - 1]
                switch random.below(7) {
                case 0: next = next == nil ? ViewTests.item([:]) : nil
                default:
                    next = next ?? ViewTests.item([:])
                    let column = try #require(table.column(ByteString(names[random.below(4)])))
                    next?[column.id] =
                        column.name == "done" ? .bool(random.below(2) == 0) : text([3, 90, 500][random.below(3)])
                }
                images.append(
                    columns.image(of: states[states.count - 1], after: next, at: slot, in: table, room: &room))
                states.append(next)
            }
            images = try images.map { try BeforeImages(decoding: BeforeImages([$0]).encoded()).images[0] }
            let told = BeforeImages.resolved(images, now: states[states.count - 1])
            for (was, told) in zip(states, told) {
                guard (was == nil) == (told == nil), let was, let told else {
                    expectTrue(was == nil && told == nil, "seed \(seed)")
                    continue
                }
                for id in columns.columns(of: table.id) where !told.untold.contains(id) {
                    let ifMissing = table.columns.first { $0.id == id }?.defaultValue
                    expectEqual(told[id] ?? ifMissing, was[id] ?? ifMissing, "seed \(seed), column \(id)")
                }
                let owner = try #require(table.column("owner_id")).id
                expectTrue(!told.untold.contains(owner) || limits.maxValue == 100 || limits.bytes == 0, "seed \(seed)")
            }
        }
    }

    /// A member that comes to a list of many, or goes, costs what one costs.
    @Test func ofACollectionWhatHasChangedIsKept() throws {
        for seed in UInt64(1)...500 {
            var random = SeededGenerator(seed: seed)
            func values() -> [Value] { (0..<random.below(6)).map { _ in .int(Int64(random.below(3))) } }
            let (before, after) = (values(), values())
            let lists = try #require(Splice(.list(before), after: .list(after)))
            expectEqual(lists.before(after: .list(after)), .list(before))
            let sets = try #require(Splice(.set(before), after: .set(after)))
            expectEqual(sets.before(after: .set(after)), .set(before))
            let column = ColumnID(rawValue: UInt32(random.below(9)))
            let read = Splice.read(lists.written(of: column))
            expectTrue(read?.0 == column && read?.1 == lists)
        }
        let members = (0..<100_000).map { Value.int($0) }
        let one = try #require(Splice(.list(members), after: .list(members + [.int(7)])))
        expectTrue(one.items.isEmpty && one.prefix == members.count)
        expectTrue(Splice(.list(members), after: .null) == nil && one.before(after: .list([])) == nil)
        // What is damaged is told of as lacking.
        let id = ColumnID(rawValue: 2)
        var before = StoredObject()
        before.splices = [id: one]
        let image = BeforeImages.Image(ObjectSlot(TableID(rawValue: 1), .int(1)), before: before, isPartial: true)
        expectEqual(image.resolved(after: StoredObject([id: .list(members + [.int(7)])]))?[id], .list(members))
        expectEqual(image.resolved(after: StoredObject([id: .list([])]))?.untold, [id])
        let bytes = BeforeImages([image]).encoded()
        expectTrue(bytes.count < 64)
        try expectEqual(BeforeImages(decoding: bytes), BeforeImages([image]))
    }

    @Test func aViewSaysWhatCannotBeTold() throws {
        let table = try #require(Self.item)
        func id(_ name: ByteString) throws -> ColumnID { try #require(table.column(name)).id }
        let slot = ObjectSlot(table.id, .int(1))
        let view = try view("secret CONTAINS 'a'", ViewTests.own)
        var own = ViewTests.item(["owner_id": .string("a1"), "secret": .string("b")])
        var others = ViewTests.item(["owner_id": .string("b2"), "secret": .string("a")])
        expectEqual(view.place(of: own, slot), .outside)
        own.untold = [try id("secret")]
        expectEqual(view.place(of: own, slot), .unclear)
        others.untold = [try id("secret")]
        // The role hides it, whatever the text was.
        expectEqual(view.place(of: others, slot), .outside)
        others.untold = [try id("owner_id")]
        expectEqual(view.place(of: others, slot), .veiled)
        own.untold = [try id("owner_id")]
        expectEqual(view.place(of: own, slot), .outside)
        expectTrue(!view.contains(others, table.id, .int(1)))
    }

    /// A client ends up with the same object even if a part of the object's past is lacking, whatever the client holds.
    @Test func unclearPastLeavesTheClientWithTheSameObject() {
        let places: [HeldObject.Place] = [.missing, .outside, .inView]
        func held(_ touches: [(Bool, HeldObject.Place)]) -> HeldObject {
            var held = HeldObject(at: 10)
            for (index, touch) in touches.enumerated() {
                held.touch(ServerVersion(UInt64(11 + index)), isOwn: touch.0, before: touch.1)
            }
            return held
        }
        for code in 0..<(6 * 6 * 6 * 3) {
            let touches = [code / 108, code / 18 % 6, code / 3 % 6].map { ($0 >= 3, places[$0 % 3]) }
            let now = places[code % 3]
            let exact = held(touches).passage(now: now)
            // What the client holds when it is sent that.
            var holds = touches[0].1 == .inView
            for (index, touch) in touches.enumerated() where touch.0 {
                let after = index + 1 < touches.count ? touches[index + 1].1 : now
                if (touch.1 == .missing) != (after == .missing) { holds = after != .missing }
            }
            for mask in 1..<8 {
                let poor = touches.enumerated().map { index, touch in
                    let isLacking = mask >> index & 1 == 1 && touch.1 != .missing
                    return (touch.0, isLacking ? .unclear : touch.1)
                }
                let found = held(poor).passage(now: now)
                let isSafe =
                    switch found {
                    // Nobody has been sent what was in the view for a moment, or perhaps was not.
                    case .passes:
                        found == exact
                            || found == held(poor.map { ($0.0, $0.1 == .unclear ? .outside : $0.1) }).passage(now: now)
                    case .enters(let erasingFirst): now == .inView && (erasingFirst || !holds)
                    case .leaves: now != .inView
                    case .nothing: now != .inView && !holds
                    }
                expectTrue(isSafe, "\(touches) as \(poor), now \(now): \(found), not \(exact)")
            }
        }
    }

    @Test func nobodyIsToldToEraseWhatItMayNeverHaveSeen() throws {
        let table = try #require(Self.item)
        let slot = ObjectSlot(table.id, .int(1))
        let view = try view("TRUEPREDICATE", ViewTests.own)
        var before = ViewTests.item([:])
        before.untold = [try #require(table.column("owner_id")).id]
        func stretch(by author: FileIdent) -> ViewStretch {
            var stretch = ViewStretch(after: 10, for: 3, in: view)
            stretch.touch(11, by: author, BeforeImages.Image(slot, before: before, isPartial: true))
            return stretch
        }
        let others = ViewTests.item(["owner_id": .string("b2")])
        let own = ViewTests.item(["owner_id": .string("a1")])
        expectTrue(stretch(by: 9).passages { _ in others } == nil)
        expectEqual(stretch(by: 9).passages { _ in own }, [slot: .enters(erasingFirst: true)])
        // The version's author knows of the object.
        expectEqual(stretch(by: 3).passages { _ in others }, [slot: .leaves])
    }

    @Test func propertiesAreLetGoOfThatNobodyNeeds() throws {
        let table = try #require(Self.item)
        func id(_ name: ByteString) throws -> ColumnID { try #require(table.column(name)).id }
        var columns = ImagedColumns()
        let others = try view("secret == 'a' AND owner_id == 'b'")
        expectEqual(columns.add(others, since: 5), .columns)
        let own = try view("team == 'a'", ViewTests.own)
        // `team` is new; roles look at what a query has looked at so far.
        expectEqual(columns.add(own, since: 7), .columns)
        expectEqual(columns.add(own, since: 8), .nothing)
        try expectEqual(ImagedColumns(decoding: columns.encoded()), columns)
        let needed = Set(own.subscribed.flatMap(\.columns))
        expectTrue(columns.keep { needed.contains($1) })
        expectTrue(!columns.keep { needed.contains($1) })
        try expectEqual(columns.columns(of: table.id), [id("owner_id"), id("team")].sorted())
        expectEqual(columns.start(of: own), 7)
        expectTrue(columns.start(of: others) == nil)
        expectEqual(columns.add(others, since: 9), .columns)
        expectEqual(columns.start(of: others), 9)
    }

    @Test func thereMayBeAsManyPropertiesAsAClassHas() throws {
        var state = RealmState()
        var changeset = Changeset()
        let item = changeset.strings.intern("Item")
        changeset.instructions.append(
            .addTable(
                .init(
                    table: item,
                    kind: .topLevel(
                        keyField: changeset.strings.intern("_id"), keyType: .int, keyNullable: false, asymmetric: false)
                )))
        for index in 0..<500 {
            changeset.instructions.append(
                .addColumn(
                    .init(
                        table: item, field: changeset.strings.intern(ByteString("x\(index)")), type: .int,
                        nullable: true, collection: .single)))
        }
        try state.apply(changeset)
        var columns = ImagedColumns()
        for index in 0..<500 {
            let view = try View(
                ViewDefinition(
                    version: 1, queries: #"{"Item": "x\#(index) == 1"}"#, roles: try ViewTests.roles(Self.open)),
                schema: state.schema)
            expectEqual(columns.add(view, since: 1), .columns)
        }
        // No more than the schema, which the realm has anyway.
        expectTrue(columns.encoded().count < state.schema.encoded().count)
    }
}
