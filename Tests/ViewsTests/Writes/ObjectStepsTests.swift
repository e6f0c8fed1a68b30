import Changesets
import RealmState
import TestSupport
import Testing

@testable import Views

/// What a changeset does to objects, told step by step.
@Suite struct ObjectStepsTests {
    private static func declare() -> Changeset {
        var changeset = Changeset()
        let item = changeset.strings.intern("Item")
        changeset.instructions = [
            .addTable(
                .init(
                    table: item,
                    kind: .topLevel(
                        keyField: changeset.strings.intern("_id"), keyType: .int, keyNullable: false, asymmetric: false)
                )),
            .addColumn(
                .init(
                    table: item, field: changeset.strings.intern("a"), type: .int, nullable: false, collection: .single)
            ),
        ]
        return changeset
    }

    private enum Act {
        case make(Int64), erase(Int64)
        case set(Int64, Int64)
    }

    private static func changeset(_ acts: [Act]) -> Changeset {
        var changeset = Changeset()
        let item = changeset.strings.intern("Item")
        for act in acts {
            switch act {
            case .make(let key): changeset.instructions.append(.createObject(table: item, object: .int(key)))
            case .erase(let key): changeset.instructions.append(.eraseObject(table: item, object: .int(key)))
            case .set(let key, let value):
                let path = FieldPath(table: item, object: .int(key), field: changeset.strings.intern("a"))
                changeset.instructions.append(
                    .update(.init(target: path, value: .int(value), qualifier: .isDefault(false))))
            }
        }
        return changeset
    }

    /// The steps of an object with 1 in a realm that has 1 with 10, and what is left of both.
    private func steps(_ acts: Act..., of key: Int64 = 1) throws -> [String] {
        var state = RealmState()
        try state.apply(Self.declare())
        try state.apply(Self.changeset([.make(1), .set(1, 10)]))
        var expected = state
        let changeset = Self.changeset(acts)
        try expected.apply(changeset)
        let column = try #require(state.schema.table("Item")?.column("a"))
        func text(_ object: StoredObject) -> String {
            if case .int(let value) = object[column] { "\(value)" } else { "0" }
        }
        var told: [String] = []
        try #require(ObjectSteps(changeset)).apply(to: &state) { address, step in
            guard address.key == .int(key) else { return }
            switch step {
            case .make(let object, let stays): told.append("make \(text(object))\(stays ? "" : " for a while")")
            case .change(let old, let new): told.append("change \(text(old)) to \(text(new))")
            case .erase(let object): told.append("erase \(text(object))")
            case .eraseNothing: told.append("erase nothing")
            }
        }
        for key in 1...2 as ClosedRange<Int64> {
            let address = ObjectAddress("Item", .int(key))
            expectEqual(state.object(address), expected.object(address))
        }
        return told
    }

    @Test func oneStepEach() throws {
        try expectEqual(steps(.set(1, 2), .set(1, 3)), ["change 10 to 3"])
        try expectEqual(steps(.erase(1)), ["erase 10"])
        try expectEqual(steps(.make(2), .set(2, 5), of: 2), ["make 5"])
        // An object that is made again stays what it is.
        try expectEqual(steps(.make(1)), ["change 10 to 10"])
        try expectEqual(steps(.make(1), .set(1, 4)), ["change 10 to 4"])
        try expectEqual(steps(.erase(2), of: 2), ["erase nothing"])
        try expectEqual(steps(.set(1, 2), of: 2), [])
    }

    @Test func changesAfterAnErasureAreAStepOfTheirOwn() throws {
        try expectEqual(steps(.erase(1), .make(1)), ["erase 10", "make 0"])
        try expectEqual(steps(.erase(1), .make(1), .set(1, 7)), ["erase 10", "make 7"])
        try expectEqual(steps(.set(1, 3), .erase(1)), ["change 10 to 3", "erase 3"])
        try expectEqual(steps(.make(2), .set(2, 9), .erase(2), of: 2), ["make 9 for a while", "erase 9"])
        try expectEqual(
            steps(.erase(1), .make(1), .set(1, 2), .erase(1), .make(1), .set(1, 3)),
            ["erase 10", "make 2 for a while", "erase 2", "make 3"])
        try expectEqual(steps(.erase(2), .make(2), of: 2), ["erase nothing", "make 0"])
        try expectEqual(steps(.erase(1), .erase(1)), ["erase 10"])
        try expectEqual(
            steps(.make(2), .erase(2), .erase(2), of: 2), ["make 0 for a while", "erase 0", "erase nothing"])
    }

    @Test func objectsAreToldApart() throws {
        let acts: [Act] = [.erase(1), .make(2), .make(1), .set(2, 4), .set(1, 6), .erase(2)]
        try expectEqual(steps(acts[0], acts[1], acts[2], acts[3], acts[4], acts[5]), ["erase 10", "make 6"])
        try expectEqual(
            steps(acts[0], acts[1], acts[2], acts[3], acts[4], acts[5], of: 2), ["make 4 for a while", "erase 4"])
    }

    @Test func anErrorNamesThePlaceInTheWholeChangeset() throws {
        var state = RealmState()
        try state.apply(Self.declare())
        let changeset = Self.changeset([.make(1), .erase(1), .set(1, 2)])
        let steps = try #require(ObjectSteps(changeset))
        let error = #expect(throws: RealmStateError.self) { try steps.apply(to: &state) { _, _ in } }
        expectEqual(error?.instruction, 2)
    }
}
