import Changesets
import Query
import RealmState
import TestSupport
import Testing

/// Properties that are called like words of the language, or that a program calls otherwise than the realm does.
@Suite struct QueryNameTests {
    private static let schema: QuerySchema = {
        let names: [ByteString] = [
            "any", "nil", "or", "obj", "T1", "O12", "first", "sort", "größe", "a b", "title", "label",
        ]
        let properties = names.enumerated().map { number, name in
            QueryProperty(
                name: name, type: .int, isNullable: false, slot: .column(ColumnID(rawValue: UInt32(number))),
                defaultValue: .int(Int64(number)))
        }
        return QuerySchema([QueryClass(name: "Words", isEmbedded: false, properties: properties)])
    }()

    private func selects(_ text: String) throws(QueryError) -> Bool {
        try ObjectQuery(ByteString(text), on: "Words", schema: Self.schema).matches(StoredObject(), key: .int(1))
    }

    @Test(arguments: [
        ("owner", "owner"), ("any", "#any"), ("ALL", "#ALL"), ("nil", "#nil"), ("true", "#true"), ("in", "#in"),
        ("or", "#or"), ("obj", "#obj"), ("subquery", "#subquery"), ("O12", "#O12"), ("inf", "#inf"), ("first", "first"),
        ("contains", "contains"), ("T1", "T1"), ("größe", "größe"), ("a b", "a\\ b"), ("$x", "$x"),
        ("$0", "#$0"),
    ])
    func aNameIsWrittenSoThatItIsRead(name: String, text: String) {
        expectEqual(QueryNames.text(ByteString(name)), text)
    }

    @Test(arguments: ["", "a.b", "a == 1 or b", "1a", "'a'", "a[0]", "@count", "#any", "a)"])
    func whatIsNoNameIsNotWritten(name: String) {
        expectEqual(QueryNames.text(ByteString(name)), nil)
    }

    @Test func markedNamesAreProperties() throws {
        try expectTrue(selects("#any == 0 and #nil == 1 and #or == 2 or #obj == 99"))
        try expectTrue(selects("#obj == 3 and T1 == 4 and #O12 == 5 and first == 6 and #first == 6"))
        try expectTrue(selects("#größe == 8 and #a\\ b == 9"))
    }

    @Test func whatIsSentNamesTheProperty() throws {
        let query = try ObjectQuery("#any == 1 and #obj > 2 and sort == 3", on: "Words", schema: Self.schema)
        expectEqual(query.exactText, "sort == 3 and #any == 1 and #obj > 2")
        expectEqual(query.canonicalText, "sort == 3 and any == 1 and obj > 2")
    }
}
