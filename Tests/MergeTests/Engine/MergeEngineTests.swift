import Changesets
import Merge
import TestSupport
import Testing

/// Section 11.
@Suite struct MergeEngineTests {
    private let engine = MergeEngine(compatibility: .convergent)
    private func x(_ value: Int64) -> Changeset { changeset([.set(.at("x"), .int(value))]) }

    @Test func localEntriesUpToTheBaseDoNotTakePart() throws {
        let entries = [local(x(1), version: 1, rank: 9, file: 2), local(x(2), version: 2, rank: 1, file: 2)]
        let result = try engine.transform(
            incoming: [incoming(x(3), rank: 5, file: 3, base: 1)], over: entries, currentLocalVersion: 2)
        expectEqual(result.incoming, [x(3)])
        expectEqual(result.modifiedLocal, [.init(version: 2, changeset: changeset([]))])
    }

    @Test func localEntriesAfterTheCurrentVersionDoNotTakePart() throws {
        let result = try engine.transform(
            incoming: [incoming(x(3), rank: 5, file: 3)], over: [local(x(1), version: 7, rank: 9, file: 2)],
            currentLocalVersion: 6)
        expectEqual(result, TransformResult(incoming: [x(3)], modifiedLocal: []))
    }

    @Test func nothingIncomingChangesNothing() throws {
        let result = try engine.transform(
            incoming: [], over: [local(x(1), rank: 1, file: 2)], currentLocalVersion: 1)
        expectEqual(result, TransformResult(incoming: [], modifiedLocal: []))
    }

    /// A run with a later base meets what the runs before it have left of the local entries.
    @Test func laterRunsMeetWhatEarlierOnesLeft() throws {
        let entries = [
            local(changeset([.insert(0, .int(1), of: 0)]), version: 1, rank: 1, file: 2),
            local(changeset([.insert(1, .int(2), of: 1)]), version: 2, rank: 1, file: 2),
        ]
        let result = try engine.transform(
            incoming: [
                incoming(changeset([.insert(0, .int(3), of: 0)]), version: 1, rank: 2, file: 3, base: 0),
                incoming(changeset([.insert(0, .int(4), of: 2)]), version: 2, rank: 2, file: 3, base: 1),
            ], over: entries, currentLocalVersion: 2)
        // The peer had [3], integrated [1] before it, then put 4 in front: [4 1 3]. We had [1 2].
        expectEqual(
            result.incoming,
            [
                changeset([.insert(2, .int(3), of: 2)]), changeset([.insert(0, .int(4), of: 3)]),
            ])
        expectEqual(
            result.modifiedLocal,
            [
                .init(version: 1, changeset: changeset([.insert(0, .int(1), of: 1)])),
                .init(version: 2, changeset: changeset([.insert(2, .int(2), of: 3)])),
            ])
    }

    @Test func anEntryThatIsMergedAwayIsModifiedAndEmpty() throws {
        let result = try engine.transform(
            incoming: [incoming(x(3), rank: 5, file: 3)], over: [local(x(1), rank: 1, file: 2)],
            currentLocalVersion: 1)
        expectEqual(result.modifiedLocal.map(\.version), [1])
        expectEqual(result.modifiedLocal.map(\.changeset.isEmpty), [true])
        expectTrue(result.modifiedLocal[0].changeset.encoded().isEmpty)
    }

    @Test func aRuleThatLeavesEverythingAsItWasModifiesNothing() throws {
        let move = changeset([.move(0, 1)])
        let result = try engine.transform(
            incoming: [incoming(changeset([.assign(2)]), rank: 2, file: 3)], over: [local(move, rank: 1, file: 2)],
            currentLocalVersion: 1)
        expectEqual(result, TransformResult(incoming: [changeset([.assign(2)])], modifiedLocal: []))
    }

    @Test func anEmptyReciprocalStaysEmpty() throws {
        let result = try engine.transform(
            incoming: [incoming(x(3), rank: 5, file: 3)], over: [local(changeset([]), rank: 9, file: 2)],
            currentLocalVersion: 1)
        expectEqual(result, TransformResult(incoming: [x(3)], modifiedLocal: []))
    }

    @Test func stringsOfInstructionsPutInAreAppended() throws {
        var ours = InternTable()
        let erase = Instruction.eraseTable(table: ours.intern("Dog"))
        var theirs = InternTable()
        let column = Instruction.addColumn(
            .init(
                table: theirs.intern("Person"), field: theirs.intern("dog"), type: .link, nullable: true,
                collection: .single, linkTarget: theirs.intern("Dog")))
        let result = try engine.transform(
            incoming: [incoming(Changeset(strings: theirs, instructions: [column]), rank: 1, file: 3)],
            over: [local(Changeset(strings: ours, instructions: [erase]), rank: 2, file: 2)], currentLocalVersion: 1)
        let modified = try #require(result.modifiedLocal.first?.changeset)
        expectEqual(modified.strings.strings, ["Dog", "Person", "dog"])
        expectEqual(
            modified.instructions,
            [
                .eraseColumn(table: InternedString(1), field: InternedString(2)), erase,
            ])
        expectTrue(result.incoming[0].isEmpty)
    }

    @Test func errorsSayWhichInstructionsDidNotGoTogether() throws {
        let ours = changeset([.create(), .insert(.at("l", 1), .string("secret"), of: 3)])
        let theirs = changeset([.remove(.at("l", 0), of: 4)])
        let error = #expect(throws: MergeError.self) {
            try engine.transform(
                incoming: [incoming(theirs, version: 12, rank: 2, file: 3)],
                over: [local(ours, version: 7, rank: 1, file: 2)], currentLocalVersion: 7)
        }
        expectEqual(error?.code, .listMismatch)
        expectEqual(error?.local?.description, "instruction 1 of version 7, arrayInsert Dog[1].l[1] of 3")
        expectEqual(error?.incoming?.description, "instruction 0 of version 12, arrayErase Dog[1].l[0] of 4")
        expectEqual(error.map { "\($0)".contains("secret") }, false)
    }

    // MARK: Hostile input

    @Test func unknownStringsAreRefused() {
        let unknown = Changeset(instructions: [.create()])
        let error = #expect(throws: MergeError.self) {
            try engine.transform(
                incoming: [incoming(unknown, rank: 2, file: 3)], over: [local(x(1), rank: 1, file: 2)],
                currentLocalVersion: 1)
        }
        expectEqual(error?.code, .malformedChangeset)
    }

    @Test func endlessPathsAreRefused() {
        var path = FieldPath.at("any")
        path.path = PathElements(repeatElement("k", count: 100_000))
        let error = #expect(throws: MergeError.self) {
            try merge([.set(path, .int(1))], rank: 1, with: [.create()], rank: 2)
        }
        expectEqual(error?.code, .malformedChangeset)
    }

    @Test func deepPathsMeetWhateverTheirDepth() throws {
        for depth in [15, 16, 17, 40] {
            var path = FieldPath.at("any")
            path.path = PathElements(repeatElement("k", count: depth))
            var deeper = path
            deeper.path.append("j")
            var beside = path
            beside.path[depth - 1] = "j"
            let inner: [Instruction] = [
                .set(deeper, .int(2)), .setInsert(deeper, value: .int(1)), .add(deeper, 1),
            ]
            try expect(
                [.set(path, .int(1))], with: inner + [.set(beside, .int(3))], gives: [.set(path, .int(1))],
                [.set(beside, .int(3))])
            try expect(
                [.setErase(path, value: .int(1)), .add(deeper, 1)], 1,
                with: [.setInsert(path, value: .int(1)), .add(deeper, 2)], 2, gives: [.add(deeper, 1)],
                [.setInsert(path, value: .int(1)), .add(deeper, 2)])
        }
    }

    /// Time limits are generous; the product of both sides is 64 million pairs.
    @Test(.hangGuard)
    func oneHotObjectDoesNotCostTheProductOfBothSides() throws {
        let keys = ["k", "j", "street", "dog", "e"]
        func side() -> [Instruction] {
            (0..<8_000).map { number in
                switch number % 4 {
                case 0: .add(.at("x"), 1)
                case 1: .set(.at("d", .key(Names.intern(keys[number % 5]))), .int(Int64(number)))
                case 2: .setInsert(.at("s"), value: .int(Int64(number)))
                default: .set(.at("y"), .int(Int64(number)))
                }
            }
        }
        let merged = try merge(side(), rank: 1, with: side(), rank: 2)
        expectEqual(merged.b.count, 8_000)
        expectEqual(merged.a.count, 2_000)
    }
}
