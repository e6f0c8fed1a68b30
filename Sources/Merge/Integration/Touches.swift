package import Changesets

/// The places that a changeset touches, as far as a rule of the merge could act on it: the ground on which two changesets can meet.
///
/// A rule needs one of these in common (docs/merge.md, "The matrix"):
///
/// | instructions | meet on |
/// |---|---|
/// | CreateObject, EraseObject, every path instruction | the object: class and key |
/// | AddTable with AddTable | the class's name |
/// | AddColumn with AddColumn | the class's and the column's name |
/// | EraseTable, EraseColumn | anything in the class or column, and columns that link to the class |
///
/// The last row is not broken down: a changeset with such an instruction meets every other. No rule looks through a link,
/// and none gives an instruction another object, class or column than it had; the one that puts in an EraseColumn (5.4)
/// does so beside an EraseTable.
package struct Touches: Equatable, Sendable {
    /// Hashes, ascending, each once. Two that are equal by chance cost a look at a version more, and nothing else.
    package private(set) var keys: [UInt32] = []
    /// Erases a class or a column.
    package private(set) var isDestructive = false

    package init(keys: [UInt32] = [], isDestructive: Bool = false) {
        self.keys = keys
        self.isDestructive = isDestructive
    }

    /// Collects what one changeset touches, or several together.
    package init(of changesets: some Sequence<Changeset>) {
        for changeset in changesets { add(changeset) }
        keys.sort()
        var kept = 0
        for index in keys.indices where index == 0 || keys[index] != keys[kept - 1] {
            keys[kept] = keys[index]
            kept += 1
        }
        keys.removeLast(keys.count - kept)
    }

    private mutating func add(_ changeset: Changeset) {
        let strings = changeset.strings
        var last: (table: InternedString, object: PrimaryKey)?
        for instruction in changeset.instructions {
            switch instruction {
            case .addTable(let addTable): keys.append(TouchHash.table(addTable.table, strings))
            case .addColumn(let column): keys.append(TouchHash.column(column.table, column.field, strings))
            case .eraseTable, .eraseColumn: isDestructive = true
            case .createObject(let table, let object), .eraseObject(let table, let object):
                add(table, object, strings, &last)
            case .update(let update): add(update.target.table, update.target.object, strings, &last)
            case .addInteger(let path, _), .arrayInsert(let path, _, _), .arrayMove(let path, _, _),
                .arrayErase(let path, _), .clear(let path, _), .setInsert(let path, _), .setErase(let path, _):
                add(path.table, path.object, strings, &last)
            }
        }
    }

    /// The hash of the object that an instruction is on; nil if there is no single one.
    static func object(of instruction: Instruction, in changeset: Changeset) -> UInt32? {
        let target = instruction.target
        return target.object.map { TouchHash.object(target.table, $0, changeset.strings) }
    }

    private mutating func add(
        _ table: InternedString, _ object: PrimaryKey, _ strings: InternTable,
        _ last: inout (table: InternedString, object: PrimaryKey)?
    ) {
        // Most instructions follow another one for the same object.
        if let last, last == (table, object) { return }
        last = (table, object)
        keys.append(TouchHash.object(table, object, strings))
    }
}

/// Stored in digests, so it must never change.
private enum TouchHash {
    private enum Kind: UInt64 {
        case table = 1
        case column
        case nullKey, intKey, stringKey, globalKey, objectIDKey, uuidKey
    }

    static func table(_ table: InternedString, _ strings: InternTable) -> UInt32 {
        finish(name(table, strings), .table, 0, 0)
    }

    static func column(_ table: InternedString, _ field: InternedString, _ strings: InternTable) -> UInt32 {
        finish(name(table, strings), .column, 0, name(field, strings))
    }

    static func object(_ table: InternedString, _ key: PrimaryKey, _ strings: InternTable) -> UInt32 {
        let table = name(table, strings)
        switch key {
        case .null: return finish(table, .nullKey, 0, 0)
        case .int(let value): return finish(table, .intKey, 0, UInt64(bitPattern: value))
        case .string(let string): return finish(table, .stringKey, 0, name(string, strings))
        case .globalKey(let high, let low): return finish(table, .globalKey, high, low)
        case .objectID(let value): return finish(table, .objectIDKey, value.high, UInt64(value.low))
        case .uuid(let value): return finish(table, .uuidKey, value.high, value.low)
        }
    }

    /// FNV-1a. A number without a string is possible only with hostile input, and then fails later.
    private static func name(_ string: InternedString, _ strings: InternTable) -> UInt64 {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        strings[string]?.withUnsafeBytes { bytes in
            for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        }
        return hash
    }

    private static func finish(_ table: UInt64, _ kind: Kind, _ high: UInt64, _ low: UInt64) -> UInt32 {
        var hash = mix(table ^ kind.rawValue &* 0x9e37_79b9_7f4a_7c15)
        hash = mix(hash ^ high)
        hash = mix(hash &+ low)
        return UInt32(truncatingIfNeeded: hash >> 32)
    }

    private static func mix(_ value: UInt64) -> UInt64 {
        var value = (value ^ value >> 30) &* 0xbf58_476d_1ce4_e5b9
        value = (value ^ value >> 27) &* 0x94d0_49bb_1331_11eb
        return value ^ value >> 31
    }
}
