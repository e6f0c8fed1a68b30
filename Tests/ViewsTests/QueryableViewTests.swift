import Changesets
import Query
import RealmState
import Rules
import SyncModel
import TestSupport
import Testing

@testable import Views

/// Subscriptions look at queryable properties alone.
@Suite struct QueryableViewTests {
    @Test(
        arguments: [
            ("TRUEPREDICATE", nil), ("_id == 1", nil), ("name == 'a'", nil), ("name == 'a' and value == 1", "value"),
            ("value.a == 1", "value"), ("NOT (name == 'a' or value == 1)", "value"), ("value IN {1, 2}", "value"),
            ("location == NULL", "location"), ("location.type == 'Point'", "location"),
            ("branches.@count > 1", "branches"),
            ("location GEOWITHIN geoCircle([0, 0], 1)", "location"), ("parent == obj('Shop', 1)", "parent"),
            ("parent != NULL", "parent"), ("SUBQUERY(branches, $b, $b.type == 'x').@count > 0", "branches"),
            ("name IN {1}", nil), ("value + 1 > 2", "value"), ("2 < value", "value"),
        ] as [(String, String?)])
    func objectionNamesTheFieldThatIsNotQueryable(query: String, field: String?) throws {
        let queryable = try PlaceRealm.queryable(#"{"classes": {"Shop": ["name"]}}"#)
        let objection = try PlaceRealm.view(query).objection(by: queryable)
        expectEqual((objection == nil), (field == nil))
        if let field {
            // As clients' tests read it.
            expectEqual(
                objection?.message.hasPrefix("Invalid query: \"Shop\": key \"\(field)\" is not a queryable field"), true
            )
            expectEqual(objection?.className, "Shop")
            let named = try PlaceRealm.queryable(#"{"global": ["name", "\#(field)"]}"#)
            try expectTrue(PlaceRealm.view(query).objection(by: named) == nil)
        }
    }

    @Test func allOfThemAreNamed() throws {
        let view = try PlaceRealm.view("value == 1 or parent == NULL")
        expectEqual(view.fieldsNotQueryable(by: Queryable()), ["Shop": ["value", "parent"]])
        let text = try #require(view.objection(by: Queryable())?.message)
        expectTrue(text.contains("key \"parent\" is not a queryable field, key \"value\" is not a queryable field"))
    }

    /// Every query has to say which of the indexed property's values it is about.
    @Test(arguments: [
        ("name == 'a'", true), ("name IN {'a', 'b'}", true), ("'a' == name", true), ("name == 'a' and _id > 3", true),
        ("_id > 3 and (name == 'a' or name == 'b' and _id < 9)", true),
        ("(name == 'a') or (name == 'b' and _id == 1)", true),
        ("FALSEPREDICATE", true), ("name IN {1}", true), ("name == NULL", true),
        ("name == 'a' and NOT name == 'b'", true),
        ("TRUEPREDICATE", false), ("_id == 1", false), ("name == 'a' or _id == 1", false), ("NOT name == 'a'", false),
        ("name != 'a'", false), ("name == NONE {'a', 'b'}", false), ("name ==[c] 'a'", false),
        ("name BEGINSWITH 'a'", false),
        ("name > 'a'", false),
    ])
    func theIndexedPropertyIsCompared(query: String, isTaken: Bool) throws {
        let objection = try PlaceRealm.view(query).objection(by: try PlaceRealm.queryable(#"{"indexed": "name"}"#))
        expectEqual((objection == nil), isTaken)
        expectTrue(objection?.message.contains("must compare the indexed queryable field \"name\"") ?? true)
        // A class that has no such property is not concerned.
        let other = try PlaceRealm.queryable(#"{"global": ["name"], "indexed": "owner"}"#)
        try expectTrue(PlaceRealm.view(query).objection(by: other) == nil)
    }

    /// Clients write a number that a mixed property is compared with in six digits.
    @Test func queriesThatDifferInDigitsSelectOtherObjects() throws {
        let first = try #require(try PlaceRealm.view("value == 1.0000001")["Shop"])
        let second = try #require(try PlaceRealm.view("value == 1.0000002")["Shop"])
        expectEqual(first.query?.canonicalText, second.query?.canonicalText)
        expectTrue(!first.selectsLike(second) && first.selectsLike(first))
        let third = try #require(try PlaceRealm.view("name == 'a' and value == 1.0000001")["Shop"])
        expectTrue(third.selectsLike(try #require(try PlaceRealm.view("value == 1.0000001 and name == 'a'")["Shop"])))
    }
}
