import Changesets
import Query
import RealmState

/// Two small classes and some objects, for queries made up by a fuzzer.
enum FuzzedClasses {
    static let item: ByteString = "Item"
    static let other: ByteString = "Other"
    static let arguments: [QueryArgument] = [
        .value(.int(2)), .value(.string("a")), .list([.int(1), .null, .string("a")]),
        .value(.double(bits: 1.5.bitPattern)),
        .value(.null), .value(.link(ObjectAddress(other, .int(1)))), .value(.bool(true)),
    ]

    static let schema = QuerySchema([
        type(
            item,
            [
                ("i", .int, .single, nil), ("s", .string, .single, nil), ("d", .double, .single, nil),
                ("f", .float, .single, nil),
                ("dec", .decimal, .single, nil), ("b", .bool, .single, nil), ("bin", .binary, .single, nil),
                ("t", .timestamp, .single, nil), ("mx", .mixed, .single, nil), ("li", .int, .list, nil),
                ("ls", .string, .list, nil),
                ("lm", .mixed, .list, nil), ("si", .int, .set, nil), ("dm", .mixed, .dictionary, nil),
                ("link", .link, .single, other),
                ("links", .link, .list, other), ("emb", .link, .single, "Emb"), ("doc", .string, .single, nil),
            ]),
        type(other, [("n", .int, .single, nil), ("name", .string, .single, nil), ("item", .link, .single, item)]),
        type("Emb", [("type", .string, .single, nil), ("coordinates", .double, .list, nil)], isEmbedded: true),
    ])

    static let realm = FuzzedRealm(schema: schema)

    static func objects(of className: ByteString) -> [QueryRow] { className == item ? items : others }

    fileprivate static let items: [QueryRow] = [
        row(
            0,
            [
                .int(2), .string("abc"), .double(bits: 1.5.bitPattern), .float(bits: Float(0.1).bitPattern),
                .decimal(Decimal128Value(high: 0x303E_0000_0000_0000, low: 15)), .bool(true),
                .binary([0xC3, 0x89, 0xFF]),
                .timestamp(TimestampValue(seconds: 5, nanoseconds: 6)),
                .dictionary(["a": .list([.int(1), .dictionary(["b": .null])])]), .list([.int(1), .int(2)]),
                .list([.string("É"), .string("")]),
                .list([.null, .list([.int(1)]), .link(ObjectAddress(other, .int(1)))]),
                .set([.int(1)]), .dictionary(["a": .int(1), "b": .string("x")]), .link(ObjectAddress(other, .int(1))),
                .list([.link(ObjectAddress(other, .int(1))), .link(ObjectAddress(other, .int(9)))]),
                .embedded(
                    StoredObject([
                        ColumnID(rawValue: 0): .string("Point"),
                        ColumnID(rawValue: 1): .list([.double(bits: 1.0.bitPattern), .double(bits: 2.0.bitPattern)]),
                    ])), .string("quick fox"),
            ]), row(1, []),
        row(
            2, [.int(.min), .null, .double(bits: Double.nan.bitPattern), .null, .null, .null, .null, .null, .int(.max)]),
    ]

    fileprivate static let others: [QueryRow] = [
        row(1, [.int(3), .string("a"), .link(ObjectAddress(item, .int(0)))]), row(2, []),
    ]

    private static func row(_ key: Int64, _ values: [Value]) -> QueryRow {
        var columns: [ColumnID: Value] = [:]
        for (index, value) in values.enumerated() { columns[ColumnID(rawValue: UInt32(index))] = value }
        return QueryRow(key: .int(key), object: StoredObject(columns))
    }

    private static func type(
        _ name: ByteString, _ properties: [(ByteString, QueryType, CollectionType, ByteString?)],
        isEmbedded: Bool = false
    ) -> QueryClass {
        var all = properties.enumerated().map { index, property in
            let empty: [CollectionType: Value] = [.list: .list([]), .set: .set([]), .dictionary: .dictionary([:])]
            return QueryProperty(
                name: property.0, type: property.1, collection: property.2, isNullable: true, target: property.3,
                isFullText: property.0 == "doc", slot: .column(ColumnID(rawValue: UInt32(index))),
                defaultValue: empty[property.2] ?? .null)
        }
        if !isEmbedded {
            all.append(QueryProperty(name: "_id", type: .int, isNullable: false, slot: .key, defaultValue: .null))
        }
        return QueryClass(name: name, isEmbedded: isEmbedded, properties: all)
    }
}

/// The objects of the made-up classes, for queries that follow links.
struct FuzzedRealm: QueryGraph {
    let schema: QuerySchema

    func object(at address: ObjectAddress) -> (any QueryObject)? {
        FuzzedClasses.objects(of: address.className).first { $0.key == address.key }?.object
    }

    func origins(of address: ObjectAddress, in className: ByteString, over column: ColumnID) -> [ObjectAddress] {
        FuzzedClasses.objects(of: className).flatMap { row -> [ObjectAddress] in
            let links: [Value] =
                switch row.object.value(of: column) {
                case .list(let items): items
                case .link(let target): [.link(target)]
                default: []
                }
            return links.filter { $0 == .link(address) }.map { _ in ObjectAddress(className, row.key) }
        }
    }

    func incomingLinkCount(of address: ObjectAddress) -> Int { address.key == .int(1) ? 2 : 0 }
}
