import Foundation
import TestSupport
import Testing

@testable import DeviceSync

/// Mistakes of a program with typed objects stop it, with a message that names the rule.
@Suite(.hangGuard, .serialized)
struct MisuseTests {
    enum Mistake: String, CaseIterable, Codable, Sendable {
        case writeOutside, listOutside, addOutside, deleteOutside, primaryKey, twice, otherRealm, frozen, secondOwner,
            unknownClass
        case unknownProperty, wrongType, backlinks, deletedInWrite, query, keyPath, observeUnmanaged
        case nestedTooDeep, nestedInItself, nestedOneTooMany, nestedSet, setOfLists, nestedKey, replacedList,
            replacedSource
        case arrayTooLong, blockPredicate, unmanagedPredicate
        case mapKey, mapDollarKey, mapRemoval, mapLiteral, mapCreation, mapMerge, dynamicMapKey, dynamicMap, plainMapKey

        var message: String {
            switch self {
            case .writeOutside: "can be changed only in a write transaction"
            case .listOutside: "a list can be changed in a write transaction only"
            case .addOutside: "objects can be added in a write transaction only"
            case .deleteOutside: "objects can be deleted in a write transaction only"
            case .primaryKey: "the primary key '_id' cannot be changed"
            case .twice: "there is a City object with the primary key"
            case .otherRealm: "belongs to another realm"
            case .frozen: "a frozen object cannot be changed"
            case .secondOwner: "has an owner already"
            case .unknownClass: "class Found is not in the realm's schema"
            case .unknownProperty: "class City has no property 'mayor'"
            case .wrongType: "property 'people' of class City: expected a value of type Int"
            case .backlinks: "follows the links to the object"
            case .deletedInWrite: "has been deleted or invalidated"
            case .query: "class City"
            case .arrayTooLong: "an array for class City can have 2 values"
            case .blockPredicate: "only predicates made by NSPredicate(format:)"
            case .unmanagedPredicate: "can be tried on objects of a realm only"
            case .keyPath: "does not lead to a @Persisted property"
            case .observeUnmanaged: "this one is unmanaged"
            case .nestedTooDeep, .nestedInItself: "can be nested 100 levels deep"
            case .nestedOneTooMany: "lists and dictionaries nested deeper than 100 levels"
            case .nestedSet: "property 'content' of class Note: an AnyRealmValue cannot hold a Set<Int>"
            case .setOfLists: "a set holds only scalars and links"
            case .nestedKey, .mapKey, .mapRemoval, .mapLiteral, .mapCreation, .mapMerge, .dynamicMapKey, .dynamicMap,
                .plainMapKey:
                #"Dictionary::insert: key must not contain '.': "a.b""#
            case .mapDollarKey: #"Dictionary::insert: key must not start with '$': "$a""#
            case .replacedList: "a list that was in 'content' of a Note object is gone"
            case .replacedSource: "the list or dictionary is gone"
            }
        }

        func make() throws {
            let (folder, other) = (Folder(), Folder())
            let realm = try folder.models()
            let city = City(value: ["_id": "Graz"])
            let person = Person(value: ["_id": 1, "home": ["name": "x"], "dogs": [["name": "a"]]])
            try realm.write {
                realm.add(city)
                realm.add(person)
            }
            switch self {
            case .writeOutside: city.people = 1
            case .listOutside: person.tags.append("x")
            case .addOutside: realm.add(City(value: ["_id": "Linz"]))
            case .deleteOutside: realm.delete(city)
            case .primaryKey: try realm.write { city._id = "Linz" }
            case .twice: try realm.write { realm.add(City(value: ["_id": "Graz"])) }
            case .otherRealm:
                let second = try other.models()
                try second.write { second.add(city) }
            case .frozen:
                let frozen = city.freeze()
                try realm.write { frozen.people = 1 }
            case .secondOwner:
                try realm.write { realm.create(Person.self, value: ["_id": 2]).home = person.home }
            case .unknownClass: _ = realm.objects(ModelTests.Found.self)
            case .unknownProperty: City()["mayor"] = 1
            case .arrayTooLong: _ = City(value: ["Graz", 1, 2])
            case .blockPredicate:
                let block = NSPredicate { _, _ in true }
                let compound = NSCompoundPredicate(andPredicateWithSubpredicates: [NSPredicate(value: true), block])
                _ = realm.objects(City.self).filter(compound)
            case .unmanagedPredicate: _ = NSPredicate(format: "people > 1").evaluate(with: City())
            case .wrongType: _ = City(value: ["people": "many"])
            case .backlinks:
                try realm.write { person.dogs.first?.owners = Dog().owners }
            case .deletedInWrite:
                try realm.write {
                    realm.delete(city)
                    _ = city.people
                }
            case .query: _ = realm.objects(City.self).filter("mayor == 1")
            case .keyPath: _ = realm.objects(Person.self).sorted(by: \.note)
            case .observeUnmanaged: _ = City().observe { (_: ObjectChange<City>) in }
            case .mapKey: try realm.write { person.scores["a.b"] = 1 }
            case .mapDollarKey: try realm.write { person.scores["$a"] = 1 }
            case .mapRemoval: try realm.write { person.scores.removeObject(for: "a.b") }
            case .mapLiteral: try realm.write { person.scores = ["a.b": 1] }
            case .mapCreation: try realm.write { realm.create(Person.self, value: ["_id": 3, "scores": ["a.b": 1]]) }
            case .mapMerge: try realm.write { person.scores.merge([("a.b", 1)]) { $1 } }
            case .dynamicMapKey:
                let dynamic = realm.dynamicObjects("Person").first?["scores"] as? DynamicMap
                try realm.write { dynamic?["a.b"] = 1 }
            case .dynamicMap:
                try realm.write { realm.dynamicObjects("Person").first?["scores"] = ["a.b": 1] }
            case .plainMapKey: Person().scores["a.b"] = 1
            default: try makeNested(realm)
            }
        }

        private func makeNested(_ realm: Realm) throws {
            func nested(_ levels: Int) -> AnyRealmValue { (1..<levels).reduce([]) { value, _ in [value] } }
            let note = try realm.write { realm.create(Note.self, value: ["_id": "a", "content": nested(100)]) }
            let list = note.content.listValue
            try realm.write {
                switch self {
                case .nestedTooDeep: note.content = nested(101)
                case .nestedInItself:
                    let list = List<AnyRealmValue>()
                    list.append(.list(list))
                    note.content = .list(list)
                case .nestedOneTooMany:
                    var innermost = try #require(list)
                    while let next = innermost.first?.listValue { innermost = next }
                    innermost.append([])
                case .nestedSet: note["content"] = Set([1])
                case .setOfLists: realm.create(Scalars.self, value: ["_id": UUID(), "anySet": [[1]]])
                case .nestedKey: note.content = ["x": ["a.b": 1]]
                case .replacedList:
                    note.content = 1
                    list?.append(2)
                case .replacedSource:
                    note.content = 1
                    note.list.append(.list(try #require(list)))
                default: break
                }
            }
        }
    }

    @Test(arguments: Mistake.allCases)
    func aMistakeStopsTheProgramAndNamesTheRule(mistake: Mistake) async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            [mistake = mistake as Mistake] in
            try mistake.make()
            exit(0)
        }
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        expectTrue(text.contains(mistake.message), "\(text.prefix(600))")
    }
}
