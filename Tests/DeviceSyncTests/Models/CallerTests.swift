import Foundation
import TestSupport
import Testing

@testable import DeviceSync

/// Mistakes are reported for the line of the program that made them, as far as the SDK is told of it.
@Suite(.hangGuard, .serialized)
struct CallerTests {
    enum Mistake: String, CaseIterable, Codable, Sendable {
        case add, create, delete, objects, filter, typedQuery, nestedWrite, propertyInAWrite

        /// Where the mistake is made, and what the rule is.
        var expected: (line: UInt, message: String) {
            switch self {
            case .add: (Self.first, "objects can be added in a write transaction only")
            case .create: (Self.first + 1, "objects can be added in a write transaction only")
            case .delete: (Self.first + 2, "only an object of this realm can be deleted from it")
            case .objects: (Self.first + 3, "class NotHere is not in the realm's schema")
            case .filter: (Self.first + 4, "class City")
            case .typedQuery: (Self.first + 5, "lists and dictionaries as wholes are compared by == and != only")
            case .nestedWrite: (Self.first + 6, "write")
            case .propertyInAWrite: (Self.first + 7, "the primary key '_id' cannot be changed")
            }
        }

        func make() throws {
            let realm = try Folder().models()
            let city = City(value: ["_id": "a"])
            try realm.write { realm.add(city) }
            switch self {
            case .add: realm.add(City())
            case .create: realm.create(City.self, value: ["_id": "b"])
            case .delete: try realm.write { realm.delete(City()) }
            case .objects: _ = realm.objects(NotHere.self)
            case .filter: _ = realm.objects(City.self).filter("mayor == 1")
            case .typedQuery: _ = realm.objects(Note.self).where { $0.content < [1] }
            case .nestedWrite: try realm.write { try realm.write {} }
            case .propertyInAWrite: try realm.write { city._id = "c" }
            }
        }

        private static let first: UInt = #line - 11
    }

    final class NotHere: TestObject {
        @Persisted var name: String
    }

    @Test(arguments: Mistake.allCases)
    func aMistakeNamesItsLineFirst(mistake: Mistake) async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            [mistake = mistake as Mistake] in
            try mistake.make()
            exit(0)
        }
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        let (line, message) = mistake.expected
        let place = "DeviceSyncTests/CallerTests.swift:\(line): Fatal error: "
        guard let found = text.range(of: place) else {
            Issue.record("expected \"\(place)\", came \"\(text.prefix(600))\"")
            return
        }
        expectTrue(text[found.upperBound...].contains(message), "\(text.prefix(600))")
    }

    @Test func aCallerIsKnownWhileItsCallLasts() {
        expectTrue(Caller.current == nil)
        Caller.at("outer", 1) {
            expectEqual(Caller.current?.line, 1)
            Caller.at("inner", 2) { expectEqual(Caller.current?.line, 2) }
            expectEqual(Caller.current?.line, 1)
        }
        #expect(throws: CancellationError.self) { try Caller.at("outer", 3) { throw CancellationError() } }
        expectTrue(Caller.current == nil)
    }
}
