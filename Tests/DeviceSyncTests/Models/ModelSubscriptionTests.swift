import Foundation
import TestSupport
import Testing

@testable import DeviceSync

/// Subscriptions to classes of models, without a server.
@Suite(.hangGuard)
struct ModelSubscriptionTests {
    private let device = FlexibleDevice()

    final class Reading: AsymmetricObject {
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
        @Persisted(primaryKey: true) var _id: ObjectId
        @Persisted var celsius: Double
        @Persisted var at: Street?
        @Persisted var city: City?
        @Persisted var seen: List<City>
        @Persisted var byName: Map<String, City?>
    }

    private func open() async throws -> Realm {
        _ = try await device.login()
        var configuration = try device.configuration()
        configuration.dynamicSchema = []
        configuration.objectTypes = [City.self, Dog.self, Person.self, Street.self, Reading.self]
        return try await Realm(configuration: configuration)
    }

    @Test func aSubscriptionIsToTheClassAndToWhatTheQuerySelects() async throws {
        let realm = try await open()
        let set = realm.subscriptions
        set.updateNow {
            set.append(QuerySubscription<City>(name: "all"))
            set.append(QuerySubscription<City> { $0.people > 5 })
            // The same, written otherwise.
            set.append(QuerySubscription<City>(where: "people > %d", 5))
            set.append(QuerySubscription<City>(where: NSPredicate(format: "people > 5")))
            set.append(QuerySubscription<Person>(name: "people") { $0.name.in(["a", "b"]) || $0.home.name == "x" })
        }
        expectEqual(set.map(\.objectClassName), ["City", "City", "Person"])
        expectEqual(set.map(\.queryString)[0...1], ["TRUEPREDICATE", "people > 5"])
        expectTrue(
            set.first(ofType: City.self) { $0.people > 5 }?.name == nil
                && set.first(ofType: Dog.self, where: "age > 1") == nil)
        expectEqual(set.first(ofType: Person.self) { $0.name.in(["a", "b"]) || $0.home.name == "x" }?.name, "people")
        set.updateNow {
            set.first(named: "people")?.updateQuery(toType: Person.self) { $0._id == 7 }
            set.first(named: "all")?.updateQuery(toType: City.self) { $0.people < 3 }
            set.remove(ofType: City.self) { $0.people > 5 }
        }
        expectEqual(set.map(\.queryString), ["people < 3", "_id == 7"])
        set.updateNow { set.removeAll(ofType: City.self) }
        expectEqual(set.map(\.name), ["people"])
    }

    @Test func aSubscriptionToACompoundPredicateSelectsWhatThatSays() async throws {
        let realm = try await open()
        let set = realm.subscriptions
        let (small, graz) = (NSPredicate(format: "people < %d", 5), NSPredicate(format: "_id == %@", "Graz"))
        let either = NSCompoundPredicate(orPredicateWithSubpredicates: [small, graz])
        let neither = NSCompoundPredicate(notPredicateWithSubpredicate: either)
        set.updateNow { set.append(QuerySubscription<City>(where: either), QuerySubscription<City>(where: neither)) }
        let texts = [#"(people < 5 or _id == "Graz")"#, #"!((people < 5 or _id == "Graz"))"#]
        expectEqual(set.map(\.queryString), texts)
        expectTrue(
            set.first(ofType: City.self, where: neither)?.queryString == texts[1]
                && set.first(ofType: City.self, where: small) == nil)
        let both = NSCompoundPredicate(andPredicateWithSubpredicates: [small, graz])
        set.updateNow {
            set.first(ofType: City.self, where: neither)?.updateQuery(to: both)
            set.remove(ofType: City.self, where: either)
        }
        expectEqual(set.map(\.queryString), [#"people < 5 and _id == "Graz""#])
    }

    @Test func objectsOfAsymmetricClassesAreMadeAndNotKept() async throws {
        let realm = try await open()
        try realm.write {
            realm.create(Reading.self, value: ["celsius": 21.5, "at": ["name": "High Street"]])
        }
        expectTrue(realm.isEmpty && realm.schema["Reading"]?.isAsymmetric == true)
    }

    @Test func objectsOfAsymmetricClassesLinkToOthers() async throws {
        let realm = try await open()
        let set = realm.subscriptions
        set.updateNow { set.append(QuerySubscription<City>(name: "all")) }
        let graz = City(value: ["_id": "Graz"])
        try realm.write {
            realm.add(graz)
            realm.create(
                Reading.self,
                value: ["celsius": 1.5, "city": graz, "seen": [graz, ["_id": "Linz"]], "byName": ["g": graz]])
        }
        // The object that came along is kept.
        expectEqual(realm.objects(City.self).map(\._id).sorted(), ["Graz", "Linz"])
        try realm.write { realm.delete(graz) }
        expectEqual(realm.objects(City.self).count, 1)
    }
}
