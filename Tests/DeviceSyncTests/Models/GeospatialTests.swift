import Foundation
import TestSupport
import Testing

@testable import DeviceSync

/// Places, areas and distances, and queries for what is inside.
@Suite(.hangGuard)
struct GeospatialTests {
    final class Location: TestPart {
        @Persisted var type = "Point"
        @Persisted var coordinates: List<Double>

        convenience init(_ latitude: Double, _ longitude: Double) {
            self.init()
            coordinates.append(objectsIn: [longitude, latitude])
        }
    }

    final class Shop: TestObject {
        @Persisted(primaryKey: true) var _id: String
        @Persisted var location: Location?
    }

    @Test func areasSelectWhatIsInside() throws {
        let realm = try Realm(
            configuration: Realm.Configuration(
                inMemoryIdentifier: UUID().uuidString, objectTypes: [Shop.self, Location.self]))
        try realm.write {
            for (name, place) in [
                ("Copenhagen", (55.6761, 12.5683)), ("Roskilde", (55.6280, 12.0826)), ("York", (40.7, -74)),
            ] {
                let shop = Shop(value: ["_id": name])
                shop.location = Location(place.0, place.1)
                realm.add(shop)
            }
            realm.create(Shop.self, value: ["_id": "nowhere"])
        }
        func inside(_ area: some RLMGeospatial) -> [String] {
            let found = realm.objects(Shop.self).where { $0.location.geoWithin(area) }.map(\._id)
            expectEqual(realm.objects(Shop.self).filter("location IN %@", area).map(\._id), found)
            expectEqual(realm.objects(Shop.self).filter(NSPredicate(format: "location IN %@", area)).map(\._id), found)
            return found
        }
        expectEqual(
            inside(try #require(GeoBox(bottomLeft: (55.62, 12), topRight: (55.7, 13)))), ["Copenhagen", "Roskilde"])
        let near = try #require(Distance.kilometers(10))
        expectEqual(inside(try #require(GeoCircle(center: (55.67, 12.56), radius: near))), ["Copenhagen"])
        let ring = [(55.0, 12.0), (55.67, 12.5), (55.67, 11.5), (55.0, 12.0)]
        expectEqual(inside(try #require(GeoPolygon(outerRing: ring))), ["Roskilde"])
        expectEqual(
            inside(
                try #require(
                    GeoPolygon(outerRing: ring, holes: [(55.6, 12.0), (55.65, 12.2), (55.65, 12.0), (55.6, 12.0)]))), []
        )
    }

    @Test func whatIsNoPlaceOrAreaIsNil() throws {
        expectTrue(GeoPoint(latitude: 90.1, longitude: 0) == nil && GeoPoint(latitude: 0, longitude: .nan) == nil)
        expectTrue(GeoPoint(latitude: 0, longitude: 0, altitude: -1) == nil)
        expectTrue(Distance.miles(-1) == nil && GeoCircle(center: (0, 0), radiusInRadians: -1) == nil)
        expectTrue(GeoPolygon(outerRing: [(0, 0), (1, 1), (0, 0)]) == nil)
        expectTrue(GeoPolygon(outerRing: [(0, 0), (1, 1), (2, 0), (3, 3)]) == nil)
        let distance = try #require(Distance.degrees(180))
        expectTrue(abs(distance.radians - .pi) < 1e-9 && abs(distance.asKilometers() - 20_037.4) < 1)
        expectTrue(abs(distance.asMiles() - 12_450.7) < 1 && distance.asDegrees() == 180)
    }
}
