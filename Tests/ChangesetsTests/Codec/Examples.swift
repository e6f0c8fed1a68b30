import Changesets

extension ExampleTests {
    struct Example {
        var name: String
        var hex: String
        var changeset: Changeset

        init(
            _ name: String, _ hex: String, _ strings: [ByteString], _ instructions: Instruction...
        ) {
            self.name = name
            self.hex = hex
            var table = InternTable()
            for string in strings {
                _ = table.intern(string)
            }
            changeset = Changeset(strings: table, instructions: instructions)
        }
    }

    private static func s(_ index: UInt32) -> InternedString { InternedString(index) }

    private static func path(_ object: PrimaryKey, _ path: PathElement...) -> FieldPath {
        FieldPath(table: s(0), object: object, field: s(1), path: PathElements(path))
    }

    private static func update(
        _ path: FieldPath, _ value: Payload, _ qualifier: Instruction.Update.Qualifier = .isDefault(false)
    ) -> Instruction {
        .update(.init(target: path, value: value, qualifier: qualifier))
    }

    static let examples: [Example] = schemaExamples + objectExamples + valueExamples + collectionExamples

    private static let schemaExamples: [Example] = [
        Example(
            "E1", "3F0003466F6F 3F0102706B 00 00 00 01 01 01", ["Foo", "pk"],
            .addTable(
                .init(
                    table: s(0), kind: .topLevel(keyField: s(1), keyType: .int, keyNullable: true, asymmetric: false)))),
        Example("E2", "3F0005576865656C 00 00 01", ["Wheel"], .addTable(.init(table: s(0), kind: .embedded))),
        Example(
            "E3", "3F00034C6F67 3F01035F6964 00 00 02 01 0A 00", ["Log", "_id"],
            .addTable(
                .init(
                    table: s(0),
                    kind: .topLevel(keyField: s(1), keyType: .objectID, keyNullable: false, asymmetric: true)))),
        Example(
            "E4", "3F0003466F6F 3F0103666F6F 3F0203426172 06 00 01 09 00 01 02", ["Foo", "foo", "Bar"],
            .addColumn(
                .init(table: s(0), field: s(1), type: .link, nullable: false, collection: .list, linkTarget: s(2)))),
        Example(
            "E5", "3F000154 3F010164 06 00 01 00 01 02 03", ["T", "d"],
            .addColumn(
                .init(
                    table: s(0), field: s(1), type: .null, nullable: true, collection: .dictionary, keyType: .string))),
        Example(
            "E6", "3F000154 3F010161 3F0200 06 00 01 01 01 00", ["T", "a", ""],
            .addColumn(.init(table: s(0), field: s(1), type: .int, nullable: true, collection: .single))),
    ]

    private static let objectExamples: [Example] = [
        Example("E7", "3F0003466F6F 02 00 01 FB00", ["Foo"], .createObject(table: s(0), object: .int(123))),
        Example(
            "E8", "3F0003466F6F 3F010178 02 00 03 01", ["Foo", "x"], .createObject(table: s(0), object: .string(s(1)))),
        Example(
            "E9", "3F0003466F6F 02 00 40 02 05", ["Foo"],
            .createObject(table: s(0), object: .globalKey(high: 2, low: 5))),
        Example("E9 null", "3F0003466F6F 02 00 00", ["Foo"], .createObject(table: s(0), object: .null)),
        Example("E10", "3F0003466F6F 03 00 01 40", ["Foo"], .eraseObject(table: s(0), object: .int(-1))),
        Example(
            "E24", "3F000154 02000A0102030405060708090A0B0C 02000B101112131415161718191A1B1C1D1E1F", ["T"],
            .createObject(table: s(0), object: .objectID(.init(high: 0x0102_0304_0506_0708, low: 0x090A_0B0C))),
            .createObject(
                table: s(0), object: .uuid(.init(high: 0x1011_1213_1415_1617, low: 0x1819_1A1B_1C1D_1E1F)))),
    ]

    private static let valueExamples: [Example] = [
        Example(
            "E11", "3F0003466F6F 3F0103626172 04 00 01FB00 01 00 03 05 68656C6C6F 01", ["Foo", "bar"],
            update(path(.int(123)), .string("hello"), .isDefault(true))),
        Example(
            "E12", "3F0003466F6F3F010362617204000 1FB00 0101FB00 00 F403", ["Foo", "bar"],
            update(path(.int(123), .index(123)), .null, .priorSize(500))),
        Example(
            "E13", "3F0003466F6F 3F0103626172 3F02016B 04 00 0101 01 01 4002 43 00", ["Foo", "bar", "k"],
            update(path(.int(1), .key(s(2))), .erased)),
        Example(
            "E14", "3F000150 3F01016C 3F020151 3F030161 04 00 0107 01 00 09 02 0303 00", ["P", "l", "Q", "a"],
            update(path(.int(7)), .link(table: s(2), key: .string(s(3))))),
        Example(
            "E15", "3F0003466F6F3F01016E050001010100C040", ["Foo", "n"], .addInteger(path(.int(1)), delta: -65)),
        Example(
            "E21", "3F0001463F010174040001010100 05 40 FFC9B5EE41 00", ["F", "t"],
            update(path(.int(1)), .timestamp(.init(seconds: -1, nanoseconds: -500_000_000)))),
        Example(
            "E22", "3F0001463F010164040001010100 08 B9E000 41 01 00", ["F", "d"],
            update(
                path(.int(1)), .decimal(.init(high: 1 << 63 | UInt64(6176 - 2) << 49, low: 12345)))),
        Example(
            "E23", "3F000146 3F01016D 3F020167 04 00 0101 01 02 00 4002 44 00", ["F", "m", "g"],
            update(path(.int(1), .index(0), .key(s(2))), .list)),
    ]

    private static let collectionExamples: [Example] = [
        Example(
            "E16", "3F0003466F6F 3F01016C 3F020178 08 00 00 01 04 05 C000 4002 02 03026869 02", ["Foo", "l", "x"],
            .arrayInsert(
                path(.null, .index(5), .index(64), .key(s(2)), .index(2)), value: .string("hi"), priorSize: 2)),
        Example(
            "E17", "3F000143 3F010156 3F020177 08 00 0301 02 0100 41 00", ["C", "V", "w"],
            .arrayInsert(
                FieldPath(table: s(0), object: .string(s(1)), field: s(2), path: [.index(0)]), value: .objectValue,
                priorSize: 0)),
        Example(
            "E18", "3F0001463F01016C09000101010103 00 04", ["F", "l"],
            .arrayMove(path(.int(1), .index(3)), to: 0, priorSize: 4)),
        Example(
            "E18 erase", "3F0001463F01016C0A000101010103 04", ["F", "l"],
            .arrayErase(path(.int(1), .index(3)), priorSize: 4)),
        Example(
            "E19", "3F0001463F01016C0B00010101 00 01", ["F", "l"], .clear(path(.int(1)), collection: .list)),
        Example(
            "E20", "3F000146 3F010173 0C 00 0101 01 00 07 000000000000F83F", ["F", "s"],
            .setInsert(path(.int(1)), value: .double(bits: (1.5).bitPattern))),
        Example(
            "E20 erase", "3F0001463F0101730D000101010006000000C0", ["F", "s"],
            .setErase(path(.int(1)), value: .float(bits: Float(-2).bitPattern))),
    ]
}
