import SyncModel

/// Rules for the common cases, by name. A document may name one instead of the rules themselves; what is stored is what the name
/// stands for (docs/rules.md, "Templates").
package enum RuleTemplates {
    /// The kind of value that a template stands for.
    package enum Kind: String, Sendable {
        case document = "a whole document"
        case partition = "partition rules"
        case roles = "roles"
    }

    struct Template: Sendable {
        /// The parameters that it takes, with the values that they have if none is given.
        var parameters: [String: String] = [:]
        /// The parameters that name properties which must be queryable.
        var properties: [String] = []
        var json: @Sendable ([String: String]) -> JSONValue

        func expand(_ parameters: [String: String]) -> Expansion {
            Expansion(json: json(parameters), properties: Set(properties.compactMap { parameters[$0] }))
        }
    }

    struct Expansion: Sendable {
        var json: JSONValue
        /// Properties that must be queryable for it.
        var properties: Set<String>
    }

    /// Returns the names of all templates of a kind, in alphabetical order.
    package static func names(of kind: Kind) -> [String] { templates(of: kind).keys.sorted() }

    static func named(_ name: String, _ kind: Kind) -> Template? { templates(of: kind)[name] }

    private static func templates(of kind: Kind) -> [String: Template] {
        switch kind {
        case .document: documents
        case .partition: partitions
        case .roles: roles
        }
    }

    // MARK: Documents

    private static let documents = [
        "open": document("open", "readAndWriteAll"), "own": document("own", "readOwnWriteOwn"),
        "read": document("read", "readAll"), "none": document("none", "denyAll"),
    ]

    private static func document(_ partition: String, _ roles: String) -> Template {
        fixed(["partition": .string(partition), "defaultRoles": .string(roles)])
    }

    // MARK: Partition rules

    private static let partitions = [
        "open": fixed(["read": true, "write": true]),
        "read": fixed(["read": true, "write": false]),
        "none": fixed(["read": false, "write": false]),
        "own": fixed(["read": ownPartition, "write": ownPartition]),
        "ownOrPublic": Template(parameters: ["public": "PUBLIC"]) { parameters in
            let either: JSONValue = .array([.string(parameters["public", default: "PUBLIC"]), "%%user.id"])
            return ["read": ["%%partition": ["$in": either]], "write": ownPartition]
        },
        "listed": Template(parameters: ["readList": "readPartitions", "writeList": "writePartitions"]) { parameters in
            func listed(_ parameter: String) -> JSONValue {
                .object(["%%user.custom_data.\(parameters[parameter, default: parameter])": "%%partition"])
            }
            return ["read": listed("readList"), "write": listed("writeList")]
        },
    ]

    private static let ownPartition: JSONValue = ["%%user.id": "%%partition"]

    // MARK: Roles

    private static let roles = [
        "denyAll": fixed([role("denyAll", read: false, write: false, mayRead: false, mayWrite: false)]),
        "readAll": fixed([role("readAll", read: true, write: false, mayWrite: false)]),
        "readAndWriteAll": fixed([role("readAndWriteAll", read: true, write: true)]),
        "readAllWriteOwn": Template(parameters: owner, properties: ["ownerField"]) { parameters in
            [role("readAllWriteOwn", read: true, write: own(parameters))]
        },
        "readOwnWriteOwn": Template(parameters: owner, properties: ["ownerField"]) { parameters in
            [role("readOwnWriteOwn", read: own(parameters), write: own(parameters))]
        },
        "ownOrAdmin": Template(parameters: owner.merging(admin) { $1 }, properties: ["ownerField"]) { parameters in
            [
                role("admin", when: isAdmin(parameters), read: true, write: true),
                role("owner", read: own(parameters), write: own(parameters)),
            ]
        },
        "collaborators": Template(
            parameters: owner.merging(["listField": "collaborators"]) { $1 }, properties: ["ownerField", "listField"]
        ) { parameters in
            let listed: JSONValue = .object([parameters["listField", default: "collaborators"]: "%%user.id"])
            let either: JSONValue = ["$or": .array([own(parameters), listed])]
            return [role("collaborator", read: either, write: either)]
        },
        "team": Template(
            parameters: owner.merging(admin) { $1 }.merging(["teamField": "team"]) { $1 },
            properties: ["ownerField", "teamField"]
        ) { parameters in
            let field = parameters["teamField", default: "team"]
            let team: JSONValue = .object([field: .string("%%user.custom_data.\(field)")])
            return [
                role("teamAdmin", when: isAdmin(parameters), read: team, write: team),
                role("teamMember", read: team, write: own(parameters)),
            ]
        },
    ]

    private static let owner = ["ownerField": "owner_id"]
    private static let admin = ["adminFlag": "isAdmin"]

    private static func own(_ parameters: [String: String]) -> JSONValue {
        .object([parameters["ownerField", default: "owner_id"]: "%%user.id"])
    }

    private static func isAdmin(_ parameters: [String: String]) -> JSONValue {
        .object(["%%user.custom_data.\(parameters["adminFlag", default: "isAdmin"])": true])
    }

    private static func role(
        _ name: String, when: JSONValue = .object([:]), read: JSONValue, write: JSONValue, mayRead: Bool = true,
        mayWrite: Bool = true
    ) -> JSONValue {
        [
            "name": .string(name), "apply_when": when, "document_filters": ["read": read, "write": write],
            "read": .bool(mayRead), "write": .bool(mayWrite), "insert": .bool(mayWrite), "delete": .bool(mayWrite),
            "search": .bool(mayRead),
        ]
    }

    private static func fixed(_ json: JSONValue) -> Template { Template { _ in json } }
}
