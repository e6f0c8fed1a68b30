import Changesets
import Merge
import Testing

/// Section 5.
@Suite struct SchemaRulesTests {
    @Test func equalClassesOfBothSidesAreNeededByNeither() throws {
        try expect([.addTable("Dog")], with: [.addTable("Dog")], gives: [], [])
        try expect([.addEmbedded("Dog")], with: [.addEmbedded("Dog")], gives: [], [])
        try expect(
            [.addTable("Dog")], with: [.addTable("Person")], gives: [.addTable("Dog")], [.addTable("Person")])
    }

    @Test func differentClassesOfOneNameAreRefused() {
        let dog = Instruction.addTable("Dog")
        expectRefusal([dog], with: [.addEmbedded("Dog")], .schemaMismatch)
        expectRefusal([dog], with: [.addTable("Dog", key: "x")], .schemaMismatch)
        expectRefusal([dog], with: [.addTable("Dog", .string)], .schemaMismatch)
        expectRefusal([dog], with: [.addTable("Dog", nullable: true)], .schemaMismatch)
        expectRefusal([dog], with: [.addTable("Dog", asymmetric: true)], .schemaMismatch)
    }

    @Test func erasingAClassDiscardsItsCreation() throws {
        try expect([.addTable("Dog")], 2, with: [.eraseTable("Dog")], 1, gives: [], [.eraseTable("Dog")])
    }

    @Test func aClassErasedByBothIsErasedByNeither() throws {
        try expect([.eraseTable("Dog")], with: [.eraseTable("Dog")], gives: [], [])
    }

    @Test func nothingInAClassSurvivesIt() throws {
        let inside: [Instruction] = [
            .create(), .erase(), .set(.at("x"), .int(3)), .insert(0), .addColumn("x"), .eraseColumn("y"),
            .addColumn("dog", .link, nullable: true, target: "Dog"),
        ]
        let outside: [Instruction] = [.create(in: "Person"), .set(.at("x", table: "Person"), .int(3))]
        try expect(
            [.eraseTable("Dog")], 1, with: inside + outside, 2, gives: [.eraseTable("Dog")], outside)
    }

    @Test func aColumnThatLinksToAnErasedClassIsErasedFirst() throws {
        let column = Instruction.addColumn("dog", .link, nullable: true, target: "Dog", in: "Person")
        try expect(
            [column], 1, with: [.create(in: "Person"), .eraseTable("Dog")], 2, gives: [],
            [.create(in: "Person"), .eraseColumn("dog", in: "Person"), .eraseTable("Dog")])
    }

    @Test func anErasureThatIsPutInMeetsWhatFollows() throws {
        let column = Instruction.addColumn("dog", .link, nullable: true, target: "Dog", in: "Person")
        let update = Instruction.set(.at("dog", table: "Person"), .null)
        // The update is discarded by the EraseColumn that the AddColumn before it has caused.
        try expect(
            [.eraseTable("Dog")], 1, with: [update, column, update], 2,
            gives: [.eraseColumn("dog", in: "Person"), .eraseTable("Dog")], [update])
    }

    @Test func severalErasuresThatArePutInKeepTheirOrder() throws {
        let first = Instruction.addColumn("x", .link, nullable: true, target: "Dog", in: "Person")
        let second = Instruction.addColumn("y", .link, nullable: true, .list, target: "Dog", in: "Person")
        try expect(
            [first, second], 1, with: [.eraseTable("Dog")], 2, gives: [],
            [.eraseColumn("x", in: "Person"), .eraseColumn("y", in: "Person"), .eraseTable("Dog")])
    }

    @Test func equalColumnsOfBothSidesAreNeededByNeither() throws {
        try expect([.addColumn("x")], with: [.addColumn("x")], gives: [], [])
        try expect([.addColumn("x")], with: [.addColumn("y")], gives: [.addColumn("x")], [.addColumn("y")])
    }

    @Test func differentColumnsOfOneNameAreRefused() {
        expectRefusal([.addColumn("x")], with: [.addColumn("x", .string)], .schemaMismatch)
        expectRefusal([.addColumn("x")], with: [.addColumn("x", nullable: true)], .schemaMismatch)
        expectRefusal([.addColumn("x")], with: [.addColumn("x", .int, .list)], .schemaMismatch)
        expectRefusal(
            [.addColumn("x", .link, target: "Dog")], with: [.addColumn("x", .link, target: "Person")],
            .schemaMismatch)
        expectRefusal(
            [.addColumn("x", .link, target: "Dog")], with: [.addColumn("x", .link, target: "")], .schemaMismatch)
    }

    @Test func erasingAColumnDiscardsItsCreationAndUpdates() throws {
        let changes: [Instruction] = [.addColumn("x"), .set(.at("x"), .int(1)), .set(.at("x", 0, "k"), .int(1))]
        let others: [Instruction] = [.set(.at("y"), .int(1)), .set(.at("x", table: "Person"), .int(1))]
        try expect([.eraseColumn("x")], 1, with: changes + others, 2, gives: [.eraseColumn("x")], others)
    }

    @Test func aColumnErasedByBothIsErasedByNeither() throws {
        try expect([.eraseColumn("x")], with: [.eraseColumn("x")], gives: [], [])
    }

    /// D3.
    @Test func erasingAColumnDiscardsEveryOtherChangeOnlyInConvergentMode() throws {
        let changes: [Instruction] = [
            .add(.at("x"), 1), .insert(.at("x", 0), of: 0), .remove(.at("x", 0), of: 1),
            .clear(.at("x"), collection: .list), .setInsert(.at("x"), value: .int(1)),
        ]
        try expect([.eraseColumn("x")], with: changes, gives: [.eraseColumn("x")], [], in: [.convergent])
        try expect([.eraseColumn("x")], with: changes, gives: [.eraseColumn("x")], changes, in: [.stockClients])
    }
}
