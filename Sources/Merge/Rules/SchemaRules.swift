import Changesets

/// Section 5: classes and columns. Rank plays no part; the schema has no history to be newer in.
///
/// In the examples here and in the other rules `A@1` and `B@2` are concurrent, and the number is the rank: B is newer.
enum SchemaRules {
    /// 5.1 Both sides make the same class. Each already has it, so neither needs the other's: both are discarded. Two
    /// different classes of one name cannot be reconciled.
    ///
    /// `A: AddTable Dog(id Int)`, `B: AddTable Dog(id Int)`: both gone. `B: AddTable Dog(id String)`: an error.
    static func addTable(_ left: inout Operation, addTable right: inout Operation) throws(RuleViolation) {
        guard left.table == right.table else { return }
        if left.flags.contains(.embedded) != right.flags.contains(.embedded) {
            throw .schemaMismatch("whether the class is embedded")
        }
        if left.field != right.field { throw .schemaMismatch("the name of the primary key") }
        if left.type != right.type { throw .schemaMismatch("the type of the primary key") }
        if left.flags.contains(.nullable) != right.flags.contains(.nullable) {
            throw .schemaMismatch("whether the primary key may be null")
        }
        if left.flags.contains(.asymmetric) != right.flags.contains(.asymmetric) {
            throw .schemaMismatch("whether the class is asymmetric")
        }
        left.discard()
        right.discard()
    }

    /// 5.2 The class goes, whoever was later: what made it goes too.
    ///
    /// `A: EraseTable Dog`, `B: AddTable Dog -> gone`.
    static func eraseTable(_ erase: Operation, addTable: inout Operation) {
        if erase.table == addTable.table { addTable.discard() }
    }

    /// 5.3 Both sides have already erased it.
    ///
    /// `A: EraseTable Dog -> gone`, `B: EraseTable Dog -> gone`. What B did inside Dog is discarded by a nested rule.
    static func eraseTable(_ left: inout Operation, eraseTable right: inout Operation) {
        guard left.table == right.table else { return }
        left.discard()
        right.discard()
    }

    /// 5.4 A new column links to the class that the other side erases. A class cannot go while a column links to it, so
    /// the column is discarded, and the eraser's changeset erases it where it already exists, before the class.
    ///
    /// `A: AddColumn Person.dog Link->Dog -> gone`, `B: EraseTable Dog -> EraseColumn Person.dog, EraseTable Dog`.
    ///
    /// - Returns: whether the erasing side needs that EraseColumn in front.
    static func addColumn(_ add: inout Operation, eraseTableOfTarget erase: Operation) -> Bool {
        guard add.type == .link, add.linkTarget == erase.table else { return false }
        add.discard()
        return true
    }

    /// 5.5 Both sides add the same column: as 5.1. The key type of dictionaries is not compared; strings are the only
    /// one there is.
    ///
    /// `A: AddColumn Dog.age Int`, `B: AddColumn Dog.age Int`: both gone. `B: AddColumn Dog.age String`: an error.
    static func addColumn(_ left: inout Operation, addColumn right: inout Operation) throws(RuleViolation) {
        guard sameColumn(left, right) else { return }
        if left.type != right.type { throw .schemaMismatch("the type of the property") }
        if left.flags.contains(.nullable) != right.flags.contains(.nullable) {
            throw .schemaMismatch("whether the property may be null")
        }
        if left.collection != right.collection { throw .schemaMismatch("the kind of collection of the property") }
        if left.type == .link, left.linkTarget != right.linkTarget {
            throw .schemaMismatch("the class that the property links to")
        }
        left.discard()
        right.discard()
    }

    /// 5.6 The column goes, whoever was later.
    ///
    /// `A: EraseColumn Dog.age`, `B: AddColumn Dog.age -> gone`.
    static func eraseColumn(_ erase: Operation, addColumn: inout Operation) {
        if sameColumn(erase, addColumn) { addColumn.discard() }
    }

    /// 5.6 Both sides have already erased it.
    ///
    /// `A: EraseColumn Dog.age -> gone`, `B: EraseColumn Dog.age -> gone`.
    static func eraseColumn(_ left: inout Operation, eraseColumn right: inout Operation) {
        guard sameColumn(left, right) else { return }
        left.discard()
        right.discard()
    }

    /// 5.7 and D3: a change in a column that is gone would fail when applied, in whatever object and however deep.
    ///
    /// `A: EraseColumn Dog.age`, `B: Dog[1].age=3 -> gone`.
    static func eraseColumn(_ erase: Operation, change: inout Operation) {
        if sameColumn(erase, change) { change.discard() }
    }

    private static func sameColumn(_ a: Operation, _ b: Operation) -> Bool {
        a.table == b.table && a.field == b.field
    }
}
