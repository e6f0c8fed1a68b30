import Changesets
import RealmState
import Rules
import SyncModel
import TestSupport
import Testing

@testable import Views

/// Writes that would leave places which no geospatial query could read.
@Suite struct PlaceCheckTests {
    private static func point(_ coordinates: [Double], _ type: String = "Point") throws -> Value {
        .embedded(
            StoredObject([
                try PlaceRealm.column("type", of: "Point"): .string(ByteString(type)),
                try PlaceRealm.column("coordinates", of: "Point"): .list(
                    coordinates.map { .double(bits: $0.bitPattern) }),
            ]))
    }

    private func isSpoiled(
        _ value: Value, in field: ByteString = "location",
        setting: Set<ByteString> = ["location", "branches", "address", "hidden"]
    ) throws -> Bool {
        let check = PlaceCheck(try PlaceRealm.queryable(#"{"global": ["location", "branches", "address", "name"]}"#))
        return check.isSpoiled(
            StoredObject([try PlaceRealm.column(field): value]), of: "Shop", setting: setting, in: PlaceRealm.schema)
    }

    @Test(arguments: [
        ([-74.006, 40.7128], "Point", false), ([180, 90], "point", false), ([-180, -90, 12_000], "POINT", false),
        ([-180.1, 0], "Point", true), ([0, 90.1], "Point", true), ([2_129, 89], "Point", true), ([0], "Point", true),
        ([], "Point", true), ([.nan, 0], "Point", true), ([0, .infinity], "Point", true), ([0, 0], "", true),
        ([0, 0], "Polygon", true),
    ])
    func aPlaceIsAPointOnEarth(coordinates: [Double], type: String, isSpoiled: Bool) throws {
        try expectEqual(self.isSpoiled(Self.point(coordinates, type)), isSpoiled)
    }

    @Test func placesInListsAndInOtherObjectsCount() throws {
        let (good, bad) = (try Self.point([1, 2]), try Self.point([1, 200]))
        try expectTrue(!isSpoiled(.list([good, good]), in: "branches"))
        try expectTrue(isSpoiled(.list([good, bad]), in: "branches"))
        let at = try PlaceRealm.column("at", of: "Address")
        try expectTrue(!isSpoiled(.embedded(StoredObject([at: good])), in: "address"))
        try expectTrue(isSpoiled(.embedded(StoredObject([at: bad])), in: "address"))
        try expectTrue(!isSpoiled(.embedded(StoredObject()), in: "address"))
    }

    @Test func placesNotQueriedOrNotSetAreLeftAlone() throws {
        let bad = try Self.point([1, 200])
        try expectTrue(!isSpoiled(bad, in: "hidden"))
        try expectTrue(!isSpoiled(bad, setting: ["name"]))
        try expectTrue(!isSpoiled(.null))
        let check = PlaceCheck(try PlaceRealm.queryable(#"{"global": ["location"]}"#))
        expectTrue(!check.isSpoiled(nil, of: "Shop", setting: ["location"], in: PlaceRealm.schema))
        expectTrue(!check.isSpoiled(StoredObject(), of: "None", setting: ["location"], in: PlaceRealm.schema))
    }

    /// What is kept of the refusal a release before reads as one by permission.
    @Test func theRefusalIsKept() throws {
        let write = RefusedWrite(className: "Shop", key: .int(4), reason: .place)
        expectEqual(write.text, "write to 4 in table \"Shop\" will corrupt geojson data")
        let permission = RefusedWrite(className: "Shop", key: .int(5), reason: .permission)
        let refused = [permission, write, RefusedWrite(className: "Shop", key: .int(6), reason: .place), permission]
        var views = ClientViews()
        views.add(
            CompensatingWrite(
                version: 7, clientVersion: 3, timestamp: 1, refused: refused,
                objects: refused.map { ObjectAddress($0.className, $0.key) }))
        try expectEqual(ClientViews(decoding: views.encoded()).compensations.map(\.refused), [refused])
    }
}
