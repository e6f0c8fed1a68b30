import Foundation
import TestSupport
import Testing

@testable import DeviceSync

/// Predicates as programs for Realm Swift write them: that they select what they say.
@Suite(.hangGuard)
struct PredicateTests {
    /// Names in the realm differ from those in Swift, two of them crosswise; others are words of formats.
    final class Keeper: TestObject {
        @Persisted(primaryKey: true) var _id: Int
        @Persisted var label: String
        @Persisted var title: String
        @Persisted var wards: List<Ward>
        @Persisted var wardSet: MutableSet<Ward>
        @Persisted var wardMap: Map<String, Ward?>
        @Persisted var firstWard: Ward?
        @Persisted var dates: List<Date>
        @Persisted var tags: List<String>
        @Persisted var numbers: List<Int>
        @Persisted var key: UUID?
        @Persisted var anything: AnyRealmValue
        @Persisted var any: Int
        @Persisted var all: Int
        @Persisted var none: Int
        @Persisted var some: Int
        @Persisted var obj: String
        @Persisted var `in`: Int
        @Persisted var not: Int
        @Persisted var first: Int

        override class func propertiesMapping() -> [String: String] {
            ["label": "title", "title": "label", "wards": "theWards"]
        }
    }

    final class Ward: TestObject {
        @Persisted(primaryKey: true) var _id: String
        @Persisted var age: Int
        @Persisted var weight: Double
        @Persisted var born: Date
        @Persisted var isWell: Bool
        @Persisted var nick: String?
        @Persisted var any: Int
        @Persisted(originProperty: "wards") var keepers: LinkingObjects<Keeper>
        @Persisted(originProperty: "firstWard") var firstKeepers: LinkingObjects<Keeper>
    }

    private let folder = Folder()
    private let realm: Realm
    private let keepers: Results<Keeper>
    private let wards: Results<Ward>

    init() throws {
        realm = try Realm(
            configuration: Realm.Configuration(fileURL: folder.file, objectTypes: [Keeper.self, Ward.self]))
        keepers = realm.objects(Keeper.self)
        wards = realm.objects(Ward.self)
        try realm.write { [realm] in
            let wards = [("a", 1, "na"), ("b", 5, "nb"), ("c", 9, nil)].map { (id: String, age: Int, nick: String?) in
                let born = Date(timeIntervalSince1970: Double(age))
                let values: [String: Any?] = [
                    "_id": id, "age": age, "weight": Double(age), "born": born, "isWell": age > 3, "nick": nick,
                    "any": age,
                ]
                return realm.create(Ward.self, value: values as Any)
            }
            realm.create(
                Keeper.self,
                value: [
                    "_id": 1, "label": "L1", "title": "T1", "wards": [wards[0], wards[2]], "wardSet": [wards[0]],
                    "wardMap": ["x": wards[2]], "firstWard": wards[1], "tags": ["Ärger", "b"], "numbers": [1, 9],
                    "dates": [1, 7].map { Date(timeIntervalSince1970: $0) },
                    "key": "85D4FBEE-6EC6-47DF-BFA1-615931903D7E", "anything": 1, "any": 1, "all": 2, "none": 3,
                    "some": 4, "obj": "o", "in": 5, "not": 6, "first": 7,
                ])
            realm.create(
                Keeper.self,
                value: [
                    "_id": 2, "label": "L2", "title": "T2", "wards": [wards[1]], "wardSet": [wards[1], wards[2]],
                    "tags": ["it's", ""], "anything": true,
                ])
        }
    }

    private func ids(_ format: String, _ args: Any...) -> [Int] {
        keepers.filter(NSPredicate(format: format, argumentArray: args)).map(\._id)
    }

    private func wardIds(_ format: String, _ args: Any...) -> String {
        wards.filter(NSPredicate(format: format, argumentArray: args)).map(\._id).joined()
    }

    // MARK: Compound predicates

    @Test func compoundPredicatesSelectWhatTheyPutTogether() throws {
        func ids(_ predicate: NSPredicate) -> String { wards.filter(predicate).map(\._id).joined() }
        let (old, well, named) = (
            NSPredicate(format: "age > %d", 4), NSPredicate(format: "isWell == %@", true),
            NSPredicate(format: "nick != nil")
        )
        func and(_ parts: NSPredicate...) -> NSPredicate { NSCompoundPredicate(andPredicateWithSubpredicates: parts) }
        func or(_ parts: NSPredicate...) -> NSPredicate { NSCompoundPredicate(orPredicateWithSubpredicates: parts) }
        func not(_ part: NSPredicate) -> NSPredicate { NSCompoundPredicate(notPredicateWithSubpredicate: part) }
        expectTrue(ids(and(old, named)) == "b" && ids(and(named, old)) == "b" && ids(and(old, well)) == "bc")
        expectTrue(ids(or(not(well), not(named))) == "ac" && ids(or(NSPredicate(format: "age == 1"), old)) == "abc")
        expectTrue(ids(not(old)) == "a" && ids(not(not(old))) == "bc" && ids(not(and(old, named))) == "ac")
        expectTrue(ids(not(or(NSPredicate(format: "_id == 'a'"), NSPredicate(format: "_id == 'c'")))) == "b")
        expectTrue(ids(and()) == "abc" && ids(or()) == "" && ids(not(and())) == "" && ids(not(or())) == "abc")
        expectTrue(ids(and(old)) == "bc" && ids(or(old)) == "bc" && ids(and(and(or(old)), and())) == "bc")
        expectTrue(
            ids(and(old, NSPredicate(value: true))) == "bc" && ids(or(named, NSPredicate(value: false))) == "ab")
        expectEqual(ids(NSCompoundPredicate(type: .or, subpredicates: [and(old, named), not(well)])), "ab")
        // Arguments stay with their predicate.
        expectEqual(
            ids(or(NSPredicate(format: "_id == %@", "a"), NSPredicate(format: "_id == $0", argumentArray: ["c"]))), "ac"
        )
    }

    @Test func compoundPredicatesSelectTheSameInEveryCollection() throws {
        let one = NSCompoundPredicate(
            andPredicateWithSubpredicates: [
                NSPredicate(format: "age > 0"),
                NSCompoundPredicate(notPredicateWithSubpredicate: NSPredicate(format: "age > %d", 4)),
            ])
        let keeper = try #require(keepers.first)
        expectTrue(keeper.wards.filter(one).map(\._id) == ["a"] && keeper.wardSet.filter(one).map(\._id) == ["a"])
        expectEqual(realm.dynamicObjects("Ward").filter(one).map { $0.primaryKey as? String }, ["a"])
        expectTrue(wards.index(matching: one) == 0 && keeper.wards.index(matching: one) == 0)
        expectTrue(wards.index(matching: "age > %d", 4) == 1 && wards.index(matching: "age > 9") == nil)
        let keepersOfOld = NSCompoundPredicate(
            notPredicateWithSubpredicate: NSPredicate(format: "ANY wards.age > 7"))
        expectEqual(wards.last?.keepers.filter(keepersOfOld).count, 0)
        expectEqual(wards.filter("_id == 'b'").first?.keepers.filter(keepersOfOld).map(\._id), [2])
        try realm.write { realm.delete(wards.filter(one)) }
        expectEqual(wards.map(\._id), ["b", "c"])
    }

    @Test func aLongChainOfPredicatesIsOneCondition() {
        let all = (0..<1_000).reduce(NSPredicate(value: true)) { chain, number in
            NSCompoundPredicate(
                andPredicateWithSubpredicates: [chain, NSPredicate(format: "age != %d", 100 + number)])
        }
        expectEqual(wards.filter(all).count, 3)
    }

    @Test func predicatesAreTriedOnObjects() throws {
        let old = NSPredicate(format: "age > %d", 4)
        let young = NSCompoundPredicate(notPredicateWithSubpredicate: old)
        let all = Array(wards)
        expectEqual(all.filter { old.evaluate(with: $0) }.map(\._id), ["b", "c"])
        expectEqual(all.filter { young.evaluate(with: $0) }.map(\._id), ["a"])
        expectTrue(NSPredicate(format: "ANY keepers.label == 'L1'").evaluate(with: all[0]))
        expectTrue(old.evaluate(with: realm.dynamicObjects("Ward")[2]))
        try realm.write { realm.delete(all[2]) }
        expectTrue(!old.evaluate(with: all[2]))
    }

    // MARK: Values

    @Test func betweenTakesAnArray() {
        expectTrue(
            wardIds("age BETWEEN %@", [2, 9]) == "bc" && wardIds("age BETWEEN %@", NSArray(array: [5, 5])) == "b")
        expectTrue(
            wardIds("weight BETWEEN %@", [0.5, 5]) == "ab"
                && wardIds("born BETWEEN %@", [Date(timeIntervalSince1970: 2), Date()]) == "bc")
        expectTrue(wardIds("NOT age BETWEEN $0", [2, 9]) == "a" && wardIds("age BETWEEN {%d, %d}", 2, 9) == "bc")
    }

    @Test func oneObjectHasToKeepBothBounds() {
        expectTrue(ids("ANY wards.age BETWEEN %@", [2, 8]) == [2] && ids("ANY wards.age BETWEEN {9, 10}") == [1])
        expectTrue(ids("NONE wards.age BETWEEN {2, 8}") == [1] && ids("ANY wardSet.weight BETWEEN {2, 8.5}") == [2])
        expectTrue(ids("firstWard.age BETWEEN {5, 6}") == [1] && wardIds("ANY keepers._id BETWEEN {2, 3}") == "b")
        expectEqual(keepers.where { $0.wards.age.contains(2...8) }.map(\._id), [2])
    }

    @Test func zeroAndOneStandForBooleans() {
        expectTrue(wardIds("isWell == 1") == "bc" && wardIds("isWell == 0") == "a" && wardIds("isWell != 1") == "a")
        expectTrue(wardIds("isWell == %@", 1) == "bc" && wardIds("isWell == %d", 0) == "a")
        expectTrue(wardIds("isWell IN %@", [1]) == "bc" && wardIds("isWell == %@", NSNumber(value: true)) == "bc")
        expectTrue(wardIds("age == %@", true) == "a" && wardIds("age == YES") == "a" && wardIds("1 == isWell") == "bc")
    }

    @Test func numbersOfFoundationAreWhatTheyAre() {
        expectTrue(wardIds("age == %@", NSNumber(value: 1)) == "a" && wardIds("age > %@", NSNumber(value: 4.5)) == "bc")
        expectTrue(wardIds("age IN %@", [NSNumber(value: 1), NSNumber(value: 9)]) == "ac")
        expectTrue(wardIds("weight == %@", NSNumber(value: 1)) == "a")
        expectTrue(
            ids("anything == %@", NSNumber(value: 1)) == [1] && ids("anything == %@", NSNumber(value: true)) == [2])
        expectTrue(wardIds("_id IN %@", NSArray(array: ["a", NSString(string: "c")])) == "ac")
        expectEqual(wardIds("_id IN %@", NSSet(array: ["b"])), "b")
        expectTrue(wardIds("nick == %@", NSNull()) == "c" && wardIds("nick == %@", Optional<String>.none as Any) == "c")
    }

    @Test func textStandsForAUUID() {
        expectTrue(ids("key == '85d4fbee-6ec6-47df-bfa1-615931903d7e'") == [1])
        expectTrue(ids("key IN %@", ["85d4fbee-6ec6-47df-bfa1-615931903d7e"]) == [1])
    }

    @Test(arguments: [
        "age == '3abc'", "weight == '1'", "isWell == 2", "isWell == 'true'", "age BETWEEN 3", "name == 1",
    ])
    func whatDoesNotFitIsRefused(text: String) {
        #expect(throws: Realm.Error.self) { try wards.filter(checking: text) }
    }

    // MARK: Names

    @Test func propertiesHaveTheNamesOfTheProgram() throws {
        expectTrue(ids("label == 'L1'") == [1] && ids("title == 'T2'") == [2] && ids("label == 'T1'").isEmpty)
        expectTrue(ids("wards.@count == 2") == [1] && ids("theWards.@count == 2") == [1])
        expectTrue(ids("%K == %@", "label", "L2") == [2] && wardIds("ANY keepers.title == 'T1'") == "ac")
        expectTrue(keepers.where { $0.label == "L1" }.count == 1 && wards.where { $0.keepers.label == "L1" }.count == 2)
        expectTrue(keepers.sorted(byKeyPath: "label", ascending: false).map(\.label) == ["L2", "L1"])
        expectTrue(keepers.sorted(by: \.title, ascending: false).map(\.title) == ["T2", "T1"])
        expectTrue(keepers.distinct(by: ["label"]).count == 2 && keepers.distinct(by: [\.title]).count == 2)
        let swapped = realm.dynamicObjects("Keeper").filter("label == 'L1'")
        expectEqual(swapped.map { $0.primaryKey as? Int }, [1])
        try realm.write { keepers.first?.title = "same" }
        try realm.write { keepers.last?.title = "same" }
        expectTrue(keepers.distinct(by: ["title"]).count == 1 && keepers.distinct(by: ["label"]).count == 2)
    }

    @Test func propertiesCalledLikeWordsOfFormatsAreProperties() throws {
        for (name, value) in [("any", 1), ("all", 2), ("none", 3), ("some", 4), ("in", 5), ("not", 6), ("first", 7)] {
            expectTrue(ids("%K == %d", name, value) == [1] && ids("#\(name) == \(value) AND _id < 9") == [1])
        }
        expectTrue(ids("%K == 'o' AND %K == 1", "obj", "any") == [1] && ids("#obj BEGINSWITH 'o'") == [1])
        expectTrue(ids("ANY wards.#any == 9") == [1] && ids("ANY %K > 4", "wards.any") == [1, 2])
        expectTrue(keepers.where { $0.any == 1 && $0.all == 2 && $0.none == 3 && $0.some == 4 }.map(\._id) == [1])
        expectTrue(keepers.where { $0.obj == "o" && $0.not == 6 && $0.first == 7 }.map(\._id) == [1])
        expectTrue(ids("wards.@sum.#any == 10") == [1] && ids("%K == 10", "wards.@sum.any") == [1])
        expectTrue(ids("SELF._id == 1 AND self.title == 'T1'") == [1])
    }

    @Test(arguments: ["_id == 1 OR any", "any == 1 OR _id", "", "wards[0]", "a b", "@count == 0 OR x"])
    func aKeyPathIsNeverMoreThanAKeyPath(path: String) {
        #expect(throws: Realm.Error.self) { try keepers.filter(checking: "%K != 99", path) }
    }

    @Test func whatLinksToAnObjectHasItsName() {
        expectTrue(wardIds("keepers.@count == 1") == "abc" && wardIds("firstKeepers.@count == 1") == "b")
        expectTrue(wardIds("ANY keepers._id == 2") == "b" && wardIds("ANY keepers.firstWard.age == 5") == "ac")
        expectTrue(wardIds("SUBQUERY(keepers, $k, $k._id == 1 AND $k.label == 'L1').@count > 0") == "ac")
        expectTrue(wardIds("keepers.@max._id == 2") == "b" && wardIds("ANY firstKeepers.wards.age > 8") == "b")
        expectTrue(ids("ANY wards.keepers._id == 2") == [2] && ids("ANY wards.firstKeepers.@count > 0") == [2])
        expectEqual(wards.where { ($0.keepers._id == 1).count == 1 }.map(\._id), ["a", "c"])
        expectEqual(wards.where { $0.firstKeepers.count > 0 }.map(\._id), ["b"])
    }

    // MARK: Collections

    @Test func subqueriesGoOverSetsAndMaps() {
        expectEqual(ids("SUBQUERY(wardSet, $w, $w.age > 4 AND $w.isWell == TRUE).@count == 2"), [2])
        expectEqual(ids("SUBQUERY(wardMap, $w, $w.age > 4).@count > 0"), [1])
        expectEqual(ids("SUBQUERY(wardMap.@allValues, $w, $w.age > 4).@count == 0"), [2])
        expectTrue(keepers.where { ($0.wardSet.age > 4).count == 1 }.isEmpty)
        expectEqual(keepers.where { ($0.wardSet.age > 4).count == 2 }.map(\._id), [2])
    }

    @Test func datesHaveALeastAndAGreatest() {
        let five = Date(timeIntervalSince1970: 5)
        expectTrue(ids("dates.@max > %@", five) == [1] && ids("dates.@min < %@", five) == [1])
        expectTrue(ids("dates.@max == nil") == [2] && ids("wards.@min.born == %@", five) == [2])
        expectEqual(keepers.where { $0.dates.max > five }.map(\._id), [1])
    }

    // MARK: Texts

    @Test func flagsIgnoreCaseAndMarks() {
        expectTrue(ids("ANY tags == 'arger'").isEmpty && ids("ANY tags ==[c] 'ärger'") == [1])
        expectTrue(ids("ANY tags ==[d] 'Arger'") == [1] && ids("ANY tags ==[d] 'arger'").isEmpty)
        expectTrue(ids("ANY tags ==[cd] 'ARGER'") == [1] && ids("ANY tags ==[DC] 'arger'") == [1])
        expectTrue(ids("ANY tags BEGINSWITH[cd] 'ar'") == [1] && ids("ANY tags CONTAINS[d] 'rgér'") == [1])
        expectTrue(ids("ANY tags ENDSWITH[cd] 'GER'") == [1] && ids("NONE tags CONTAINS[cd] 'a'") == [2])
        expectTrue(
            ids("label ==[cd] 'l1'") == [1] && ids("label !=[cd] 'l1'") == [2] && ids("label IN[c] {'l2'}") == [2])
        expectTrue(ids("label IN[cd] %@", ["l1", "x"]) == [1] && ids("label ==[c] {'l1', 'l2'}") == [1, 2])
        expectEqual(
            keepers.where { $0.label.equals("ĺ1", options: [.caseInsensitive, .diacriticInsensitive]) }.count, 1)
        expectEqual(keepers.where { $0.label.starts(with: "Ĺ", options: .diacriticInsensitive) }.count, 2)
        expectTrue(wardIds("nick ==[d] nil") == "c" && wardIds("nick !=[cd] 'na'") == "bc")
    }

    @Test func noTextContainsTheEmptyOne() {
        for op in ["CONTAINS", "BEGINSWITH", "ENDSWITH", "CONTAINS[c]", "BEGINSWITH[cd]", "ENDSWITH[d]"] {
            expectTrue(wardIds("nick \(op) ''") == "" && wardIds("nick \(op) %@", "") == "")
            expectTrue(wardIds("nick \(op) nil") == "" && wardIds("NOT nick \(op) ''") == "abc")
            expectTrue(ids("ANY tags \(op) ''").isEmpty && ids("firstWard.nick \(op) ''").isEmpty)
        }
        expectTrue(wardIds("_id CONTAINS nick") == "" && wardIds("nick CONTAINS _id") == "ab")
        expectTrue(wardIds("nick ENDSWITH _id") == "ab" && wardIds("NOT nick ENDSWITH _id") == "c")
        expectTrue(wards.where { $0.nick.contains("") }.isEmpty && wardIds("nick CONTAINS 'n'") == "ab")
    }

    @Test func escapesAreDecoded() {
        expectTrue(ids("ANY tags == 'it\\'s'") == [2] && ids("ANY tags == \"it's\"") == [2])
        expectTrue(ids("ANY tags == '\\u00c4rger'") == [1] && ids("ANY tags == 'it\\u0027s' AND _id == 2") == [2])
        expectEqual(ids("ANY tags IN {'x\\\\', 'it\\'s'}"), [2])
    }
}
