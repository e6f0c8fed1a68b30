import RealmState
import Rules
import SyncModel

@testable import Views

/// A query on a class of `PoolClass`, beside what it selects.
struct PoolQuery: Sendable {
    /// `#3` stands for the key of number 3.
    var text: String
    /// The properties that it looks at.
    var fields: Set<String>
    var selects: @Sendable (PoolObject, Int64) -> Bool

    func text(for pool: PoolClass) -> String {
        (1...4).reduce(text) { $0.replacing("#\($1)", with: pool.keyText(Int64($1))) }
    }

    static let all: [PoolQuery] = [
        PoolQuery(text: "TRUEPREDICATE", fields: []) { _, _ in true },
        PoolQuery(text: "FALSEPREDICATE", fields: []) { _, _ in false },
        PoolQuery(text: "owner_id == 'a1'", fields: ["owner_id"]) { object, _ in object.owner == "a1" },
        PoolQuery(text: "owner_id == ''", fields: ["owner_id"]) { object, _ in object.owner == "" },
        PoolQuery(text: "owner_id IN {'b2', 'c'}", fields: ["owner_id"]) { object, _ in
            ["b2", "c"].contains(object.owner)
        },
        PoolQuery(text: "owner_id == 'a1' and owner_id == 'b2'", fields: ["owner_id"]) { _, _ in false },
        PoolQuery(text: "NOT owner_id == 'c'", fields: ["owner_id"]) { object, _ in object.owner != "c" },
        PoolQuery(text: "owner_id BEGINSWITH 'a'", fields: ["owner_id"]) { object, _ in object.owner == "a1" },
        PoolQuery(text: "owner_id ==[c] 'A1'", fields: ["owner_id"]) { object, _ in
            ["a1", "A1"].contains(object.owner)
        },
        PoolQuery(text: "done == true", fields: ["done"]) { object, _ in object.done == true },
        PoolQuery(text: "done == false", fields: ["done"]) { object, _ in object.done == false },
        PoolQuery(text: "done == true and team == 'red'", fields: ["done", "team"]) { object, _ in
            object.done == true && object.team == "red"
        },
        PoolQuery(text: "owner_id == 'c' or team == 'blue'", fields: ["owner_id", "team"]) { object, _ in
            object.owner == "c" || object.team == "blue"
        },
        PoolQuery(text: "team == null", fields: ["team"]) { object, _ in object.team == nil },
        PoolQuery(text: "team != 'red'", fields: ["team"]) { object, _ in object.team != "red" },
        PoolQuery(text: "_id == #3", fields: []) { _, key in key == 3 },
        PoolQuery(text: "_id IN {#1, #4} and done == true", fields: ["done"]) { object, key in
            [1, 4].contains(key) && object.done == true
        },
    ]
}

/// The roles of a user, beside what they show.
struct PoolRole: Sendable {
    var text: String
    /// Nothing but `done` may be read, so that no query may look at anything else.
    var hides = false
    var shows: @Sendable (PoolObject) -> Bool

    static func all() throws -> [PoolRole] {
        func filters(_ read: String, write: String = "false") -> String {
            #"{"name": "r", "apply_when": {}, "read": true, "write": true,"#
                + #" "document_filters": {"read": \#(read), "write": \#(write)}}"#
        }
        let own = #"{"owner_id": "%%user.id"}"#
        let team = #"{"team": "%%user.custom_data.team"}"#
        let onlyDone =
            #"{"name": "r", "apply_when": {}, "document_filters": {"read": true, "write": true}, "fields":"#
            + #" {"done": {"read": true, "write": true}}, "additional_fields": {"read": false, "write": false}}"#
        return [
            PoolRole(text: try ViewTests.roles(filters("true", write: "true"))) { _ in true },
            PoolRole(text: try ViewTests.roles(filters(own, write: own), user: "a1")) { $0.owner == "a1" },
            PoolRole(text: try ViewTests.roles(filters(own), user: "b2")) { $0.owner == "b2" },
            PoolRole(text: try ViewTests.roles(filters(own, write: team), user: "c", team: "red")) {
                $0.owner == "c" || $0.team == "red"
            },
            PoolRole(text: try ViewTests.roles(filters(#"{"$or": [\#(own), \#(team)]}"#), user: "b2", team: "blue")) {
                $0.owner == "b2" || $0.team == "blue"
            },
            PoolRole(text: try ViewTests.roles(filters(team), team: nil)) { _ in false },
            PoolRole(text: ClosedRoles.none.text) { _ in false },
            PoolRole(text: try ViewTests.roles(onlyDone), hides: true) { _ in true },
        ]
    }
}

/// What a session of a random history asks for: a query on some of the classes, and its user's roles.
struct PoolDefinition: Sendable {
    var queries: [PoolClass: PoolQuery]
    var role: PoolRole
    var version: UInt64

    var definition: ViewDefinition {
        let members = queries.sorted { $0.key.rawValue < $1.key.rawValue }.map { pool, query in
            #""\#(pool.name)": "\#(query.text(for: pool))""#
        }
        return ViewDefinition(
            version: version, queries: "{\(members.joined(separator: ", "))}", roles: role.text)
    }

    /// Whether the queries fit a schema, of which the first has no `team`, and look at nothing that the role hides.
    func fits(_ schema: Int) -> Bool {
        queries.values.allSatisfy { query in
            (schema > 0 || !query.fields.contains("team")) && (!role.hides || query.fields.isSubset(of: ["done"]))
        }
    }

    func selects(_ object: PoolObject?, _ slot: PoolSlot) -> Bool {
        guard let object, let query = queries[slot.pool] else { return false }
        return query.selects(object, slot.key) && role.shows(object)
    }
}
