import Changesets
import Messages

/// Changesets of a class `Task` with an integer key, a title and a list of tags.
enum Changes {
    static func schema() -> [UInt8] {
        make { strings in
            let table = strings.intern("Task")
            return [
                .addTable(
                    .init(
                        table: table,
                        kind: .topLevel(
                            keyField: strings.intern("_id"), keyType: .int, keyNullable: false, asymmetric: false))),
                .addColumn(
                    .init(
                        table: table, field: strings.intern("title"), type: .string, nullable: false,
                        collection: .single)),
                .addColumn(
                    .init(
                        table: table, field: strings.intern("tags"), type: .string, nullable: false, collection: .list)),
            ]
        }
    }

    static func addColumn(_ name: ByteString, _ type: PayloadType) -> [UInt8] {
        make { strings in
            [
                .addColumn(
                    .init(
                        table: strings.intern("Task"), field: strings.intern(name), type: type, nullable: false,
                        collection: .single))
            ]
        }
    }

    static func eraseColumn(_ name: String) -> [UInt8] {
        make { strings in [.eraseColumn(table: strings.intern("Task"), field: strings.intern(ByteString(name)))] }
    }

    static func eraseTable(_ name: String) -> [UInt8] {
        make { strings in [.eraseTable(table: strings.intern(ByteString(name)))] }
    }

    static func create(_ key: Int64, title: String = "") -> [UInt8] {
        make { strings in
            let table = strings.intern("Task")
            return [
                .createObject(table: table, object: .int(key)),
                .update(
                    .init(
                        target: FieldPath(table: table, object: .int(key), field: strings.intern("title")),
                        value: .string(ByteString(title)), qualifier: .isDefault(false))),
            ]
        }
    }

    static func set(_ key: Int64, title: String) -> [UInt8] {
        make { strings in
            [
                .update(
                    .init(
                        target: FieldPath(
                            table: strings.intern("Task"), object: .int(key), field: strings.intern("title")),
                        value: .string(ByteString(title)), qualifier: .isDefault(false)))
            ]
        }
    }

    static func insertTag(_ key: Int64, _ tag: String, at index: UInt32, of size: UInt32) -> [UInt8] {
        make { strings in
            [
                .arrayInsert(
                    FieldPath(
                        table: strings.intern("Task"), object: .int(key), field: strings.intern("tags"),
                        path: [.index(index)]), value: .string(ByteString(tag)), priorSize: size)
            ]
        }
    }

    /// The first two of at least four tags change places over and over; or the two behind them do.
    static func swapTags(_ key: Int64, first: UInt32, times: Int, of size: UInt32) -> [UInt8] {
        make { strings in
            (0..<UInt32(times)).map { time in
                .arrayMove(
                    FieldPath(
                        table: strings.intern("Task"), object: .int(key), field: strings.intern("tags"),
                        path: [.index(first + time % 2)]), to: first + 1 - time % 2, priorSize: size)
            }
        }
    }

    static func erase(_ key: Int64) -> [UInt8] {
        make { strings in [.eraseObject(table: strings.intern("Task"), object: .int(key))] }
    }

    private static func make(_ body: (inout InternTable) -> [Instruction]) -> [UInt8] {
        var strings = InternTable()
        let instructions = body(&strings)
        return Changeset(strings: strings, instructions: instructions).encoded()
    }
}
