import Changesets
import RealmState

/// A realm with a column of every shape: object `T[1]` with everything at its default, and `U["a"]`.
enum SampleRealm {
    static let object = ObjectAddress("T", .int(1))
    static let target = ObjectAddress("U", .string("a"))

    static func at(_ field: ByteString, _ path: PathStep...) -> FieldAddress { FieldAddress(object, field, path) }

    static func schema(_ builder: inout ChangesetBuilder) {
        builder.table("T")
        builder.table("U", type: .string, nullable: true)
        builder.table("O", type: .objectID)
        builder.table("X", type: .uuid)
        builder.table("A", asymmetric: true)
        builder.table("G", key: "", type: .globalKey)
        builder.embedded("E")
        builder.column("T", "i", .int)
        builder.column("T", "ni", .int, nullable: true)
        builder.column("T", "s", .string)
        builder.column("T", "b", .bool)
        builder.column("T", "mx", .null, nullable: true)
        builder.column("T", "li", .int, .list)
        builder.column("T", "nli", .int, nullable: true, .list)
        builder.column("T", "lm", .null, nullable: true, .list)
        builder.column("T", "di", .int, .dictionary)
        builder.column("T", "ndi", .int, nullable: true, .dictionary)
        builder.column("T", "dm", .null, nullable: true, .dictionary)
        builder.column("T", "si", .int, .set)
        builder.column("T", "nss", .string, nullable: true, .set)
        builder.column("T", "sm", .null, nullable: true, .set)
        builder.column("T", "link", .link, nullable: true, target: "U")
        builder.column("T", "any", .link, nullable: true, target: "")
        builder.column("T", "ll", .link, .list, target: "U")
        builder.column("T", "dl", .link, nullable: true, .dictionary, target: "U")
        builder.column("T", "sl", .link, .set, target: "U")
        builder.column("T", "emb", .link, nullable: true, target: "E")
        builder.column("T", "lemb", .link, .list, target: "E")
        builder.column("T", "demb", .link, nullable: true, .dictionary, target: "E")
        builder.column("U", "back", .link, nullable: true, target: "T")
        builder.column("E", "v", .int)
        builder.column("E", "nums", .int, .list)
        builder.column("E", "inner", .link, nullable: true, target: "E")
        builder.column("E", "to", .link, nullable: true, target: "U")
    }

    static func make(
        _ compatibility: PeerCompatibility = .stockClients, indexingIncomingLinks: Bool = false
    ) throws -> RealmState {
        var state = RealmState(compatibility: compatibility, indexingIncomingLinks: indexingIncomingLinks)
        try state.apply { builder in
            schema(&builder)
            builder.create("T", object.key)
            builder.create("U", target.key)
        }
        return state
    }
}
