import Changesets
import SeededRandom

/// Changesets that strangers upload, as bytes.
enum Writes {
    /// The time stamp of a client's first version, in milliseconds since 2015.
    static let epoch: UInt64 = 340_000_000_000

    /// A class with an integer key, a number, a text and a list of integers.
    static func schema(_ name: String = "Thing") -> [UInt8] {
        var strings = InternTable()
        let table = strings.intern(ByteString(name))
        let key = strings.intern("_id")
        func column(_ name: ByteString, _ type: PayloadType, _ collection: CollectionType = .single) -> Instruction {
            .addColumn(
                .init(table: table, field: strings.intern(name), type: type, nullable: false, collection: collection))
        }
        let instructions = [
            .addTable(
                .init(
                    table: table, kind: .topLevel(keyField: key, keyType: .int, keyNullable: false, asymmetric: false))),
            column("count", .int), column("text", .string), column("items", .int, .list),
        ]
        return Changeset(strings: strings, instructions: instructions).encoded()
    }

    /// A class `Task` with an integer key and texts of these names.
    static func texts(_ names: [String]) -> [UInt8] {
        var strings = InternTable()
        let table = strings.intern("Task")
        let key = strings.intern("_id")
        let columns = names.map { name in
            Instruction.addColumn(
                .init(
                    table: table, field: strings.intern(ByteString(name)), type: .string, nullable: true,
                    collection: .single))
        }
        let made = Instruction.addTable(
            .init(table: table, kind: .topLevel(keyField: key, keyType: .int, keyNullable: false, asymmetric: false)))
        return Changeset(strings: strings, instructions: [made] + columns).encoded()
    }

    /// A class of its own with so many columns.
    static func columns(_ count: Int, of name: String) -> [UInt8] {
        var strings = InternTable()
        let table = strings.intern(ByteString(name))
        let key = strings.intern("_id")
        var instructions: [Instruction] = [
            .addTable(
                .init(
                    table: table, kind: .topLevel(keyField: key, keyType: .int, keyNullable: false, asymmetric: false)))
        ]
        for number in 0..<count {
            instructions.append(
                .addColumn(
                    .init(
                        table: table, field: strings.intern(ByteString("column\(number)")), type: .int, nullable: false,
                        collection: .single)))
        }
        return Changeset(strings: strings, instructions: instructions).encoded()
    }

    /// Makes the object if it is not there, and sets its number.
    static func put(_ object: Int, count: Int) -> [UInt8] {
        build { thing in
            [
                .createObject(table: thing.table, object: .int(Int64(object))),
                thing.update(object, "count", .int(Int64(count))),
            ]
        }
    }

    /// Makes the object, with a text of so many bytes that compress to next to nothing.
    static func text(_ object: Int, bytes: Int) -> [UInt8] {
        text(object, ByteString([UInt8](repeating: 0x78, count: bytes)))
    }

    /// Makes the object, with a text.
    static func text(_ object: Int, _ text: ByteString) -> [UInt8] {
        build { thing in
            [
                .createObject(table: thing.table, object: .int(Int64(object))),
                thing.update(object, "text", .string(text)),
            ]
        }
    }

    /// Makes the object with a list of so many items.
    static func list(_ object: Int, size: Int) -> [UInt8] {
        build { thing in
            [.createObject(table: thing.table, object: .int(Int64(object)))]
                + (0..<size).map { thing.insert(object, at: $0, size: $0, Int64($0)) }
        }
    }

    /// Appends to a list, and then moves an item from its end to its beginning.
    static func appendsAndMove(_ object: Int, count: Int, to size: Int) -> [UInt8] {
        build { thing in
            (0..<count).map { thing.insert(object, at: size + $0, size: size + $0, Int64($0)) }
                + [thing.move(object, from: size + count - 1, to: 0, size: size + count)]
        }
    }

    /// Moves the first item to the second place and back.
    static func alternatingMoves(_ object: Int, count: Int, size: Int) -> [UInt8] {
        build { thing in
            (0..<count).map { thing.move(object, from: $0 % 2, to: 1 - $0 % 2, size: size) }
        }
    }

    private struct Thing {
        var strings = InternTable()
        let table: InternedString

        init() { table = strings.intern("Thing") }

        mutating func path(_ object: Int, _ field: ByteString, _ path: PathElements = []) -> FieldPath {
            FieldPath(table: table, object: .int(Int64(object)), field: strings.intern(field), path: path)
        }
        mutating func update(_ object: Int, _ field: ByteString, _ value: Payload) -> Instruction {
            .update(.init(target: path(object, field), value: value, qualifier: .isDefault(false)))
        }
        mutating func insert(_ object: Int, at index: Int, size: Int, _ value: Int64) -> Instruction {
            .arrayInsert(
                path(object, "items", PathElements(.index(UInt32(index)))), value: .int(value), priorSize: UInt32(size))
        }
        mutating func move(_ object: Int, from: Int, to: Int, size: Int) -> Instruction {
            .arrayMove(
                path(object, "items", PathElements(.index(UInt32(from)))), to: UInt32(to), priorSize: UInt32(size))
        }
    }

    private static func build(_ instructions: (inout Thing) -> [Instruction]) -> [UInt8] {
        var thing = Thing()
        let instructions = instructions(&thing)
        return Changeset(strings: thing.strings, instructions: instructions).encoded()
    }
}
